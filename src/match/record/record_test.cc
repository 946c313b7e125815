#include "match/record/record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

#include "base/test_seed.h"
#include "match/oracle/oracle.h"
#include "match/record/alignment.h"
#include "match/record/record_test_knowledge.h"
#include "match/score/edit_distance.h"
#include "match/score/scorer.h"

namespace hoist::match {
namespace {

using oracle::Event;
using oracle::Events;

// A state's events flattened, with ids.
struct State {
  State(const Events& events, KnowledgeSource& source) {
    for (const Event& event : events) {
      event_sizes.push_back(static_cast<uint16_t>(event.size()));
      for (const std::string& symbol : event) words.push_back(symbol);
    }
    for (const std::string& word : words) {
      symbols.push_back(source.id(word));
      texts.push_back(word);
    }
  }
  StateView view() const { return {symbols, event_sizes, texts}; }

  std::vector<std::string> words;
  std::vector<uint32_t> symbols;
  std::vector<uint16_t> event_sizes;
  std::vector<std::string_view> texts;
};

std::vector<Candidate> candidates_of(const KnowledgeSource& source, const State& state,
                                     const RecordOptions& options) {
  std::vector<Candidate> candidates;
  const MatchMasks masks(state.symbols);
  std::vector<uint32_t> scratch;
  for (uint64_t i = 0; i < source.size(); ++i) {
    const auto pattern = source.pattern(i, scratch);
    const auto lcs = static_cast<uint32_t>(lcs_length(masks, pattern.symbols));
    const bool wanted =
        state.symbols.size() == 1
            ? pattern.symbols.front() == state.symbols.front()
            : options.characters || reaches(Scorer::kato, lcs, pattern.symbols.size(),
                                            state.symbols.size(), options.threshold);
    if (wanted) candidates.push_back({i, lcs});
  }
  return candidates;
}

Event texts_between(const KnowledgeSource& source, const Record& record, uint32_t begin,
                    uint32_t end) {
  Event event;
  for (uint32_t i = begin; i < end; ++i) event.emplace_back(source.text(record.symbols[i]));
  return event;
}

Events events_between(const KnowledgeSource& source, const Record& record, uint32_t begin,
                      uint32_t end) {
  if (record.is_flat) return {texts_between(source, record, begin, end)};
  Events events;
  uint32_t at = 0;
  for (const uint16_t size : record.event_sizes) {
    if (at >= begin && at < end) events.push_back(texts_between(source, record, at, at + size));
    at += size;
  }
  return events;
}

std::map<std::string, double> fields_of(const Record& r) {
  std::map<std::string, double> fields = {{"frequency", static_cast<double>(r.frequency)},
                                          {"similarity", r.similarity},
                                          {"evidence", r.evidence},
                                          {"confidence", r.confidence},
                                          {"snr", r.snr},
                                          {"fragmentation", r.fragmentation},
                                          {"potential", r.potential}};
  if (!r.is_flat) {
    fields.merge(
        std::map<std::string, double>{{"entropy", r.entropy},
                                      {"normalized_entropy", r.normalized_entropy},
                                      {"global_normalized_entropy", r.global_normalized_entropy},
                                      {"itfdf_similarity", r.itfdf_similarity},
                                      {"tfidf_score", r.tfidf_score},
                                      {"confluence", r.confluence},
                                      {"predictive_information", r.predictive_information},
                                      {"pattern_probability", r.pattern_probability},
                                      {"weighted_strength", r.weighted_strength},
                                      {"bayesian_posterior", r.bayesian_posterior},
                                      {"bayesian_prior", r.bayesian_prior},
                                      {"bayesian_likelihood", r.bayesian_likelihood}});
  }
  if (r.weighted) {
    fields["weighted_similarity"] = r.weighted->similarity;
    fields["weighted_evidence"] = r.weighted->evidence;
    fields["weighted_confidence"] = r.weighted->confidence;
    fields["weighted_snr"] = r.weighted->snr;
  }
  return fields;
}

void expect_same(const Record& record, const oracle::Prediction& expected,
                 const KnowledgeSource& source, const State& state) {
  const auto size = static_cast<uint32_t>(record.symbols.size());
  ASSERT_EQ(record.name, expected.name);
  ASSERT_EQ(events_between(source, record, 0, record.present_begin), expected.past);
  ASSERT_EQ(events_between(source, record, record.present_begin, record.present_end),
            expected.present);
  ASSERT_EQ(events_between(source, record, record.present_end, size), expected.future);
  Event matches;
  for (const uint32_t position : record.matches) matches.push_back(state.words[position]);
  ASSERT_EQ(matches, expected.matches);
  Events missing;
  for (const auto& positions : record.missing) {
    Event& event = missing.emplace_back();
    for (const uint32_t i : positions) event.emplace_back(source.text(record.symbols[i]));
  }
  ASSERT_EQ(missing, expected.missing);
  Events extras;
  for (const auto& positions : record.extras) {
    Event& event = extras.emplace_back();
    for (const uint32_t i : positions) event.push_back(state.words[i]);
  }
  ASSERT_EQ(extras, expected.extras);
  std::vector<oracle::Anomaly> anomalies;
  for (const Anomaly& a : record.anomalies) {
    anomalies.push_back({state.words[a.observed],
                         std::string(source.text(record.symbols[a.expected])), a.similarity});
  }
  ASSERT_EQ(anomalies, expected.anomalies);
  std::vector<std::pair<std::string, double>> emotives;
  for (const Emotive& e : record.emotives) emotives.emplace_back(e.key, e.value);
  ASSERT_EQ(emotives, expected.emotives);
  auto fields = expected.fields;
  fields.erase("own_potential");
  for (const auto& [field, value] : fields_of(record)) {
    ASSERT_EQ(value, fields[field]) << field << " of " << record.name;
  }
  ASSERT_EQ(fields_of(record).size(), fields.size());
}

void expect_same(const oracle::Knowledge& knowledge, const Events& events,
                 const RecordOptions& options, bool summarizes) {
  KnowledgeSource source(knowledge);
  if (summarizes) source.summarize_blocks();
  const State state(events, source);
  oracle::Rules rules;
  rules.threshold = options.threshold;
  rules.max_predictions = options.max_predictions;
  rules.rank = name(options.rank);
  rules.fuzzy = options.fuzzy;
  rules.characters = options.characters;
  rules.weighted = !options.affinity_emotive.empty();
  rules.whole_pattern_entropy = options.whole_pattern_entropy;
  const auto prediction =
      predict(state.view(), candidates_of(source, state, options), source, options);
  ASSERT_TRUE(prediction) << prediction.error().message;
  const auto expected = oracle::predict(knowledge, events, rules);
  ASSERT_EQ(prediction->records.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NO_FATAL_FAILURE(expect_same(prediction->records[i], expected[i], source, state));
  }
  const auto futures = oracle::futures(knowledge, events, rules);
  ASSERT_EQ(prediction->futures.size(), futures.size());
  for (size_t i = 0; i < futures.size(); ++i) {
    const FuturePotential& future = prediction->futures[i];
    ASSERT_EQ(future.aggregate_potential, futures[i].potential);
    ASSERT_EQ(future.supporting_patterns, futures[i].patterns);
    ASSERT_EQ(future.total_weighted_frequency, futures[i].frequency);
    ASSERT_EQ(future.event_sizes.size(), futures[i].events.size());
  }
}

void expect_same(const oracle::Knowledge& knowledge, const Events& events,
                 const RecordOptions& options) {
  for (const bool summarizes : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(expect_same(knowledge, events, options, summarizes)) << summarizes;
  }
}

RecordOptions random_options(std::mt19937_64& random) {
  RecordOptions options;
  const double thresholds[] = {0.0, 0.1, 0.25, 1.0 / 3, 0.5, 2.0 / 3, 0.9};
  options.threshold = thresholds[random() % std::size(thresholds)];
  options.max_predictions = random() % 3 == 0 ? 1 + random() % 6 : 100;
  options.rank = static_cast<RankKey>(random() % kRankKeys);
  const double fuzzy[] = {0, 0, 0.5, 2.0 / 3, 0.8, 1.0};
  options.fuzzy = fuzzy[random() % std::size(fuzzy)];
  options.characters = random() % 4 == 0;
  if (random() % 3 == 0) options.affinity_emotive = "joy";
  options.whole_pattern_entropy = random() % 3 == 0;
  return options;
}

TEST(Predict, EqualsTheOracle) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 400; ++i) {
    const uint32_t vocabulary = 2 + static_cast<uint32_t>(random() % (i % 2 == 0 ? 12 : 60));
    const auto knowledge = random_knowledge(random, 1 + random() % 40, 6, vocabulary);
    Events state = random_events(random, 5, vocabulary + 3);
    if (random() % 4 == 0) state = knowledge.patterns.front().events;
    if (random() % 6 == 0) state = {{state.front().front()}};
    const RecordOptions options = random_options(random);
    ASSERT_NO_FATAL_FAILURE(expect_same(knowledge, state, options)) << "case " << i;
  }
}

