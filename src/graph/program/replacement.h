// Compiled kernels take the place of a program's precompiled ones, one by one, while it runs:
//
//   cold        the program counts how long it has run
//   compiling   that was long enough: its compiler was asked, and makes an offer at some time
//   measuring   calls compute each kernel in both ways, on what they are given
//   settled     each kernel is the faster one
//
// A compiled kernel is taken where each of those calls gave the same bits, any NaN as any other,
// and it was faster by a twentieth at least. Calls of other threads go on meanwhile: they look at
// one pointer. Nothing is locked, so a child of fork() goes on as well; what its parent was
// compiling or measuring then, stays as it is there.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/program/loop.h"

namespace hoist::graph::program {

class Program;

// Another kernel with compiled steps, or null where none can be compiled.
struct Offer {
  std::unique_ptr<const Kernel> kernel;
  size_t steps = 0;  // that functions do now
};

// Makes offers to programs. Thread-safe; lives as long as the process.
class KernelCompiler {
 public:
  virtual ~KernelCompiler() = default;
  // Comes to program->replacement().offer() or fail() at some time, once, on any thread.
  virtual void compile(std::shared_ptr<const Program> program) = 0;
};

struct KernelReplacement {
  enum class State : uint8_t {
    precompiled,   // nothing else was offered so far
    not_compiled,  // nothing of it is worth it, or can be
    measuring,
    compiled,
    slower,     // than the precompiled one, or not faster by enough
    differs,    // in bits of its results
    no_memory,  // to compare both
  };
  State state = State::precompiled;
  size_t steps = 0;             // that functions do
  uint32_t precompiled_ns = 0;  // at best; 0: not measured
  uint32_t compiled_ns = 0;
};

class Replacement {
 public:
  enum class Stage : uint8_t { off, cold, compiling, measuring, settled, failed };
  // So long a program runs before its kernels are compiled, which takes about a second.
  static constexpr uint64_t kColdNanoseconds = 1'000'000'000;
  static constexpr uint32_t kColdCalls = 16;
  // Calls that measure. Before them come those that find out whether threads pay.
  static constexpr uint32_t kRounds = 8;

  // Without a compiler it stays off.
  Replacement(const std::vector<Kernel>& kernels, KernelCompiler* compiler);
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  const Kernel& kernel(size_t i) const { return *current_[i].load(std::memory_order_acquire); }
  Stage stage() const { return stage_.load(std::memory_order_acquire); }

  // While it is cold. Whether this call is to be timed, as one of kSample.
  bool counts_time();
  // The time of such a call. Whether it is now time to compile.
  bool add_time(uint64_t nanoseconds);
  // Asks the compiler now; once, whoever calls it how often.
  void ask(std::shared_ptr<const Program> program);

  // By the compiler: an offer for each kernel, or why there is none.
  void offer(std::vector<Offer> offers);
  void fail(std::string why);
  // Takes all of an offer, unmeasured: for tests.
  void take(std::vector<Offer> offers);

  // While it is measuring: whether this call is to, which then comes to end_round().
  bool begin_round();
  void end_round();
  // To be measured by this call, or null.
  const Kernel* candidate(size_t i) const;
  bool is_odd_round() const { return rounds_ % 2 != 0; }
  void add_measured(size_t i, uint32_t precompiled_ns, uint32_t compiled_ns);
  void refuse(size_t i, KernelReplacement::State state);

  KernelReplacement report(size_t i) const;
  // Why it has failed.
  std::string why() const;

 private:
  struct Measured {
    std::atomic<KernelReplacement::State> state{KernelReplacement::State::precompiled};
    std::atomic<uint32_t> precompiled_ns{0};
    std::atomic<uint32_t> compiled_ns{0};
  };
  static constexpr uint32_t kSample = 8;

  void settle();

  KernelCompiler* const compiler_;
  const size_t count_;
  std::atomic<Stage> stage_{Stage::off};
  std::atomic<uint32_t> calls_{0};
  std::atomic<uint64_t> nanoseconds_{0};
  std::unique_ptr<std::atomic<const Kernel*>[]> current_;
  std::unique_ptr<Measured[]> measured_;
  // Set once, before the stage says so.
  std::vector<Offer> offers_;
  std::string why_;
  std::atomic<bool> is_in_round_{false};
  uint32_t rounds_ = 0;  // of the call in the round
};

}  // namespace hoist::graph::program
