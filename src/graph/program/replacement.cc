#include "graph/program/replacement.h"

#include <algorithm>

namespace hoist::graph::program {
namespace {

using State = KernelReplacement::State;

void keep_least(std::atomic<uint32_t>& least, uint32_t nanoseconds) {
  const uint32_t known = least.load(std::memory_order_relaxed);
  least.store(known == 0 ? nanoseconds : std::min(known, nanoseconds), std::memory_order_relaxed);
}

// By a twentieth: less is within what measurements differ by.
bool is_faster(uint32_t compiled, uint32_t precompiled) {
  return uint64_t{compiled} * 20 <= uint64_t{precompiled} * 19;
}

}  // namespace

Replacement::Replacement(const std::vector<Kernel>& kernels, KernelCompiler* compiler)
    : compiler_(compiler),
      count_(kernels.size()),
      stage_(compiler == nullptr ? Stage::off : Stage::cold),
      current_(std::make_unique<std::atomic<const Kernel*>[]>(kernels.size())),
      measured_(std::make_unique<Measured[]>(kernels.size())) {
  for (size_t i = 0; i < count_; ++i) current_[i].store(&kernels[i], std::memory_order_relaxed);
}

Replacement::~Replacement() = default;

bool Replacement::counts_time() {
  return calls_.fetch_add(1, std::memory_order_relaxed) % kSample == kSample - 1;
}

bool Replacement::add_time(uint64_t nanoseconds) {
  const uint64_t before = nanoseconds_.fetch_add(kSample * nanoseconds, std::memory_order_relaxed);
  if (before + kSample * nanoseconds < kColdNanoseconds) return false;
  return calls_.load(std::memory_order_relaxed) >= kColdCalls && stage() == Stage::cold;
}

void Replacement::ask(std::shared_ptr<const Program> program) {
  Stage cold = Stage::cold;
  if (!stage_.compare_exchange_strong(cold, Stage::compiling)) return;
  compiler_->compile(std::move(program));
}

void Replacement::offer(std::vector<Offer> offers) {
  offers_ = std::move(offers);
  bool has_any = false;
  for (size_t i = 0; i < count_; ++i) {
    const bool is_offered = offers_[i].kernel != nullptr;
    measured_[i].state.store(is_offered ? State::measuring : State::not_compiled);
    has_any |= is_offered;
  }
  stage_.store(has_any ? Stage::measuring : Stage::settled, std::memory_order_release);
}

void Replacement::take(std::vector<Offer> offers) {
  offers_ = std::move(offers);
  for (size_t i = 0; i < count_; ++i) {
    const bool is_offered = offers_[i].kernel != nullptr;
    measured_[i].state.store(is_offered ? State::compiled : State::not_compiled);
    if (is_offered) current_[i].store(offers_[i].kernel.get(), std::memory_order_release);
  }
  stage_.store(Stage::settled, std::memory_order_release);
}

void Replacement::fail(std::string why) {
  why_ = std::move(why);
  stage_.store(Stage::failed, std::memory_order_release);
}

bool Replacement::begin_round() {
  if (is_in_round_.exchange(true, std::memory_order_acquire)) return false;
  if (stage() == Stage::measuring) return true;
  is_in_round_.store(false, std::memory_order_release);
  return false;
}

void Replacement::end_round() {
  if (++rounds_ == kRounds) settle();
  is_in_round_.store(false, std::memory_order_release);
}

void Replacement::settle() {
  for (size_t i = 0; i < count_; ++i) {
    Measured& measured = measured_[i];
    if (measured.state.load() != State::measuring) continue;
    const bool takes = is_faster(measured.compiled_ns, measured.precompiled_ns);
    measured.state.store(takes ? State::compiled : State::slower);
    if (takes) current_[i].store(offers_[i].kernel.get(), std::memory_order_release);
  }
  stage_.store(Stage::settled, std::memory_order_release);
}

const Kernel* Replacement::candidate(size_t i) const {
  return measured_[i].state.load() == State::measuring ? offers_[i].kernel.get() : nullptr;
}

void Replacement::add_measured(size_t i, uint32_t precompiled_ns, uint32_t compiled_ns) {
  keep_least(measured_[i].precompiled_ns, std::max(precompiled_ns, 1u));
  keep_least(measured_[i].compiled_ns, std::max(compiled_ns, 1u));
}

void Replacement::refuse(size_t i, State state) { measured_[i].state.store(state); }

KernelReplacement Replacement::report(size_t i) const {
  const Stage at = stage();
  const bool has_offers = at == Stage::measuring || at == Stage::settled;
  return {measured_[i].state.load(), has_offers ? offers_[i].steps : 0,
          measured_[i].precompiled_ns.load(), measured_[i].compiled_ns.load()};
}

std::string Replacement::why() const { return stage() == Stage::failed ? why_ : std::string(); }

}  // namespace hoist::graph::program