// Which are pruned is decided task by task, thousands of candidates each. The best are in one task,
// so each of its own best counts.
TEST(Predict, PrunesManyAsTheOracleDoes) {
  std::mt19937_64 random(test_seed());
  auto knowledge = random_knowledge(random, 20000, 3, 15);
  const Events events = random_events(random, 4, 15);
  RecordOptions options;
  options.threshold = 0.2;
  options.max_predictions = 300;
  {
    KnowledgeSource source(knowledge);
    const State state(events, source);
    const auto best =
        predict(state.view(), candidates_of(source, state, options), source, options).value();
    ASSERT_EQ(best.records.size(), 300u);
    std::set<std::string> names;
    for (const Record& record : best.records) names.insert(record.name);
    std::stable_partition(knowledge.patterns.begin(), knowledge.patterns.end(),
                          [&](const auto& pattern) { return names.contains(pattern.name); });
  }
  for (const size_t most : {1, 7, 40}) {
    options.max_predictions = most;
    ASSERT_NO_FATAL_FAILURE(expect_same(knowledge, events, options, most == 1)) << most;
  }
}

// Three times as many are looked at, which is more than a number holds.
TEST(Predict, MoreWantedThanThereAre) {
  std::mt19937_64 random(test_seed());
  const auto knowledge = random_knowledge(random, 60, 3, 15);
  KnowledgeSource source(knowledge);
  size_t tried = 0;  // states with more results than overflow would leave
  for (int turn = 0; turn < 1000 && tried < 10; ++turn) {
    const State state(random_events(random, 4, 15), source);
    RecordOptions options;
    options.threshold = 0.1;
    options.max_predictions = 1'000;
    const auto candidates = candidates_of(source, state, options);
    const size_t all = predict(state.view(), candidates, source, options).value().records.size();
    tried += all > 5 ? 1 : 0;
    for (const size_t most : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 3 + 1}) {
      options.max_predictions = most;
      EXPECT_EQ(predict(state.view(), candidates, source, options).value().records.size(), all);
    }
  }
  EXPECT_GT(tried, 0u);
}

