// --verify for a call: the program's own BLAS repeats it, and the two results are compared.
#pragma once

#include <cstddef>
#include <memory>

#include "ops/gemm/call.h"

namespace hoist::gemm {

class Verification {
 public:
  // Keeps what the original needs: C as it is before the call. Empty (see can_compare()) where
  // memory is short, or for trsm, whose error depends on the condition of A.
  explicit Verification(const hoist_blas_call& call);

  // Null, or why there is nothing to compare.
  const char* left_out() const { return left_out_; }

  // Runs the original on what was kept and compares with what is in C now, element by element:
  // both differ from the exact result by at most
  //   γ(k + 2) |alpha| ‖a‖ ‖b‖ + γ(2) |beta c|,   γ(n) = n u / (1 - n u), four times that if
  //   complex
  // with the greatest Euclidean norms of A's rows and B's columns (Higham, Accuracy and Stability
  // of Numerical Algorithms, 2002, 3.5 and 3.6), so from one another by twice that.
  // Elements that are not finite must not be so in both; what is not finite in A and B is left out
  // of the norms.
  bool is_same(const hoist_blas_original& original);
  // Puts the original's result in the place of ours; after is_same().
  void restore();

 private:
  const hoist_blas_call& call_;
  const char* left_out_ = nullptr;
  size_t element_ = 0;
  std::unique_ptr<std::byte[]> kept_;
};

}  // namespace hoist::gemm
