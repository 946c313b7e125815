// hoist_gemm(): one call of a program, on the GPU where that pays.
#include <fmt/core.h>
#include <strings.h>

#include <optional>
#include <string>

#include "base/caller_memory.h"
#include "base/library_calls.h"
#include "base/options.h"
#include "base/own_work.h"
#include "ops/gemm/call.h"
#include "ops/gemm/check.h"
#include "ops/gemm/estimate.h"
#include "ops/gemm/plan.h"
#include "ops/gemm/session.h"
#include "ops/gemm/verification.h"

namespace hoist::gemm {
namespace {

LibraryCalls& calls() {
  static LibraryCalls* const calls = new LibraryCalls("gemm");  // static destructors may call
  return *calls;
}

// Whatever the profile says, and on a device that is no GPU.
bool is_required() {
  static const bool is_required = ::strcasecmp(option_text(OptionId::gpu), "require") == 0;
  return is_required;
}

// Null where the GPU is to do it, or why not.
const char* reason_for_original(const hoist_blas_call& call) {
  if (const char* reason = reason_to_pass(call)) return reason;
  if (is_required()) return nullptr;
  const Estimate* const estimate = Estimate::of(call.type);
  if (estimate == nullptr) return "not measured (hoist tune --op gemm)";
  return estimate->prefers_gpu(call) ? nullptr : "CPU is ahead";
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
    const bool is_there = operand.is_written ? memory.writable(operand.data, size)
                                             : memory.readable(operand.data, size);
    if (!is_there) return false;
  }
  return true;
}

// After a call that is done: nothing may make the original do it again.
void account(const hoist_blas_call& call, const hoist_blas_original& original,
             const Session& session, uint64_t nanoseconds, Verification* verification) try {
  calls().done(session.implementation(), transfer_bytes(call), nanoseconds);
  if (verification == nullptr) return;
  if (verification->left_out() != nullptr) {
    return calls().verification_left_out(verification->left_out());
  }
  const bool is_same = verification->is_same(original);
  if (!is_same) verification->restore();
  calls().verified(is_same, describe(call));
} catch (...) {  // no memory: not counted
}

bool run_on_gpu(const hoist_blas_call& call, const hoist_blas_original& original) {
  if (!has_matrices(call)) return calls().passed("memory that cannot be had");
  const Result<std::shared_ptr<Session>> session = Session::get();
  if (!session) return calls().passed("no GPU: " + session.error().message);
  if (!(*session)->has_gpu() && !is_required()) return calls().passed("hoistd has no GPU");
  std::optional<Verification> verification;
  if (calls().is_drawn()) verification.emplace(call);
  const CallClock clock;
  if (const Status done = (*session)->run(call); !done) {
    return calls().passed("failed: " + done.error().message);
  }
  account(call, original, **session, clock.nanoseconds(), verification ? &*verification : nullptr);
  return true;
}

}  // namespace
}  // namespace hoist::gemm

bool hoist_gemm(const hoist_blas_call* call, const hoist_blas_original* original) {
  using namespace hoist::gemm;
  return hoist::unseen([&] {
    if (calls().is_switched_off()) return calls().passed("switched off by --verify");
    if (const char* reason = reason_for_original(*call)) return calls().passed(reason);
    return run_on_gpu(*call, *original);
  });
}
