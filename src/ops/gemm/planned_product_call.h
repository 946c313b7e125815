// How products are asked of the plug-in.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hoist::gemm {

// C = A B, row-major C. Strides in elements.
struct ProductMatrix {
  int64_t row = 0;
  int64_t column = 0;
  int64_t batch = 0;
};
struct ProductShape {
  enum Element : int32_t { f16, bf16, f32, f64 };

  int64_t batch = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  ProductMatrix a;
  ProductMatrix b;
  int64_t result_row = 0;  // from one row of C to the next; 0: without gaps
  int32_t factors = f32;
  int32_t result = f32;
  int32_t uses_tf32 = 0;
  uint32_t alignment = 16;  // of all three, in bytes
  uint64_t most_workspace = 0;
};

struct ProductMemory {
  const void* a;
  const void* b;
  void* c;
  void* workspace;
};

// Beside cudaError_t's own values.
inline constexpr int kNoLibrary = -1;
inline constexpr int kLibraryFailed = -1000;  // less the cublasStatus_t

}  // namespace hoist::gemm
