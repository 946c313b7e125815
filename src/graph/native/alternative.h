// Kernels of a program in which compiled functions do stretches of steps.
//
//   Alternatives made(*program);
//   const Result<px::Code> code = made.code();
//   …  is compiled
//   program->replacement().offer(*std::move(made).offers(module));
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/native/lower_stretch.h"
#include "graph/program/program.h"
#include "ir/module.h"
#include "px/compile/cpu_module.h"

namespace hoist::graph::native {

class Alternatives {
 public:
  // Kernels of a program as functions of a module. The program may be gone once that is done.
  explicit Alternatives(const program::Program& program);

  // Whether any kernel has steps that a function can do.
  bool has_any() const { return !parts_.empty(); }
  // C++ of all functions.
  Result<px::Code> code();
  // An offer for each kernel.
  Result<std::vector<program::Offer>> offers(std::shared_ptr<const px::CpuModule> compiled) &&;

 private:
  struct Part {
    size_t kernel = 0;
    size_t loop = 0;
    Stretch stretch;
    LoweredStretch lowered;
  };

  ir::Module module_{"program"};
  std::vector<program::Kernel> kernels_;
  std::vector<Part> parts_;
};

}  // namespace hoist::graph::native
