// hoist_gemm(): one call of a program, on the GPU where that pays.
#include <fmt/core.h>
#include <strings.h>

#include <optional>
#include <string>

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

bool run_on_gpu(const hoist_blas_call& call, const hoist_blas_original& original) {
  const Result<std::shared_ptr<Session>> session = Session::get();
  if (!session) return calls().passed("no GPU: " + session.error().message);
  if (!(*session)->has_gpu() && !is_required()) return calls().passed("hoistd has no GPU");
  std::optional<Verification> verification;
  if (calls().is_drawn()) verification.emplace(call);
  const CallClock clock;
  if (const Status done = (*session)->run(call); !done) {
    return calls().passed("failed: " + done.error().message);
  }
  calls().done((*session)->implementation(), transfer_bytes(call), clock.nanoseconds());
  if (!verification) return true;
  if (verification->left_out() != nullptr) {
    calls().verification_left_out(verification->left_out());
    return true;
  }
  const bool is_same = verification->is_same(original);
  if (!is_same) verification->restore();
  calls().verified(is_same, describe(call));
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
