#include "takeover/run_choice.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "base/load.h"
#include "base/option_values.h"
#include "base/threads.h"
#include "takeover/decisions.h"

namespace hoist {
namespace {

constexpr size_t kManyFiles = 512;

std::optional<uint64_t> file_size(const std::string& name) {
  struct stat info;
  const bool is_input = name == "-";
  const int result = is_input ? ::fstat(STDIN_FILENO, &info) : ::stat(name.c_str(), &info);
  if (result != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  const off_t start = is_input ? ::lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
  return start >= 0 && start < info.st_size ? static_cast<uint64_t>(info.st_size - start) : 0;
}

// The CPUs to decide by: those that are free, or the user's own word, whatever else runs.
int cpus_to_count_on() { return option_number(OptionId::threads) ? usable_cpus() : free_cpus(); }

// Where the original's part of the row ends that holds `bytes`.
std::string praise_of_original(const hoist_decisions& decisions, const std::string& name, int cpus,
                               uint64_t bytes) {
  hoist_interval row[HOIST_MOST_INTERVALS];
  const size_t count = hoist_find_row(&decisions, name.c_str(), cpus, row);
  for (size_t i = 0; i < count; ++i) {
    if (row[i].from > bytes && row[i].choice != HOIST_CHOICE_ORIGINAL) {
      return fmt::format("placement: the original is faster below {} bytes", row[i].from);
    }
  }
  return "placement: the original is faster";
}

}  // namespace

RunChoice choose_run(const Takeover& takeover, const std::string& name,
                     std::optional<uint64_t> bytes, const std::function<bool()>& finds_hoistd) {
  RunChoice run;
  run.threads = usable_cpus();
  if (!bytes) {
    run.reason = "placement: all CPUs for input of unknown size";
    return run;
  }
  const int cpus = cpus_to_count_on();
  const auto decisions = std::make_unique<hoist_decisions>();
  hoist_load_decisions(decisions.get());
  const hoist_choice alone = hoist_decide(decisions.get(), name.c_str(), cpus, *bytes);
  const hoist_choice lent =
      hoist_decide(decisions.get(), (name + HOIST_WITH_HOISTD).c_str(), cpus, *bytes);
  const bool is_lent =
      lent != HOIST_CHOICE_UNKNOWN && lent != alone && finds_hoistd != nullptr && finds_hoistd();
  const hoist_choice choice = is_lent ? lent : alone;
  if (choice == HOIST_CHOICE_CPU_1) run.threads = 1;
  run.opens_gpu = alone == HOIST_CHOICE_CUDA;  // should hoistd be gone by then
  run.on_gpu = choice == HOIST_CHOICE_CUDA || choice == HOIST_CHOICE_HOISTD;
  if (choice != HOIST_CHOICE_ORIGINAL) {
    run.reason = fmt::format("placement: {} for {} bytes", hoist_choice_name(choice), *bytes);
  } else if (takeover.recognised && !takeover.original_path.empty()) {
    run.original = true;
    run.reason = praise_of_original(*decisions, name, cpus, *bytes);
  } else {
    run.reason = "asked for by name";
  }
  return run;
}

std::optional<uint64_t> input_size(std::span<const std::string> files) {
  if (files.size() > kManyFiles) return std::nullopt;
  uint64_t total = 0;
  for (const std::string& file : files) {
    const std::optional<uint64_t> size = file_size(file);
    if (!size) return std::nullopt;
    total += *size;
  }
  return total;
}

}  // namespace hoist
