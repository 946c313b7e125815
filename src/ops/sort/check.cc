#include "ops/sort/check.h"

#include <unistd.h>

#include <utility>

#include "base/crash_fallback.h"
#include "base/file.h"
#include "ops/sort/merge_order.h"
#include "ops/sort/messages.h"
#include "ops/sort/text_merge_tree.h"

namespace hoist::sort {
namespace {

std::string describe(std::string_view program, const std::string& name, const Disorder& disorder,
                     char terminator) {
  std::string text = translate("%s: %s:%s: disorder: ");
  const std::string number = std::to_string(disorder.line_number);
  size_t from = 0;
  for (const std::string_view argument :
       {program, std::string_view(name), std::string_view(number)}) {
    const size_t place = text.find("%s", from);
    if (place == std::string::npos) break;
    text.replace(place, 2, argument);
    from = place + argument.size();
  }
  return text + disorder.text + terminator;
}

}  // namespace

namespace {

// Counts lines up to the first that `misplaced` says may not follow the one before it.
template <typename Misplaced>
std::optional<Disorder> find_misplaced(LineReader& reader, const Misplaced& misplaced) {
  uint64_t number = 1;
  Line previous;
  if (!reader.next(previous)) return std::nullopt;
  for (Line line; reader.next(line); previous = line) {
    ++number;
    if (misplaced(previous, line)) return Disorder{number, std::string(line.text, line.length)};
  }
  return std::nullopt;
}

std::optional<Disorder> find_misplaced_text(LineReader& reader, const Options& options) {
  const int direction = options.reverse ? -1 : 1;
  return find_misplaced(reader, [&](Line previous, Line line) {
    const size_t common = common_prefix(previous, line);
    if (common == previous.length && common == line.length) return options.unique;
    return compare_after(common, previous, line) == direction;
  });
}

}  // namespace

std::optional<Disorder> find_disorder(LineReader& reader, const Coder& coder) {
  const Options& options = coder.comparator().options();
  if (orders_by_bytes(coder)) return find_misplaced_text(reader, options);
  const MergeOrder order(coder, !coder.guessed());
  uint64_t previous_code = UINT64_MAX;  // at first unknown: compare
  return find_misplaced(reader, [&](Line previous, Line line) {
    const uint64_t code = order.code(line);
    if (code > std::exchange(previous_code, code)) return false;
    const int step = coder.comparator().compare(previous, line);
    return options.unique ? step >= 0 : step > 0;
  });
}

Result<bool> check_file(std::string_view program, const Coder& coder) {
  const Options& options = coder.comparator().options();
  Result<LineReader> reader = LineReader::open(options.files.front(), options.terminator);
  if (!reader) return reader.error();
  const std::optional<Disorder> disorder = find_disorder(*reader, coder);
  if (!reader->status()) return reader->status().error();
  if (!disorder) return true;
  if (options.mode == Mode::check) {
    const std::string text = describe(program, reader->name(), *disorder, options.terminator);
    commit_run();
    const Status written = write_full(STDERR_FILENO, text.data(), text.size());
    if (!written) {
      return io_error("write failed", translate("standard error"), written.error().system_errno);
    }
  }
  return false;
}

}  // namespace hoist::sort
