// How a program runs its kernels: on threads where they pay, and while compiled ones are measured.
#include <algorithm>
#include <chrono>
#include <optional>

#include "base/threads.h"
#include "graph/program/program.h"
#include "graph/program/trial.h"

namespace hoist::graph::program {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kTimedCalls = 3;
// Threads take some microseconds to begin; below this they would not pay.
constexpr uint32_t kLeastForThreads = 100'000;  // ns

uint64_t nanoseconds_since(Clock::time_point begin) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count());
}

}  // namespace

void Program::run_kernels(const Memory& memory, std::byte* scratch) const {
  const Replacement::Stage stage = replacement_->stage();
  // Both ways run on threads where these pay, which must be known.
  if (stage == Replacement::Stage::measuring && knows_threads() && replacement_->begin_round()) {
    return run_both(memory, scratch);
  }
  const bool counts = stage == Replacement::Stage::cold && replacement_->counts_time();
  const Clock::time_point begin = counts ? Clock::now() : Clock::time_point();
  for (size_t i = 0; i < kernels_.size(); ++i) run_kernel(i, memory, scratch);
  if (counts && replacement_->add_time(nanoseconds_since(begin))) {
    replacement_->ask(shared_from_this());
  }
}

bool Program::knows_threads() const {
  if (threads_ == 1) return true;
  const auto is_timed = [&](const Timing& timing) { return timing.calls.load() >= kTimedCalls; };
  return std::all_of(timings_.get(), timings_.get() + kernels_.size(), is_timed);
}

void Program::run_kernel(size_t kernel, const Memory& memory, std::byte* scratch) const {
  const Timing& timing = timings_[kernel];
  if (threads_ > 1 && timing.calls.load(std::memory_order_relaxed) < kTimedCalls) {
    return run_timed(kernel, memory, scratch);
  }
  run_loops(replacement_->kernel(kernel), kernel, memory, scratch);
}

void Program::run_timed(size_t kernel, const Memory& memory, std::byte* scratch) const {
  Timing& timing = timings_[kernel];
  const Clock::time_point begin = Clock::now();
  for (const Loop& loop : replacement_->kernel(kernel).loops) {
    run_loop(loop, memory, scratch, 0, units(loop));
  }
  const auto nanoseconds =
      static_cast<uint32_t>(std::min<uint64_t>(nanoseconds_since(begin), UINT32_MAX - 1));
  uint32_t best = timing.nanoseconds.load();
  while (nanoseconds < best && !timing.nanoseconds.compare_exchange_weak(best, nanoseconds)) {
  }
  ++timing.calls;
}

void Program::run_loops(const Kernel& kernel, size_t number, const Memory& memory,
                        std::byte* scratch) const {
  const bool has_threads = threads_ > 1 && timings_[number].nanoseconds.load(
                                               std::memory_order_relaxed) >= kLeastForThreads;
  for (const Loop& loop : kernel.loops) {
    if (has_threads) {
      run_on_threads(loop, memory, scratch);
    } else {
      run_loop(loop, memory, scratch, 0, units(loop));
    }
  }
}

void Program::run_on_threads(const Loop& loop, const Memory& memory, std::byte* scratch) const {
  const int64_t count = units(loop);
  ThreadPool& pool = ThreadPool::process();
  const int64_t parts = std::min<int64_t>({count, threads_, static_cast<int64_t>(pool.size())});
  if (parts <= 1) return run_loop(loop, memory, scratch, 0, count);
  const auto part = [&](size_t i) {
    const auto at = static_cast<int64_t>(i);
    run_loop(loop, memory, scratch + i * scratch_bytes_, count * at / parts,
             count * (at + 1) / parts);
  };
  pool.parallel_for(static_cast<size_t>(parts), [&part](size_t i) { part(i); });
}

void Program::run_both(const Memory& memory, std::byte* scratch) const {
  for (size_t i = 0; i < kernels_.size(); ++i) {
    if (const Kernel* const candidate = replacement_->candidate(i)) {
      try_candidate(i, *candidate, memory, scratch);
    } else {
      run_kernel(i, memory, scratch);
    }
  }
  replacement_->end_round();
}

void Program::try_candidate(size_t kernel, const Kernel& candidate, const Memory& memory,
                            std::byte* scratch) const {
  const auto run = [&](const Kernel& one) { run_loops(one, kernel, memory, scratch); };
  const std::optional<Trial> trial =
      try_both(graph_, kernels_[kernel], candidate, memory, replacement_->is_odd_round(), run);
  if (!trial) {
    replacement_->refuse(kernel, KernelReplacement::State::no_memory);
    return run(kernels_[kernel]);
  }
  if (!trial->is_same) return replacement_->refuse(kernel, KernelReplacement::State::differs);
  replacement_->add_measured(kernel, trial->first_ns, trial->second_ns);
}

}  // namespace hoist::graph::program
