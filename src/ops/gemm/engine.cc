// hoist_gemm(): one call of a program, on the GPU where that pays.
#include <fmt/core.h>
#include <strings.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string>

#include "base/caller_memory.h"
#include "base/option_values.h"
#include "base/own_work.h"
#include "base/per_process.h"
#include "base/spare_memory.h"
#include "ops/gemm/call.h"
#include "ops/gemm/check.h"
#include "ops/gemm/estimate.h"
#include "ops/gemm/opening.h"
#include "ops/gemm/plan.h"
#include "ops/gemm/residency.h"
#include "ops/gemm/session.h"
#include "ops/gemm/spread.h"
#include "ops/gemm/verification.h"
#include "takeover/library_calls.h"

namespace hoist::gemm {
namespace {

// HOIST_GEMM_DEVICES, else `otherwise`.
int devices_by_option(int otherwise) {
  const uint64_t given =
      option_number(OptionId::gemm_devices).value_or(static_cast<uint64_t>(otherwise));
  return static_cast<int>(std::clamp<uint64_t>(given, 1, Session::kMostDevices));
}

// What the environment says, and where calls are counted.
struct Settings {
  LibraryCalls calls{"gemm"};
  // Whatever the profile says, and on a device that is no GPU.
  const bool is_required = gpu_use() == HOIST_GPU_REQUIRE;
  // What a call that is required on a GPU has, and the most that one has which the profile sends.
  const int required_devices = devices_by_option(1);
  const int most_devices = devices_by_option(gpu_count());
  // Opens a GPU that is not required.
  Opening opening;
  // A call that is required has waited for devices behind the first.
  std::atomic<bool> has_waited = false;
  const bool may_use_tf32 = ::strcasecmp(option_text(OptionId::gemm_precision), "tf32") == 0;
};

constinit PerProcess<Settings> settings;

// For a hoistd that is started because a GPU is required.
constexpr auto kRequiredWait = std::chrono::seconds(10);
constexpr const char* kCpuIsAhead = "CPU is ahead";
// For devices behind the first, by the first call that could use them; then calls go on without.
constexpr auto kOthersWait = std::chrono::seconds(2);

LibraryCalls& calls() { return settings.get().calls; }
bool is_required() { return settings.get().is_required; }

// GPUs that the profile prefers, of up to `most`, for a call that can be cut into as many parts.
int preferred_devices(const hoist_blas_call& call, int most) {
  const Estimate* const estimate = Estimate::of(call.type);
  while (estimate != nullptr && most > 0) {
    const int devices = estimate->devices(call, most);
    if (devices == 0) break;
    most = static_cast<int>(split(call, static_cast<size_t>(devices)).size());
    if (most >= devices) return devices;
  }
  return 0;
}

// GPUs to use; 0: none, and `reason` says why.
int choose_devices(const hoist_blas_call& call, const char*& reason) {
  const Settings& own = settings.get();
  if (own.is_required) return own.required_devices;
  const bool is_measured = Estimate::of(call.type) != nullptr;
  reason = is_measured ? kCpuIsAhead : "not measured (hoist tune --op gemm)";
  return preferred_devices(call, own.most_devices);
}

std::string describe(const hoist_blas_call& call) {
  return fmt::format("{} {}x{}x{}", call.type, call.m, call.n, call.k);
}

// Faults in the program's matrices belong on its own thread.
bool has_matrices(const hoist_blas_call& call) {
  const CallerMemory memory;
  const Plan plan = make_plan(call);
  for (const Operand& operand : plan.operands) {
    if (operand.rows == 0) continue;
    const auto elements =
        static_cast<size_t>((operand.columns - 1) * operand.leading + operand.rows);
    const size_t size = elements * plan.element;
    for (int64_t at = 0; at < operand.count; ++at) {
      const bool is_there = operand.is_written ? memory.writable(operand.item(at), size)
                                               : memory.readable(operand.item(at), size);
      if (!is_there) return false;
    }
  }
  return true;
}

// After a call that is done: nothing may make the original do it again.
void account(const hoist_blas_call& call, const hoist_blas_original& original,
             const std::string& implementation, uint64_t nanoseconds,
             Verification* verification) try {
  calls().done(implementation, transfer_bytes(call), nanoseconds);
  if (verification == nullptr) return;
  if (verification->left_out() != nullptr) {
    return calls().verification_left_out(verification->left_out());
  }
  const bool is_same = verification->is_same(original);
  if (!is_same) verification->restore();
  calls().verified(is_same, describe(call));
} catch (...) {  // no memory: not counted
}

// By the profile.
double won_seconds(const hoist_blas_call& call, int devices) {
  const Estimate* const estimate = Estimate::of(call.type);
  return estimate == nullptr ? 0 : estimate->won_seconds(call, devices);
}

bool is_worth_opening(const hoist_blas_call& call, int devices) {
  Opening& opening = settings.get().opening;
  return is_required() || opening.is_decided() ||
         opening.is_worth(won_seconds(call, devices), opening_seconds());
}

// How long after the GPU was first asked for a call may wait for it to be ready, which takes a
// second: no time, unless the call wins twice as much there.
std::chrono::milliseconds patience(const hoist_blas_call& call) {
  constexpr double kReady = 1;  // seconds
  return std::chrono::milliseconds(
      won_seconds(call, 1) / 2 > kReady ? static_cast<int>(kReady * 1000) : 0);
}

// Where the result is read it is kept meanwhile (run.h). To ask takes a tenth of a millisecond,
// which smaller products would feel.
bool has_memory_for_result(const hoist_blas_call& call) {
  constexpr uint64_t kNotWorthAsking = uint64_t{64} << 20;
  const Plan plan = make_plan(call);
  const Operand& c = plan.operands[2];
  return !c.is_read || plan.bytes(c) <= kNotWorthAsking || has_spare_memory(plan.bytes(c));
}

bool run_on_gpu(const hoist_blas_call& call, const hoist_blas_original& original, int wanted) {
  if (!has_matrices(call)) return calls().passed("memory that cannot be had");
  if (!is_worth_opening(call, wanted)) return calls().passed("too little so far to open a GPU");
  if (!has_memory_for_result(call)) return calls().passed("too little memory to keep C");
  const Result<std::shared_ptr<Session>> session =
      is_required() ? Session::get(kRequiredWait) : Session::get_when_ready(patience(call));
  if (!session) return calls().passed("no GPU: " + session.error().message);
  if (!(*session)->has_gpu() && !is_required()) return calls().passed("hoistd has no GPU");
  const int useful = static_cast<int>(split(call, static_cast<size_t>(wanted)).size());
  const bool may_wait = useful > 1 && is_required() && !settings.get().has_waited.exchange(true);
  int devices = (*session)->devices(useful, may_wait ? kOthersWait : std::chrono::seconds(0));
  // With fewer than wanted the CPU may be ahead, or yet fewer.
  if (devices < useful && !is_required()) devices = preferred_devices(call, devices);
  if (devices == 0) return calls().passed(kCpuIsAhead);
  std::optional<Verification> verification;
  if (calls().is_drawn()) verification.emplace(call);
  const std::string implementation = (*session)->implementation(devices);
  const CallClock clock;
  if (const Status done = (*session)->run(call, devices); !done) {
    return calls().passed("failed: " + done.error().message);
  }
  account(call, original, implementation, clock.nanoseconds(),
          verification ? &*verification : nullptr);
  return true;
}

bool run_or_pass(const hoist_blas_call& call, const hoist_blas_original& original) {
  const char* const obstacle = reason_to_pass(call);
  KeptRanges::get().written_by(call, obstacle == nullptr);
  if (obstacle != nullptr) return calls().passed(obstacle);
  if (calls().is_switched_off()) return calls().passed("switched off by --verify");
  const char* reason = nullptr;
  const int devices = choose_devices(call, reason);
  return devices > 0 ? run_on_gpu(call, original, devices) : calls().passed(reason);
}

}  // namespace
}  // namespace hoist::gemm

bool hoist_gemm(const hoist_blas_call* asked, const hoist_blas_original* original) {
  using namespace hoist::gemm;
  return hoist::unseen([&] {
    hoist_blas_call call = *asked;
    const bool is_single = call.type == 's' || call.type == 'c';
    call.may_use_tf32 = is_single && settings.get().may_use_tf32;
    return run_or_pass(call, *original);
  });
}

int hoist_gemm_residency(hoist_gemm_wish wish, const void* memory, size_t bytes) {
  using namespace hoist::gemm;
  int error = ENOMEM;  // where it ends by an exception
  (void)hoist::unseen([&] {
    KeptRanges& ranges = KeptRanges::get();
    error = wish == HOIST_GEMM_KEEP    ? ranges.keep(memory, bytes)
            : wish == HOIST_GEMM_DIRTY ? ranges.dirty(memory, bytes)
                                       : ranges.release(memory);
    if (wish == HOIST_GEMM_RELEASE) Session::prune();
    return true;
  });
  return error;
}
