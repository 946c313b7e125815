// hoist match build and learn: patterns of a file into an index.
#include <fmt/core.h>

#include <charconv>
#include <cstdio>

#include "base/bytes_text.h"
#include "cli/interrupts.h"
#include "cli/match/commands.h"
#include "cli/match/input.h"
#include "cli/match/new_folder.h"
#include "cli/match/progress.h"
#include "cli/report.h"
#include "match/index/index.h"

namespace hoist::cli {
namespace {

using match::Index;

// A line of text may be one word; a pattern of events has two symbols.
match::LearnOptions learn_options(const match::PatternLine& line, const std::string& format) {
  return {.name = line.name,
          .frequency = line.frequency,
          .emotives = line.emotives,
          .metadata = line.metadata,
          .single_symbols = format == "lines"};
}

Status stopped() { return fail(ErrorCode::cancelled, "stopped as asked"); }

Status build(const MatchBuildOptions& options) {
  const auto limit = memory_limit(options.max_memory);
  if (!limit) return limit.error();
  NewFolder folder(options.output, options.force);
  if (Status allowed = folder.check(options.input); !allowed) return allowed;
  auto reader = LineReader::open(options.input);
  if (!reader) return reader.error();
  match::IndexOptions made;
  made.create = true;
  made.search_only = !options.store;
  made.settings.sort = options.sort;
  made.max_memory = *limit;
  auto index = Index::open(folder.temporary(), made);
  if (!index) return index.error();
  if (Status begun = (*index)->begin_bulk(); !begun) return begun;
  uint64_t lines = 0;
  uint64_t blank = 0;
  {
    PatternProgress progress;
    const auto read = read_patterns(
        *reader, options.format, [&](const match::PatternLine& line, uint64_t) -> Status {
          if (is_interrupted()) return stopped();
          match::PatternText pattern = line.pattern;
          auto learned = (*index)->learn(pattern, learn_options(line, options.format));
          if (!learned) return learned.error();
          progress.update(++lines, reader->bytes(), reader->total());
          return {};
        });
    if (!read) return read.error();
    blank = *read;
  }
  if (is_interrupted()) return stopped();
  if (Status ended = (*index)->end_bulk(); !ended) return ended;
  if (is_interrupted()) return stopped();  // what was read may be a part
  const match::IndexStats stats = (*index)->stats();
  index->reset();
  if (Status published = folder.publish(); !published) return published;
  const std::string left_out = blank == 0 ? "" : fmt::format("; {} blank lines left out", blank);
  print_error(fmt::format("{}: {} patterns of {} lines, {} symbols, {} of memory{}\n",
                          options.output, stats.patterns, lines, stats.symbols,
                          bytes_text(stats.memory), left_out));
  return {};
}

Status learn(const MatchLearnOptions& options) {
  const auto limit = memory_limit(options.max_memory);
  if (!limit) return limit.error();
  match::IndexOptions opened;
  opened.max_memory = *limit;
  opened.durability =
      options.durability == "sync" ? match::Durability::sync : match::Durability::batch;
  auto index = Index::open(options.index, opened);
  if (!index) return index.error();
  auto reader = LineReader::open(options.input);
  if (!reader) return reader.error();
  const auto read = read_patterns(
      *reader, options.format, [&](const match::PatternLine& line, uint64_t) -> Status {
        match::PatternText pattern = line.pattern;
        const auto learned = (*index)->learn(pattern, learn_options(line, options.format));
        if (!learned) return learned.error();
        // Each name as soon as it is durable: it is what acknowledges.
        fmt::print("{}\n", learned->name);
        if (std::fflush(stdout) != 0) {
          return fail(ErrorCode::io, "cannot write (standard output): is it full?");
        }
        return {};
      });
  return read ? Status() : read.error();
}

int status_of(const Status& status) { return status ? kDone : report(status.error()); }

}  // namespace

Result<uint64_t> memory_limit(const std::string& text) {
  if (text.empty()) return UINT64_MAX;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  constexpr std::string_view kUnits = "KMGT";
  const size_t at = unit.size() == 1 ? kUnits.find(unit[0]) : std::string_view::npos;
  const size_t shift = unit.empty() ? 0 : 10 * (at + 1);
  if (error != std::errc() || number == 0 || (!unit.empty() && at == std::string_view::npos) ||
      number > UINT64_MAX >> shift) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("no amount of memory: {} (--max-memory): 800M, 2G", text));
  }
  return number << shift;
}

int match_build(const MatchBuildOptions& options) {
  catch_interrupts();
  const Status built = build(options);
  // One that came after the index had its name changes nothing any more.
  return !built && is_interrupted() ? end_if_interrupted(kFailed) : status_of(built);
}
int match_learn(const MatchLearnOptions& options) { return status_of(learn(options)); }

int match_delete(const std::string& path, const std::vector<std::string>& names) {
  auto index = Index::open(path, {});
  if (!index) return report(index.error());
  int status = kDone;
  for (const std::string& name : names) {
    const Status removed = (*index)->remove(name);
    if (!removed) status = report(removed.error());
  }
  return status;
}

int match_sync(const std::string& path) {
  auto index = Index::open(path, {.check_snapshot = true});
  if (!index) return report(index.error());
  return status_of((*index)->sync());
}

}  // namespace hoist::cli
