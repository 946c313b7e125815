// hoist match dedup: all pairs of one file that are alike, in one pass over it for each batch.
#include <fmt/core.h>

#include <algorithm>

#include "cli/match/commands.h"
#include "cli/match/input.h"
#include "cli/match/progress.h"
#include "cli/report.h"
#include "match/index/index.h"
#include "match/json/json_text.h"

namespace hoist::cli {
namespace {

constexpr size_t kBatch = 256;

// A line as a pattern whose name is its number: names order like lines, and equal lines stay two.
struct Line {
  std::vector<std::vector<std::string>> events;
  uint64_t number;
};

std::string name_of(uint64_t number) { return fmt::format("{:020}", number); }

Line copy_of(const match::PatternText& pattern, uint64_t number) {
  Line line{{}, number};
  uint32_t begin = 0;
  for (const uint32_t end : pattern.event_ends) {
    line.events.emplace_back(pattern.tokens.begin() + begin, pattern.tokens.begin() + end);
    begin = end;
  }
  return line;
}

class Pairs {
 public:
  Pairs(const match::Index& index, const match::IndexSearchOptions& search, bool jsonl)
      : index_(index), search_(search), jsonl_(jsonl) {}

  Status print(std::span<const Line> lines) {
    std::vector<match::PatternText> states;
    for (const Line& line : lines) states.push_back(match::pattern_of(line.events));
    const auto results = index_.search(states, search_);
    if (!results) return results.error();
    for (size_t i = 0; i < lines.size(); ++i) print_line(lines[i], (*results)[i]);
    return {};
  }

  uint64_t count() const { return count_; }

 private:
  // Each pair once: a line with those before it.
  void print_line(const Line& line, const match::IndexSearchResult& result) {
    const std::string own = name_of(line.number);
    for (const match::IndexHit& hit : result.hits) {
      const std::string other = result.name(hit);
      if (other >= own) continue;
      ++count_;
      const uint64_t earlier = std::stoull(other);
      if (jsonl_) {
        fmt::print("{{\"a\": {}, \"b\": {}, \"score\": {}, \"normalized\": {}}}\n", earlier,
                   line.number, match::json_number(hit.score), match::json_number(hit.normalized));
      } else {
        fmt::print("{}\t{}\t{:.4f}\n", earlier, line.number, hit.normalized);
      }
    }
  }

  const match::Index& index_;
  match::IndexSearchOptions search_;
  bool jsonl_;
  uint64_t count_ = 0;
};

Result<std::vector<Line>> read_lines(const MatchDedupOptions& options, match::Index& index) {
  auto reader = LineReader::open(options.file);
  if (!reader) return reader.error();
  std::vector<Line> lines;
  uint64_t skipped = 0;
  const auto read = read_patterns(
      *reader, options.format, [&](const match::PatternLine& line, uint64_t number) -> Status {
        match::PatternText pattern = line.pattern;
        if (pattern.tokens.size() < match::kMinPatternTokens) {
          ++skipped;
          return {};
        }
        const auto learned = index.learn(pattern, {.name = name_of(number)});
        if (!learned) return learned.error();
        lines.push_back(copy_of(pattern, number));
        return {};
      });
  if (!read) return read.error();
  if (skipped != 0) {
    warn(fmt::format("{} lines of fewer than {} symbols left out ({})", skipped,
                     match::kMinPatternTokens, options.file));
  }
  return lines;
}

Status dedup(const MatchDedupOptions& options) {
  const auto scorer = match::scorer_named(options.scorer);
  if (!scorer) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("no scorer {} (--scorer): see --help", options.scorer));
  }
  match::IndexOptions memory;
  memory.settings.sort = options.sort;
  auto index = match::Index::open("", memory);
  if (!index) return index.error();
  const auto lines = read_lines(options, **index);
  if (!lines) return lines.error();
  if (Status synced = (*index)->sync(); !synced) return synced;
  Pairs pairs(**index, {.scorer = *scorer, .threshold = options.threshold}, options.jsonl);
  PatternProgress progress;
  for (size_t begin = 0; begin < lines->size(); begin += kBatch) {
    const auto batch = std::span(*lines).subspan(begin, std::min(kBatch, lines->size() - begin));
    if (Status printed = pairs.print(batch); !printed) return printed;
    progress.update(begin, begin, lines->size());
  }
  return {};
}

}  // namespace

int match_dedup(const MatchDedupOptions& options) {
  const Status done = dedup(options);
  return done ? kDone : report(done.error());
}

}  // namespace hoist::cli