// The reference moves an event by the value of the first match, not by its place.
TEST(Predict, FollowsTheQuirkOfTheLastPastEvent) {
  oracle::Knowledge knowledge;
  knowledge.patterns.push_back({"p", {{"u"}, {"v"}, {"v"}, {"w"}}, 1, {}});
  knowledge.total_pattern_frequencies = 1;
  KnowledgeSource source(knowledge);
  const State state({{"v"}, {"w"}}, source);
  const RecordOptions options;
  const auto prediction =
      predict(state.view(), candidates_of(source, state, options), source, options);
  ASSERT_TRUE(prediction);
  EXPECT_EQ(prediction->records[0].present_begin, 1u);
  EXPECT_EQ(prediction->records[0].confidence, 2.0 / 3);
  expect_same(knowledge, {{"v"}, {"w"}}, options);
}

// A true LCS and Ratcliff–Obershelp in one record.
TEST(Predict, TakesSimilarityAndBlocksFromTwoAlgorithms) {
  oracle::Knowledge knowledge;
  knowledge.patterns.push_back({"p", {{"p"}, {"p"}, {"p"}, {"q"}, {"r"}}, 1, {}});
  knowledge.total_pattern_frequencies = 1;
  KnowledgeSource source(knowledge);
  const State state({{"p"}, {"q"}, {"p"}, {"p"}}, source);
  const RecordOptions options;
  const auto prediction =
      predict(state.view(), candidates_of(source, state, options), source, options);
  ASSERT_TRUE(prediction);
  EXPECT_EQ(prediction->records[0].similarity, 2.0 * 3 / 9 * 100 / 100);
  EXPECT_EQ(prediction->records[0].matches.size(), 2u);
}

