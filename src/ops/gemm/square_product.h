// A square product of random matrices, for measuring.
#pragma once

#include <cstddef>
#include <vector>

#include "ops/gemm/call.h"

namespace hoist::gemm {

class SquareProduct {
 public:
  // Values between -1 and 1, the same at every run.
  SquareProduct(char type, int64_t extent);

  const hoist_blas_call& call() const { return call_; }
  const std::vector<std::byte>& result() const { return c_; }

 private:
  std::vector<std::byte> a_;
  std::vector<std::byte> b_;
  std::vector<std::byte> c_;
  hoist_blas_call call_ = {};
};

}  // namespace hoist::gemm
