#include "cli/verdict.h"

#include <fmt/core.h>
#include <string.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/segments.h"

namespace hoist::cli {
namespace {

// Reasons of the preload library (src/intercept) that the user can do something about.
constexpr struct {
  std::string_view reason;
  std::string_view mend;
} kMends[] = {
    {"build-id unknown", "`hoist learn-program PATH` checks this build and makes it known"},
    {"small input", "on so little an engine would not gain"},
    {"HOIST=off", "unset HOIST"},
    {"switched off by HOIST_OPS", "see --ops"},
    {"engine not found", "`hoist doctor` says which engines are installed"},
    {"LD_PRELOAD holds another library", "it may want to see the original's calls"},
    {"address space is limited", "see `ulimit -v` and `ulimit -d`"},
    {"stack is limited", "see `ulimit -s`"},
    {"its system calls are filtered", "a sandbox has started it"},
};

constexpr std::string_view kNoEngine = "no engine replaces it";  // src/intercept/recognise.c
constexpr size_t kNamesShown = 5;

std::string_view mend_of(std::string_view reason) {
  for (const auto& [known, mend] : kMends) {
    if (known == reason) return mend;
  }
  return {};
}

template <size_t N>
std::string_view text_of(const char (&array)[N]) {
  return {array, ::strnlen(array, N)};
}

uint64_t get(const uint64_t& counter) { return __atomic_load_n(&counter, __ATOMIC_RELAXED); }

template <typename Slots, typename Visit>
void for_each(const Slots& slots, uint32_t count, Visit&& visit) {
  const size_t limit = std::min<size_t>(count, std::size(slots));
  for (size_t i = 0; i < limit; ++i) visit(slots[i]);
}

std::string summarise(const hoist_operation_slot& slot) {
  std::string out = fmt::format("hoist: {}: {} calls, {:.1f} MB, {:.3f} s", text_of(slot.name),
                                get(slot.calls), static_cast<double>(get(slot.bytes)) * 1e-6,
                                static_cast<double>(get(slot.nanoseconds)) * 1e-9);
  for_each(slot.implementations, slot.implementation_count, [&](const auto& part) {
    out += fmt::format(", {} x {}", text_of(part.name), get(part.calls));
  });
  for_each(slot.passed, slot.passed_count, [&](const auto& part) {
    out += fmt::format(", passed ({}) x {}", text_of(part.reason), get(part.count));
  });
  return out + '\n';
}

std::string line_of(const ProgramRecord& program, std::string_view mend = {}) {
  return fmt::format("hoist: {} (pid {}): {}: {}{}{}\n", program.command, program.pid,
                     program.taken_over ? "ran on the engine" : "ran on the original",
                     program.reason, mend.empty() ? "" : ": ", mend);
}

// Programs that no engine replaces, by name: a shell script starts many.
std::string summarise(const std::vector<ProgramRecord>& plain) {
  if (plain.empty()) return {};
  if (plain.size() == 1) return line_of(plain.front());
  std::map<std::string, size_t> counts;
  for (const ProgramRecord& program : plain) {
    const std::string word = program.command.substr(0, program.command.find(' '));
    ++counts[word.substr(word.rfind('/') + 1)];
  }
  std::vector<std::pair<std::string, size_t>> names(counts.begin(), counts.end());
  std::stable_sort(names.begin(), names.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out =
      fmt::format("hoist: {} programs ran on the original: no engine replaces them:", plain.size());
  const size_t shown = std::min(names.size(), kNamesShown);
  for (size_t i = 0; i < shown; ++i) {
    const auto& [name, count] = names[i];
    out += fmt::format("{} {}{}", i == 0 ? "" : ",", name,
                       count > 1 ? fmt::format(" x {}", count) : "");
  }
  if (names.size() > shown) out += fmt::format(" and {} more", names.size() - shown);
  return out + '\n';
}

// "2 left out (writes files), 1 left out (…)": the calls that --verify did not compare.
std::string left_out(const hoist_operation_slot& operation) {
  constexpr std::string_view kPrefix = "verify: ";
  std::string out;
  for_each(operation.passed, operation.passed_count, [&](const hoist_passed_slot& part) {
    std::string_view reason = text_of(part.reason);
    if (!reason.starts_with(kPrefix)) return;
    reason.remove_prefix(kPrefix.size());
    if (reason == "same" || reason == "different") return;
    out += reason.starts_with("left out")
               ? fmt::format(", {} {}", get(part.count), reason)
               : fmt::format(", {} left out ({})", get(part.count), reason);
  });
  return out;
}

uint64_t passed(const hoist_operation_slot& operation, std::string_view reason) {
  uint64_t count = 0;
  for_each(operation.passed, operation.passed_count, [&](const hoist_passed_slot& part) {
    if (text_of(part.reason) == reason) count += get(part.count);
  });
  return count;
}

}  // namespace

std::string summarise(const Counters& counters) {
  std::string out;
  std::vector<ProgramRecord> plain;
  for (ProgramRecord& program : programs_of(counters)) {
    if (program.reason == kNoEngine) {
      plain.push_back(std::move(program));
    } else {
      out += line_of(program);
    }
  }
  out += summarise(plain);
  const hoist_counters* layout = counters.layout();
  if (layout == nullptr) return out;
  for_each(layout->operations, layout->operation_count,
           [&](const hoist_operation_slot& slot) { out += summarise(slot); });
  return out;
}

std::string what_is_missing(const Counters& counters) {
  if (const uint64_t more = counters.not_recorded()) {
    return fmt::format("hoist: {} more programs were not recorded: there is room for {}\n", more,
                       counters.program_slots());
  }
  if (!programs_of(counters).empty()) return {};
  return "hoist: no program was seen (static, setuid or of another word size)\n";
}

std::string explain_programs(const Counters& counters) {
  std::string out;
  for (const ProgramRecord& program : programs_of(counters)) {
    const std::string_view mend = mend_of(program.reason);
    out += line_of(program, mend);
  }
  return out;
}

std::string verification_verdict(const Counters& counters) {
  std::string out;
  const hoist_counters* layout = counters.layout();
  if (layout == nullptr) return out;
  for_each(layout->operations, layout->operation_count, [&](const hoist_operation_slot& operation) {
    const uint64_t same = passed(operation, "verify: same");
    const uint64_t different = passed(operation, "verify: different");
    const std::string rest = left_out(operation);
    if (same + different == 0 && rest.empty()) return;
    out += fmt::format("hoist: {}: {} verified, {} mismatch{}\n", text_of(operation.name),
                       same + different, different, rest);
  });
  return out;
}

}  // namespace hoist::cli
