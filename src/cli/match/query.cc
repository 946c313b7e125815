// hoist match query: what the patterns of an index have in common with states.
#include <fmt/core.h>

#include <cstdio>

#include "cli/match/commands.h"
#include "cli/match/line_reader.h"
#include "cli/report.h"
#include "match/index/index.h"
#include "match/json/answer.h"
#include "match/json/pattern_line.h"

namespace hoist::cli {
namespace {

constexpr size_t kBatch = 256;

class Query {
 public:
  Query(const MatchQueryOptions& options, const match::Index& index,
        const match::Question& question)
      : options_(options), index_(index), question_(question) {}

  Status run() { return options_.states.empty() ? one_state() : many_states(); }

 private:
  Status one_state() {
    match::PatternParser parser;
    const auto state = parser.parse_state(options_.state);
    if (!state) return malformed(state.error(), "--state");
    const auto answers = match::answer(index_, std::span(*state, 1), question_);
    if (!answers) return named(answers.error(), "--state");
    const match::Answer& only = answers->front();
    if (options_.json) {
      fmt::print("{}\n", match::json_array(only.json, "\n"));
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
    if (!reader) return reader.error();
    for (bool more = true; more;) {
      std::vector<std::string> lines;
      std::vector<std::string> places;
      while (lines.size() < kBatch && more) {
        const auto line = reader->next();
        if (!line) return line.error();
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
    std::vector<std::unique_ptr<match::PatternParser>> parsers;
    std::vector<match::PatternText> states;
    for (size_t i = 0; i < lines.size(); ++i) {
      parsers.push_back(std::make_unique<match::PatternParser>());
      const auto state = parsers.back()->parse_state(lines[i]);
      if (!state) return malformed(state.error(), places[i]);
      if (Status ready = match::normalise(**state, false); !ready) {
        return named(ready.error(), places[i]);
      }
      states.push_back(**state);
    }
    const auto answers = match::answer(index_, states, question_);
    if (!answers) return answers.error();
    for (const match::Answer& answer : *answers) {
      if (options_.json) {
        fmt::print("{}{}", std::exchange(any_, true) ? ",\n" : "[",
                   match::json_array(answer.json, " "));
      } else if (options_.jsonl) {
        fmt::print("{}\n", match::json_array(answer.json, " "));
      } else {
        if (std::exchange(any_, true)) fmt::print("\n");
        for (const std::string& line : answer.text) fmt::print("{}\n", line);
      }
    }
    return {};
  }

  static Error malformed(const Error& error, std::string_view place) {
    Error told = named(error, place);
    told.message += R"(: a state is a list of events, as in [["a"], ["b"]])";
    return told;
  }

  static Error named(Error error, std::string_view place) {
    error.message = fmt::format("{} ({})", error.message, place);
    return error;
  }

  const MatchQueryOptions& options_;
  const match::Index& index_;
  const match::Question question_;
  bool any_ = false;
};

Status query(const MatchQueryOptions& options) {
  const auto limit = memory_limit(options.max_memory);
  if (!limit) return limit.error();
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
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} (hoist match query): give either --state or --states",
                            options.state.empty() ? "no state to search for" : "states twice"));
  }
  const auto index = match::Index::open(
      options.index, {.read_only = true, .max_memory = *limit, .device = options.device});
  if (!index) return index.error();
  if (options.keep_order && (*index)->stats().settings.sort) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the index sorts the symbols inside events ({}): build it with "
                            "--no-sort, or query without",
                            options.index));
  }
  match::Question question;
  question.search = {.scorer = *scorer, .threshold = options.threshold, .top = options.top};
  question.show = options.show;
  question.predict.threshold = options.threshold;
  question.predict.max_predictions = options.top == 0 ? SIZE_MAX : options.top;
  question.predict.rank = *rank;
  question.predict.fuzzy = options.fuzzy.value_or(0);
  return Query(options, **index, question).run();
}

}  // namespace

int match_query(const MatchQueryOptions& options) {
  const Status done = query(options);
  return done ? kDone : report(done.error());
}

}  // namespace hoist::cli
