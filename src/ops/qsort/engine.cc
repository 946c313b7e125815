#include <fmt/core.h>

#include <cstring>

#include "base/call_team.h"
#include "base/own_work.h"
#include "base/spare_memory.h"
#include "ops/qsort/call.h"
#include "ops/qsort/judge.h"
#include "ops/qsort/qsort.h"
#include "ops/qsort/sorter.h"
#include "ops/qsort/system.h"
#include "ops/qsort/workspace.h"
#include "takeover/library_calls.h"

namespace hoist::qsort {
namespace {

LibraryCalls& calls() {
  static auto* const calls = new LibraryCalls("qsort");  // static destructors may sort
  return *calls;
}

// Made while the engine is loaded, which a fork() waits for: a child that is made during the first
// call would wait for good for that thread's.
[[maybe_unused]] const bool made_early = unseen([] {
  calls();
  return true;
});

bool pass(const char* reason) {
  return unseen([=] { return calls().passed(reason); });
}

uint64_t memory_needed(const Call& call) {
  return uint64_t{call.count} * call.size + uint64_t{call.count} * 2 * sizeof(uint64_t);
}

int threads_for(const Call& call) {
  constexpr size_t kWorthThreads = size_t{1} << 16;
  return call.count < kWorthThreads ? 1 : most_call_threads();
}

struct Attempt {
  Sorted sorted = {.failure = "not enough memory"};
  const char* implementation = "cpu-1";
};

Attempt try_sort(const Call& call, const Order& order, const Mappings& mappings,
                 Workspace& workspace) {
  return unseen([&] {
    Attempt attempt;
    if (!has_spare_memory(memory_needed(call))) return attempt;
    CallTeam team(threads_for(call));
    if (team.pool() != nullptr) attempt.implementation = "cpu-all";
    attempt.sorted = sort_by(call, order, mappings, workspace, team.pool());
    if (attempt.sorted.other != nullptr) attempt.implementation = attempt.sorted.other;
    return attempt;
  });
}

void restore(const Call& call, const std::byte* input) {
  std::memcpy(call.base, input, call.count * call.size);
}

// Sorts the input again, by the original, and compares. The original's result stays.
void verify(const Call& call, const Sorted& sorted, Workspace& workspace, hoist_qsort_r* original) {
  const size_t bytes = call.count * call.size;
  std::byte* const ours =
      unseen([&] { return workspace.buffer(1, bytes); });  // entries have served
  if (ours == nullptr) {
    unseen([] { return calls().verification_left_out("no room"), true; });
    return;
  }
  std::memcpy(ours, call.base, bytes);
  restore(call, sorted.input);
  original(call.base, call.count, call.size, call.compare, call.context);
  unseen([&] {
    const bool same = std::memcmp(ours, call.base, bytes) == 0;
    calls().verified(same, fmt::format("{} elements of {} bytes", call.count, call.size));
    return true;
  });
}

// No frame here, or below while the comparator runs, has anything to destroy. The library brings
// its own C++ runtime, and an exception or a cancellation that comes from another one could only
// abort at a destructor of ours.
bool sort(const Call& call, hoist_qsort_r* original, Workspace& workspace) {
  Inference* const inference = unseen([&] { return workspace.inference(); });
  if (inference == nullptr) return pass("not enough memory");

  const CallClock clock;
  Order order;
  if (const char* why = inference->infer(call, order)) return pass(why);
  const Mappings& mappings = inference->mappings();
  const Attempt attempt = try_sort(call, order, mappings, workspace);
  const Sorted& sorted = attempt.sorted;
  if (sorted.failure != nullptr) return pass(sorted.failure);
  const bool stable = unseen([&] { return sorts_stably(call.count, call.size); });
  if (!judge(call, order, mappings, sorted, original, stable)) {
    restore(call, sorted.input);
    return pass("comparator misunderstood");
  }
  const uint64_t nanoseconds = clock.nanoseconds();
  if (unseen([] { return calls().is_drawn(); })) verify(call, sorted, workspace, original);
  unseen([&] {
    calls().done(attempt.implementation, call.count * call.size, nanoseconds);
    return true;
  });
  return true;
}

bool try_call(const Call& call, hoist_qsort_r* original, const void* frame) {
  if (unseen([] { return calls().is_switched_off(); })) return pass("switched off by --verify");
  Workspace* const workspace = unseen([&] { return Workspace::take(frame); });
  if (workspace == nullptr) return pass("called by a comparator, or when the thread ends");
  const bool done = sort(call, original, *workspace);
  workspace->give_back();
  return done;
}

}  // namespace
}  // namespace hoist::qsort

bool hoist_qsort(void* base, size_t count, size_t size, hoist_compare* compare, void* context,
                 hoist_qsort_r* original) {
  constexpr size_t kFewest = 2;
  if (count < kFewest || count > UINT32_MAX || size == 0) return false;
  const hoist::qsort::Call call = {static_cast<std::byte*>(base), count, size, compare, context};
  return hoist::qsort::try_call(call, original, __builtin_frame_address(0));
}
