#include "graph/native/alternative.h"

#include <algorithm>

#include "graph/program/steps.h"
#include "ir/verify.h"

namespace hoist::graph::native {
namespace {

class CompiledStretch : public program::CompiledSteps {
 public:
  CompiledStretch(std::vector<uint32_t> slots, bool is_flat,
                  std::shared_ptr<const px::CpuModule> module, px::CpuKernel* kernel)
      : CompiledSteps(std::move(slots), is_flat), module_(std::move(module)), kernel_(kernel) {}

  void run(void* const* arrays, int64_t rows, int64_t columns) const override {
    static constexpr uint64_t kLengths[kMostSlots] = {};  // bounds are not checked
    const px::CpuLaunch launch = {
        {1, 1, 1}, {static_cast<uint32_t>(columns), static_cast<uint32_t>(rows), 1},
        arrays,    kLengths,
        kLengths,  nullptr};
    kernel_(&launch, 0, 1);
  }

 private:
  const std::shared_ptr<const px::CpuModule> module_;
  px::CpuKernel* const kernel_;
};

}  // namespace

Alternatives::Alternatives(const program::Program& program) : kernels_(program.kernels()) {
  const bool fuses = program::steps().fuses;
  for (size_t kernel = 0; kernel < kernels_.size(); ++kernel) {
    for (size_t loop = 0; loop < kernels_[kernel].loops.size(); ++loop) {
      const Loop& of = kernels_[kernel].loops[loop];
      for (const Stretch& stretch : find_stretches(of)) {
        parts_.push_back({kernel, loop, stretch, lowered(of, stretch, fuses)});
      }
    }
  }
}

// Programs repeat themselves: layers of a network have the same code.
LoweredStretch Alternatives::lowered(const Loop& loop, const Stretch& stretch, bool fuses) {
  ir::Module alone("stretch");
  LoweredStretch made = lower_stretch(alone, "k", loop, stretch, fuses);
  const ir::Kernel*& known = known_[px::emit_cpp(alone, false).text];
  if (known == nullptr) {
    const std::string name = "k" + std::to_string(known_.size());
    known = lower_stretch(module_, name, loop, stretch, fuses).kernel;
  }
  made.kernel = known;
  return made;
}

Result<px::Code> Alternatives::code() {
  const std::vector<ir::Problem> problems = ir::verify(module_);
  if (!problems.empty()) {
    return fail(ErrorCode::internal, "a program's steps in the IR: " + problems.front().message);
  }
  return px::emit_cpp(module_, false);
}

Result<std::vector<program::Offer>> Alternatives::offers(
    std::shared_ptr<const px::CpuModule> compiled) && {
  std::vector<program::Offer> offers(kernels_.size());
  // From the last one on: those before keep their places.
  for (size_t i = parts_.size(); i-- > 0;) {
    Part& part = parts_[i];
    px::CpuKernel* const function = compiled->kernel(px::cpp_entry_name(*part.lowered.kernel));
    if (function == nullptr) {
      return fail(ErrorCode::internal, "compiled code lacks a function: remove the cache's files");
    }
    offers[part.kernel].steps += part.stretch.steps();
    Loop& loop = kernels_[part.kernel].loops[part.loop];
    std::vector<LoopStep>& steps = loop.phases[part.stretch.phase].steps;
    LoopStep step;
    step.kind = LoopStep::Kind::compiled;
    step.compiled = std::make_shared<CompiledStretch>(std::move(part.lowered.slots),
                                                      part.stretch.is_flat, compiled, function);
    const auto first = steps.begin() + static_cast<std::ptrdiff_t>(part.stretch.begin);
    *first = std::move(step);
    steps.erase(first + 1, steps.begin() + static_cast<std::ptrdiff_t>(part.stretch.end));
  }
  for (size_t kernel = 0; kernel < kernels_.size(); ++kernel) {
    if (offers[kernel].steps == 0) continue;
    offers[kernel].kernel = std::make_unique<const program::Kernel>(std::move(kernels_[kernel]));
  }
  return offers;
}

}  // namespace hoist::graph::native