// Only misspellings: the threshold still counts equal symbols.
TEST(Predict, FuzzySymbolsDoNotReachTheThreshold) {
  oracle::Knowledge knowledge;
  knowledge.patterns.push_back({"p", {{"hello"}, {"world"}}, 1, {}});
  knowledge.total_pattern_frequencies = 1;
  RecordOptions options;
  options.fuzzy = 0.8;
  expect_same(knowledge, {{"helo"}, {"wrld"}}, options);
  expect_same(knowledge, {{"hello"}, {"wrld"}}, options);
  KnowledgeSource source(knowledge);
  const State state({{"hello"}, {"wrld"}}, source);
  const auto prediction =
      predict(state.view(), candidates_of(source, state, options), source, options);
  ASSERT_TRUE(prediction);
  ASSERT_EQ(prediction->records[0].anomalies.size(), 1u);
  EXPECT_EQ(prediction->records[0].extras[1].size(), 1u);
}

TEST(Predict, PrunesByTheReferencesKey) {
  std::mt19937_64 random(test_seed());
  const auto knowledge = random_knowledge(random, 300, 5, 20);
  for (int key = 0; key < static_cast<int>(kRankKeys); ++key) {
    RecordOptions options;
    options.max_predictions = 10;
    options.rank = static_cast<RankKey>(key);
    EXPECT_EQ(rank_key_named(name(options.rank)), options.rank);
    expect_same(knowledge, random_events(random, 4, 20), options);
  }
  EXPECT_FALSE(rank_key_named("entropy "));
}

TEST(Predict, RanksBySummariesAsByBlocks) {
  std::mt19937_64 random(test_seed());
  size_t compared = 0;
  for (int i = 0; i < 300; ++i) {
    const uint32_t vocabulary = 2 + static_cast<uint32_t>(random() % 12);
    const auto knowledge = random_knowledge(random, 60, 8, vocabulary);
    KnowledgeSource source(knowledge);
    const State state(random_events(random, 6, vocabulary + 3), source);
    RecordOptions options;
    options.threshold = i % 2 == 0 ? 0 : 0.1;
    const StateView view = state.view();
    const Aligner aligner(view, source, options);
    const BlockMatcher matcher(view.symbols);
    Aligner::Scratch scratch;
    Alignment alignment;
    for (uint64_t id = 0; id < source.size(); ++id) {
      std::vector<uint32_t> symbols;
      std::vector<Block> blocks;
      const RecordSource::Pattern pattern = source.pattern(id, symbols);
      matcher.find(pattern.symbols, blocks, scratch.matcher);
      const auto potential =
          aligner.own_potential(source.shape(id), summarize(pattern.symbols, blocks));
      const bool is_kept = aligner.align(pattern, alignment, scratch);
      ASSERT_EQ(potential.has_value(), is_kept);
      if (!is_kept) continue;
      ASSERT_EQ(*potential, alignment.own_potential()) << knowledge.patterns[id].name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000u);
}

TEST(Predict, RefusesWhatDoesNotFit) {
  oracle::Knowledge knowledge;
  const KnowledgeSource source(knowledge);
  const std::vector<uint32_t> symbols = {1, 2};
  const std::vector<uint16_t> one_event = {2};
  const std::vector<uint16_t> short_event = {1};
  RecordOptions options;
  EXPECT_TRUE(predict({symbols, one_event, {}}, {}, source, options));
  EXPECT_TRUE(predict({}, {}, source, options));
  EXPECT_EQ(predict({symbols, short_event, {}}, {}, source, options).error().code,
            ErrorCode::invalid_argument);
  options.fuzzy = 0.5;
  EXPECT_EQ(predict({symbols, one_event, {}}, {}, source, options).error().code,
            ErrorCode::invalid_argument);
  options.fuzzy = 0;
  std::stop_source stopped;
  stopped.request_stop();
  options.stop = stopped.get_token();
  EXPECT_EQ(predict({symbols, one_event, {}}, {}, source, options).error().code,
            ErrorCode::cancelled);
}

}  // namespace
}  // namespace hoist::match
