// Small products by one block.
#pragma once

#include <optional>

#include "graph/kernels/evaluation.h"

namespace hoist::graph::kernels {

// A product in one block: several threads make an element, as far as there are few.
class SplitProduct {
 public:
  SplitProduct(KernelWriter& writer, Evaluation& evaluation, const GroupPlan& plan);
  // What may be loaded long before, if nothing in the kernel writes the second matrix.
  void prefetch();
  void emit();

 private:
  void begin(Value first);

  KernelWriter& writer_;
  Evaluation& evaluation_;
  const GroupPlan& plan_;
  int64_t parts_ = 1;
  Value part_ = nullptr;
  Value element_ = nullptr;
  std::optional<Place> place_;
};

}  // namespace hoist::graph::kernels
