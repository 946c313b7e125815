// Kernels of a program in which compiled functions do stretches of steps.
//
//   Alternatives made(*program);
//   const Result<px::Code> code = made.code();
//   …  is compiled
//   program->replacement().offer(*std::move(made).offers(module));
#pragma once

#include <map>
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
  size_t stretches() const { return parts_.size(); }
  size_t functions() const { return module_.kernels().size(); }
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

  LoweredStretch lowered(const Loop& loop, const Stretch& stretch, bool fuses);

  ir::Module module_{"program"};
  std::map<std::string, const ir::Kernel*> known_;  // by their code
  std::vector<program::Kernel> kernels_;
  std::vector<Part> parts_;
};

}  // namespace hoist::graph::native
