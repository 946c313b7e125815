// hoist-sort: what runs in place of sort(1).
#include <unistd.h>

#include <chrono>
#include <clocale>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "base/counters.h"
#include "base/option_values.h"
#include "base/options.h"
#include "device/remote/lent_device.h"
#include "ops/sort/engine.h"
#include "ops/sort/messages.h"
#include "ops/sort/options.h"
#include "placement/profile_file.h"
#include "placement/record.h"
#include "takeover/enabled_operations.h"
#include "takeover/run_choice.h"
#include "takeover/takeover.h"
#include "takeover/verify.h"

namespace {

const char* program_name = "sort";

// Costs differ by how lines are compared.
const char* variant_of(const hoist::sort::Options& options) {
  using hoist::sort::Ordering;
  for (const hoist::sort::Key& key : options.keys) {
    if (key.ordering == Ordering::numeric || key.ordering == Ordering::general_numeric ||
        key.ordering == Ordering::human_numeric) {
      return "numeric";
    }
  }
  const std::string_view locale = std::setlocale(LC_COLLATE, nullptr);
  return locale == "C" || locale == "POSIX" || locale.starts_with("C.") ? "C" : "locale";
}

// Bytes to be sorted. A merge or a check is other work, about which placement knows nothing.
std::optional<uint64_t> bytes_to_sort(const hoist::sort::Options& options) {
  if (options.mode != hoist::sort::Mode::sort) return std::nullopt;
  return hoist::input_size(options.files);
}

bool lends_what_was_measured() {
  return hoist::device::remote::hoistd_answers() && hoist::placement::has_measured_these_gpus();
}

// Only the profile knows which GPUs were measured.
hoist::sort::GpuUse gpu_for(const hoist::RunChoice& choice) {
  using hoist::sort::GpuUse;
  if (!choice.on_gpu || !hoist::placement::has_measured_these_gpus()) return GpuUse::none;
  return choice.opens_gpu ? GpuUse::any : GpuUse::hoistd;
}

// Where nobody makes do without the memory. (A new-handler would end the program also where
// somebody does.)
std::terminate_handler otherwise = nullptr;
void end_without_memory() {
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::bad_alloc&) {
    ::dprintf(STDERR_FILENO, "%s: %s\n", program_name, hoist::sort::translate("memory exhausted"));
    ::_exit(2);
  } catch (...) {
  }
  otherwise();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hoist;
  std::setlocale(LC_ALL, "");
  program_name = argv[0];
  otherwise = std::set_terminate(end_without_memory);
  const Takeover takeover = begin_takeover(argc, argv, "sort");
  if (hoist_is_off() || !operation_enabled(HOIST_SORT)) return step_aside(takeover, "sort", "off");
  if (switched_off("sort")) return step_aside(takeover, "sort", "switched off by --verify");
  Result<sort::Options> options = sort::parse_options(takeover.argv, takeover.version);
  if (!options) return step_aside(takeover, "sort", options.error().message);
  const std::string reason = sort::reason_to_step_aside(*options);
  if (!reason.empty()) return step_aside(takeover, "sort", reason);
  const std::string variant = variant_of(*options);
  const std::optional<uint64_t> bytes = bytes_to_sort(*options);
  const bool gpu_required = gpu_use() == HOIST_GPU_REQUIRE;
  RunChoice choice = choose_run(takeover, "sort/" + variant, bytes, lends_what_was_measured);
  if (choice.original && !gpu_required) return step_aside(takeover, "sort", choice.reason);
  if (gpu_required) choice.reason = "HOIST_GPU=require";
  if (options->threads == 0) options->threads = choice.threads;

  if (!options->output.empty()) {
    verify_left_out("sort", "-o");
  } else if (const auto status = verify_run(takeover, "sort", options->files)) {
    return *status;
  }
  const bool merging = options->mode == sort::Mode::merge;
  if (!merging) confirm_takeover(takeover, choice.reason);
  const auto start = std::chrono::steady_clock::now();
  const sort::GpuUse gpu = gpu_required ? sort::GpuUse::any : gpu_for(choice);
  const Result<sort::Outcome> outcome = sort::run(*options, argv[0], gpu);
  if (!outcome && outcome.error().code == ErrorCode::unsupported) {
    return step_aside(takeover, "sort", outcome.error().message);
  }
  if (merging) confirm_takeover(takeover, choice.reason);
  if (!outcome) {
    sort::report(argv[0], outcome.error());
    return 2;
  }
  const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - start;
  Counters::process().add_call("sort", outcome->implementation, outcome->bytes,
                               static_cast<uint64_t>(spent.count()));
  if (bytes) {
    placement::record("sort", variant, outcome->implementation, {*bytes, options->files.size()},
                      std::chrono::duration<double>(spent).count());
  }
  return outcome->status;
}
