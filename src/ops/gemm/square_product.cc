#include "ops/gemm/square_product.h"

#include <cstring>

#include "ops/gemm/plan.h"

namespace hoist::gemm {
namespace {

template <typename Real>
void fill(std::vector<std::byte>& matrix, uint64_t state) {
  for (size_t at = 0; at < matrix.size(); at += sizeof(Real)) {
    // xorshift64 (Marsaglia, Journal of Statistical Software 8(14), 2003): good enough, and fast
    // for gigabytes.
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const auto value =
        static_cast<Real>(static_cast<double>(static_cast<int64_t>(state)) * 0x1p-63);
    std::memcpy(matrix.data() + at, &value, sizeof value);
  }
}

}  // namespace

SquareProduct::SquareProduct(char type, int64_t extent) {
  const size_t bytes = static_cast<size_t>(extent * extent) * element_size(type);
  for (std::vector<std::byte>* const matrix : {&a_, &b_, &c_}) matrix->resize(bytes);
  const bool is_single = type == 's' || type == 'c';
  uint64_t seed = 1;
  for (std::vector<std::byte>* const matrix : {&a_, &b_}) {
    is_single ? fill<float>(*matrix, seed++) : fill<double>(*matrix, seed++);
  }
  call_.routine = HOIST_BLAS_GEMM;
  call_.type = type;
  call_.trans_a = call_.trans_b = 'N';
  call_.m = call_.n = call_.k = call_.lda = call_.ldb = call_.ldc = extent;
  call_.alpha[0] = 1;
  call_.a = a_.data();
  call_.b = b_.data();
  call_.c = c_.data();
}

}  // namespace hoist::gemm
