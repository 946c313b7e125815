// Predictions of an index beside the record oracle's: patterns, states and options over small
// alphabets, with some of the patterns in segments, some learned again and some removed.
//
// Input: four bytes of options, then steps of one byte and what follows it. A step learns a
// pattern, removes one or syncs; the last pattern is the state.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "match/index/index.h"
#include "match/oracle/record_oracle.h"

namespace {

using namespace hoist::match;
using oracle::Event;
using oracle::Events;

constexpr const char* kSymbols[] = {"a", "b", "ab", "abc", "é", "b a", "", "aab"};
constexpr size_t kMostPatterns = 24;
constexpr size_t kPersistence = 5;

[[noreturn]] void differ(const std::string& what) {
  std::fprintf(stderr, "match_predict_fuzz: %s differs\n", what.c_str());
  std::abort();
}

class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), left_(size) {}
  bool empty() const { return left_ == 0; }
  uint8_t next() { return left_ == 0 ? 0 : (--left_, *data_++); }

 private:
  const uint8_t* data_;
  size_t left_;
};

// One byte a symbol: three bits say which, the fourth ends its event, the highest the pattern.
Events read_events(Bytes& bytes) {
  Events events(1);
  for (int symbols = 0; symbols < 20 && !bytes.empty(); ++symbols) {
    const uint8_t byte = bytes.next();
    events.back().emplace_back(kSymbols[byte % std::size(kSymbols)]);
    if (byte & 0x80) break;
    if (byte & 8) events.emplace_back();
  }
  return events;
}

Events events_of(const PatternText& text) {
  Events events;
  size_t at = 0;
  for (const uint32_t end : text.event_ends) {
    Event& event = events.emplace_back();
    for (; at < end; ++at) event.emplace_back(text.tokens[at]);
  }
  return events;
}

struct Options {
  explicit Options(Bytes& bytes) {
    constexpr double kThresholds[] = {0.0, 0.1, 0.25, 1.0 / 3, 0.5, 2.0 / 3, 0.9, 1.0};
    constexpr double kFuzzy[] = {0, 0, 0.5, 2.0 / 3, 0.8, 1.0};
    record.threshold = kThresholds[bytes.next() % std::size(kThresholds)];
    record.rank = static_cast<RankKey>(bytes.next() % kRankKeys);
    record.fuzzy = kFuzzy[bytes.next() % std::size(kFuzzy)];
    const uint8_t rest = bytes.next();
    record.characters = (rest & 3) == 3;
    if (rest & 4) record.affinity_emotive = "joy";
    record.whole_pattern_entropy = (rest & 8) != 0;
    record.max_predictions = rest & 16 ? 1 + rest / 32 : 100;
    rules.threshold = record.threshold;
    rules.rank = name(record.rank);
    rules.fuzzy = record.fuzzy;
    rules.characters = record.characters;
    rules.weighted = !record.affinity_emotive.empty();
    rules.whole_pattern_entropy = record.whole_pattern_entropy;
    rules.max_predictions = record.max_predictions;
  }

  RecordOptions record;
  oracle::Rules rules;
};

// What the index was told.
class Model {
 public:
  void learn(const std::string& name, const Events& events, const Emotives& emotives) {
    oracle::KnownPattern& known = patterns_[name];
    known.name = name;
    known.events = events;
    ++known.frequency;
    if (!emotives.empty()) known.emotives.push_back(emotives);
    if (known.emotives.size() > kPersistence) known.emotives.erase(known.emotives.begin());
  }
  void remove(const std::string& name) { patterns_.erase(name); }
  size_t size() const { return patterns_.size(); }
  std::string name(size_t i) const {
    return std::next(patterns_.begin(), static_cast<ptrdiff_t>(i % size()))->first;
  }

  oracle::Knowledge knowledge() const {
    oracle::Knowledge all;
    for (const auto& [name, known] : patterns_) {
      all.patterns.push_back(known);
      double joy = 0;
      for (const auto& entry : known.emotives) {
        for (const auto& [key, value] : entry) joy += key == "joy" ? value : 0;
      }
      std::set<std::string> distinct;
      for (const Event& event : known.events) {
        for (const std::string& symbol : event) {
          all.occurrences[symbol] += known.frequency;
          distinct.insert(symbol);
        }
      }
      if (known.emotives.empty()) continue;
      for (const std::string& symbol : distinct) all.affinity[symbol] += joy;
    }
    all.total_pattern_frequencies = patterns_.size();
    return all;
  }

 private:
  std::map<std::string, oracle::KnownPattern> patterns_;
};

// A record in the oracle's terms.
class Described {
 public:
  Described(const Index& index, const Record& record, const Event& state)
      : index_(index), record_(record), state_(state) {}

