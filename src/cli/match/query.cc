// hoist match query: what the patterns of an index have in common with states.
#include <fmt/core.h>

#include <cstdio>

#include "cli/match/commands.h"
#include "cli/match/line_reader.h"
#include "cli/match/pattern_line.h"
#include "cli/report.h"
#include "match/index/index.h"
#include "match/json/json_text.h"
#include "match/json/record_json.h"

namespace hoist::cli {
namespace {

constexpr size_t kBatch = 256;

// What one state found: records, or scores of a scorer that has none.
struct Answer {
  std::vector<std::string> json;  // one object each
  std::vector<std::string> text;
};

class Query {
 public:
  Query(const MatchQueryOptions& options, const match::Index& index, match::Scorer scorer,
        const match::RecordOptions& predict)
      : options_(options), index_(index), scorer_(scorer), predict_(predict) {}

  Status run() { return options_.states.empty() ? one_state() : many_states(); }

 private:
  Result<std::vector<Answer>> answer(std::span<match::PatternText> states) const {
    if (scorer_ == match::Scorer::kato) return predict(states);
    const match::IndexSearchOptions search{
        .scorer = scorer_, .threshold = options_.threshold, .top = options_.top};
    const auto results = index_.search(states, search);
    if (!results) return tl::unexpected(results.error());
    std::vector<Answer> answers;
    for (const match::IndexSearchResult& result : *results) {
      Answer& answer = answers.emplace_back();
      for (const match::IndexHit& hit : result.hits) {
        const std::string name = result.name(hit);
        answer.json.push_back(fmt::format("{{\"name\": {}, \"score\": {}, \"normalized\": {}}}",
                                          match::json_string(name), match::json_number(hit.score),
                                          match::json_number(hit.normalized)));
        answer.text.push_back(fmt::format("{:.4f}  {}", hit.normalized, name));
      }
    }
    return answers;
  }

  Result<std::vector<Answer>> predict(std::span<match::PatternText> states) const {
    std::vector<Answer> answers;
    for (match::PatternText& state : states) {
      const auto prediction = index_.predict(state, predict_);
      if (!prediction) return tl::unexpected(prediction.error());
      Answer& answer = answers.emplace_back();
      for (const match::Record& record : prediction->records) {
        answer.json.push_back(match::record_json(record, state, index_));
        answer.text.push_back(fmt::format("{:.4f}  {}  {}", record.similarity, record.name,
                                          match::record_summary(record, index_)));
      }
    }
    return answers;
  }

  Status one_state() {
    PatternParser parser;
    const auto state = parser.parse_state(options_.state);
    if (!state) return named(state.error(), "--state");
    const auto answers = answer(std::span(*state, 1));
    if (!answers) return named(answers.error(), "--state");
    const Answer& only = answers->front();
    if (options_.json) {
      fmt::print("{}\n", array(only.json, "\n"));
    } else {
      for (const std::string& line : options_.jsonl ? only.json : only.text)
        fmt::print("{}\n", line);
    }
    return {};
  }

  // What an error leaves is one JSON text all the same.
  Status many_states() {
    const Status done = each_batch();
    if (options_.json && (done || any_)) fmt::print("{}]\n", any_ ? "" : "[");
    return done;
  }

  // In batches, so that memory stays bounded and one pass serves a batch.
  Status each_batch() {
    auto reader = LineReader::open(options_.states);
    if (!reader) return tl::unexpected(reader.error());
    for (bool more = true; more;) {
      std::vector<std::string> lines;
      std::vector<std::string> places;
      while (lines.size() < kBatch && more) {
        const auto line = reader->next();
        if (!line) return tl::unexpected(line.error());
        more = line->has_value();
        if (!more || (**line).find_first_not_of(" \t\r") == std::string_view::npos) continue;
        lines.emplace_back(**line);
        places.push_back(reader->place());
      }
      if (Status printed = print_batch(lines, places); !printed) return printed;
    }
    return {};
  }

  Status print_batch(const std::vector<std::string>& lines,
                     const std::vector<std::string>& places) {
    std::vector<std::unique_ptr<PatternParser>> parsers;
    std::vector<match::PatternText> states;
    for (size_t i = 0; i < lines.size(); ++i) {
      parsers.push_back(std::make_unique<PatternParser>());
      const auto state = parsers.back()->parse_state(lines[i]);
      if (!state) return named(state.error(), places[i]);
      if (Status ready = match::normalise(**state, false); !ready) {
        return named(ready.error(), places[i]);
      }
      states.push_back(**state);
    }
    const auto answers = answer(states);
    if (!answers) return tl::unexpected(answers.error());
    for (const Answer& answer : *answers) {
      if (options_.json) {
        fmt::print("{}{}", std::exchange(any_, true) ? ",\n" : "[", array(answer.json, ""));
      } else if (options_.jsonl) {
        fmt::print("{}\n", array(answer.json, ""));
      } else {
        if (std::exchange(any_, true)) fmt::print("\n");
        for (const std::string& line : answer.text) fmt::print("{}\n", line);
      }
    }
    return {};
  }

  static std::string array(const std::vector<std::string>& objects, std::string_view space) {
    std::string out = "[";
    for (const std::string& object : objects) {
      if (out.size() > 1) out += fmt::format(",{}", space.empty() ? " " : space);
      out += object;
    }
    return out += "]";
  }

  static tl::unexpected<Error> named(Error error, std::string_view place) {
    error.message = fmt::format("{} ({})", error.message, place);
    return tl::unexpected(std::move(error));
  }

  const MatchQueryOptions& options_;
  const match::Index& index_;
  match::Scorer scorer_;
  match::RecordOptions predict_;
  bool any_ = false;
};

Status query(const MatchQueryOptions& options) {
  const auto limit = memory_limit(options.max_memory);
  if (!limit) return tl::unexpected(limit.error());
  const auto scorer = match::scorer_named(options.scorer);
  if (!scorer) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("no scorer {} (--scorer): kato, lcs, indel, levenshtein, difflib or "
                            "difflib-autojunk",
                            options.scorer));
  }
  if (scorer != match::Scorer::kato && (options.rank || options.fuzzy)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} is for records, which --scorer kato finds (--scorer {}): leave it "
                            "out",
                            options.rank ? "--rank" : "--fuzzy", options.scorer));
  }
  const auto rank = match::rank_key_named(options.rank.value_or("potential"));
  if (!rank) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("no key {} to rank by (--rank): potential, similarity, evidence, or "
                            "another number of a record",
                            *options.rank));
  }
  if (options.state.empty() == options.states.empty()) {
    return fail(ErrorCode::invalid_argument, "one of --state and --states (on the command line)");
  }
  const auto index = match::Index::open(
      options.index, {.read_only = true, .max_memory = *limit, .device = options.device});
  if (!index) return tl::unexpected(index.error());
  if (options.keep_order && (*index)->stats().settings.sort) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the index sorts the symbols inside events ({}): build it with "
                            "--no-sort, or query without",
                            options.index));
  }
  match::RecordOptions predict;
  predict.threshold = options.threshold;
  predict.max_predictions = options.top == 0 ? SIZE_MAX : options.top;
  predict.rank = *rank;
  predict.fuzzy = options.fuzzy.value_or(0);
  return Query(options, **index, *scorer, predict).run();
}

}  // namespace

int match_query(const MatchQueryOptions& options) {
  const Status done = query(options);
  return done ? kDone : report(done.error());
}

}  // namespace hoist::cli
