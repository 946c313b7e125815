// Packed matrices on a GPU: the same form, bit for bit, as tensors/packed/pack.h makes.
//
//   Result<GpuPlan> plan = plan_on_gpu(stream, {weights, rows, columns, columns});
//   if (plainness(plan->shape, plan->most_in_row) != Plainness::packed) …  // leave it plain
//   Result<Buffer> bytes = Buffer::allocate(stream.device(), plan->shape.bytes());
//   Status packed = pack_on_gpu(stream, matrix, *plan, bytes->data());
//
// All addresses are memory of the stream's device, those of views included. What is not said to
// wait puts its work on the stream and returns; all of it may be recorded as a CUDA graph, but for
// products that are not fused. Errors: those of device/kernel.h, and `invalid_argument` as on the
// CPU.
#pragma once

#include <cstdint>

#include "device/buffer.h"
#include "device/stream.h"
#include "tensors/packed/matmul.h"
#include "tensors/packed/matrix.h"
#include "tensors/packed/pack.h"

namespace hoist::tensors::packed {

struct GpuPlan {
  Shape shape;
  uint32_t most_in_row = 0;
  device::Buffer tables;  // factors of the row blocks, then where each row's escapes begin
};

// Waits for the stream, which must outlive the plan.
Result<GpuPlan> plan_on_gpu(const device::Stream& stream, const PlainMatrix& matrix);

// `bytes`: plan.shape.bytes() at a multiple of 256.
Status pack_on_gpu(const device::Stream& stream, const PlainMatrix& matrix, const GpuPlan& plan,
                   void* bytes);

// As check_contents(), which says more of what is wrong. Waits for the stream. What is below must
// not be asked of a view that has not passed.
Status check_contents_on_gpu(const device::Stream& stream, const View& view);

// All rows, without gaps.
Status unpack_on_gpu(const device::Stream& stream, const View& view, uint16_t* weights);

// The rows of these numbers; a number that is no row's gives a row of NaNs.
struct RowNumbers {
  const void* numbers = nullptr;
  bool are_wide = true;  // int64, else int32
  uint64_t count = 0;
};
Status unpack_rows_on_gpu(const device::Stream& stream, const View& view, const RowNumbers& rows,
                          uint16_t* weights);

// Products of so many rows of x and fewer read the packed weights and nothing else. On GPUs of
// compute capability 9.0 those of up to kMostFusedWide rows do so, too, with memory from the
// device's pool for x and for parts of sums. Of more the matrix is unpacked into memory from the
// pool, and the library multiplies.
inline constexpr uint64_t kMostFused = 32;
inline constexpr uint64_t kMostFusedWide = 256;

// As matmul(). Results are the same for the same operands, shapes and kind of GPU. Where
// the library multiplies they are cuBLASLt's (`unavailable` without it), and the bias and the
// activation are applied to its rounded result.
//
// A fused product may read packed weights before the work in front of it on the stream has ended:
// weights must not be written by a kernel that lets others start early (programmatic dependent
// launch). What writes them here does not.
//
// `wide` prefers, for 33 to 256 rows of x, the kernel that reads packed weights alone, whether it
// is faster or not; without it the faster way is taken.
enum class Way : uint8_t { fastest, wide };
Status matmul_on_gpu(const device::Stream& stream, const View& view, const Operands& operands,
                     Way way = Way::fastest);

}  // namespace hoist::tensors::packed