  Events between(uint32_t begin, uint32_t end) const {
    Events events;
    if (record_.is_flat) events.emplace_back();
    uint32_t at = 0;
    for (const uint16_t size : record_.event_sizes) {
      const bool whole = at >= begin && at < end;
      if (!record_.is_flat && whole) events.emplace_back();
      for (uint32_t i = at; i < at + size; ++i) {
        if (record_.is_flat ? i >= begin && i < end : whole) events.back().push_back(text(i));
      }
      at += size;
    }
    return events;
  }
  Events past() const { return between(0, record_.present_begin); }
  Events present() const { return between(record_.present_begin, record_.present_end); }
  Events future() const {
    return between(record_.present_end, static_cast<uint32_t>(record_.symbols.size()));
  }
  Event matches() const {
    Event event;
    for (const uint32_t i : record_.matches) event.push_back(state_[i]);
    return event;
  }
  Events missing() const {
    Events events;
    for (const auto& places : record_.missing) {
      Event& event = events.emplace_back();
      for (const uint32_t i : places) event.push_back(text(i));
    }
    return events;
  }
  Events extras() const {
    Events events;
    for (const auto& places : record_.extras) {
      Event& event = events.emplace_back();
      for (const uint32_t i : places) event.push_back(state_[i]);
    }
    return events;
  }
  std::vector<oracle::Anomaly> anomalies() const {
    std::vector<oracle::Anomaly> all;
    for (const Anomaly& a : record_.anomalies) {
      all.push_back({state_[a.observed], text(a.expected), a.similarity});
    }
    return all;
  }
  std::vector<std::pair<std::string, double>> emotives() const {
    std::vector<std::pair<std::string, double>> all;
    for (const Emotive& e : record_.emotives) all.emplace_back(e.key, e.value);
    return all;
  }
  // Fields of one symbol's records that the oracle does not have are 0 here.
  double field(const std::string& name) const {
    if (name == "frequency") return static_cast<double>(record_.frequency);
    if (name == "entropy") return record_.entropy;
    if (name == "pattern_probability") return record_.pattern_probability;
    if (name == "weighted_strength") return record_.weighted_strength;
    if (name == "potential") return record_.potential;
    const auto key = rank_key_named(name);
    if (!key) differ("the name of field " + name);
    return rank_value(record_, *key);
  }

 private:
  std::string text(uint32_t i) const { return std::string(index_.symbol(record_.symbols[i])); }

  const Index& index_;
  const Record& record_;
  const Event& state_;
};

void compare(const Index& index, const Record& record, const oracle::Prediction& expected,
             const Event& state) {
  const Described found(index, record, state);
  if (record.name != expected.name) differ("a name");
  if (found.past() != expected.past) differ("past");
  if (found.present() != expected.present) differ("present");
  if (found.future() != expected.future) differ("future");
  if (found.matches() != expected.matches) differ("matches");
  if (found.missing() != expected.missing) differ("missing");
  if (found.extras() != expected.extras) differ("extras");
  if (found.anomalies() != expected.anomalies) differ("anomalies");
  if (found.emotives() != expected.emotives) differ("emotives");
  for (const auto& [name, value] : expected.fields) {
    if (name != "own_potential" && found.field(name) != value) differ(name);
  }
}

void compare(const Index& index, const Prediction& found, const oracle::Knowledge& knowledge,
             const Events& state, const oracle::Rules& rules) {
  Event flat;
  for (const Event& event : state) flat.insert(flat.end(), event.begin(), event.end());
  const auto expected = oracle::predict(knowledge, state, rules);
  if (found.records.size() != expected.size()) differ("the number of records");
  for (size_t i = 0; i < expected.size(); ++i) compare(index, found.records[i], expected[i], flat);
  const auto futures = oracle::futures(knowledge, state, rules);
  if (found.futures.size() != futures.size()) differ("the number of futures");
  for (size_t i = 0; i < futures.size(); ++i) {
    if (found.futures[i].aggregate_potential != futures[i].potential ||
        found.futures[i].supporting_patterns != futures[i].patterns ||
        found.futures[i].total_weighted_frequency != futures[i].frequency) {
      differ("a future");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes bytes(data, size);
  const Options options(bytes);
  auto index = Index::open("", {.recent_patterns = 0, .sync_patterns = 0});
  if (!index) differ("opening");
  Model model;
  Events last;
  while (!bytes.empty() && model.size() < kMostPatterns) {
    const uint8_t step = bytes.next();
    if (step % 16 == 0 && !(*index)->sync()) differ("a sync");
    if (step % 16 == 1 && model.size() > 1) {
      const std::string name = model.name(step / 16);
      if (!(*index)->remove(name)) differ("a removal");
      model.remove(name);
    }
    if (step % 16 < 2) continue;
    last = read_events(bytes);
    PatternText text = pattern_of(last);
    LearnOptions learned;
    learned.single_symbols = (step & 4) != 0;
    if (step & 0x10) learned.emotives.emplace_back("joy", step / 32 - 3);
    if (step & 0x20) learned.emotives.emplace_back("fear", step / 64);
    const auto done = (*index)->learn(text, learned);
    if (done) model.learn(done->name, events_of(text), learned.emotives);
  }
  PatternText state = pattern_of(last);
  const auto found = (*index)->predict(state, options.record);
  if (!found) differ("a prediction");
  const oracle::Knowledge knowledge = model.knowledge();
  // Symbols of removed patterns stay in the vocabulary, and the oracle does not know them.
  if ((*index)->stats().symbols != knowledge.occurrences.size()) return 0;
  if (!state.tokens.empty()) {
    compare(**index, *found, knowledge, events_of(state), options.rules);
  }
  return 0;
}
