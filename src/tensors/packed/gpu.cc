#include "tensors/packed/gpu.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "device/kernel.h"
#include "tensors/packed/gpu_job.h"
#include "tensors/packed/library_product.h"

namespace hoist::tensors::packed {
namespace {

using device::Buffer;
using device::Kernel;
using device::Stream;

constinit const Kernel<const PlainJob*, uint32_t*, uint32_t*, PlanTotals*> plan_rows(
    "hoist_cuda_packed_plan", "plan a packed matrix");
constinit const Kernel<const PlainJob*, const MatrixJob*> pack_tiles("hoist_cuda_packed_pack",
                                                                     "pack a matrix");
constinit const Kernel<const MatrixJob*, uint32_t*> check_tables("hoist_cuda_packed_check",
                                                                 "check a packed matrix");
constinit const Kernel<const MatrixJob*, uint16_t*> unpack_tiles("hoist_cuda_packed_unpack",
                                                                 "unpack a matrix");
constinit const Kernel<const MatrixJob*, const void*, int, uint64_t, uint16_t*> unpack_lines(
    "hoist_cuda_packed_rows", "unpack rows of a matrix");
constinit const Kernel<const MatrixJob*, const ProductJob*> multiply("hoist_cuda_packed_multiply",
                                                                     "multiply by a packed matrix");

constinit const Kernel<const MatrixJob*, uint32_t, uint64_t*> find_wide_bytes(
    "hoist_cuda_packed_wide_bytes", "plan a product with a packed matrix");
constinit const Kernel<const MatrixJob*, const ProductJob*, void*> multiply_wide(
    "hoist_cuda_packed_multiply_wide", "multiply by a packed matrix");
constinit const Kernel<const ProductJob*, uint32_t> finish("hoist_cuda_packed_finish",
                                                           "end a product");

MatrixJob job_of(const View& view) {
  return {.tiles = const_cast<uint16_t*>(view.tiles),
          .factors = const_cast<uint32_t*>(view.factors),
          .row_escapes = const_cast<uint32_t*>(view.row_escapes),
          .escapes = const_cast<Escape*>(view.escapes),
          .rows = view.shape.rows,
          .columns = view.shape.columns,
          .escape_count = view.shape.escapes};
}

PlainJob job_of(const PlainMatrix& matrix) {
  return {matrix.weights, matrix.row_stride, matrix.rows, matrix.columns};
}

template <typename T>
Status read_back(const Stream& stream, const Buffer& buffer, T& value) {
  device::Device& device = stream.device();
  Status done = device.copy(&value, buffer.data(), sizeof value, stream.handle());
  if (done) done = device.synchronize(stream.handle());
  return done;
}

// Calls multiply(part) for all rows of x, at most so many at a time.
template <typename Multiply>
Status in_parts(ProductJob product, uint32_t most, const Multiply& multiply) {
  for (uint32_t left = product.count; left != 0;) {
    product.count = std::min(left, most);
    if (Status done = multiply(product); !done) return done;
    left -= product.count;
    product.x += product.count * product.x_stride;
    product.y += product.count * product.y_stride;
  }
  return {};
}

Status launch_fused(const Stream& stream, const View& view, const ProductJob& product) {
  const MatrixJob job = job_of(view);
  return in_parts(product, kMostFused,
                  [&](const ProductJob& part) { return multiply.launch(stream, &job, &part); });
}

// With many rows of x the library gains more than unpacking costs, first of small matrices: their
// unpacked weights stay in the second-level cache (docs/measurements/tensors.md).
bool gains_by_wide(const Shape& shape, uint64_t count) {
  constexpr uint64_t kMiB = 1 << 20;
  const uint64_t least = count <= 64 ? 16 : count <= 192 ? 40 : 256;
  return shape.plain_bytes() > least * kMiB;
}

// Bytes that multiply_wide wants; 0 where the GPU has no such kernel.
Result<uint64_t> wide_bytes(const Stream& stream, const View& view, uint64_t count) {
  if (count > kMostFusedWide || view.shape.columns == 0) return uint64_t{0};
  const MatrixJob job = job_of(view);
  uint64_t bytes = 0;
  const auto rows = static_cast<uint32_t>(count);
  if (Status found = find_wide_bytes.launch(stream, &job, rows, &bytes); !found) {
    return found.error();
  }
  return bytes;
}

Status launch_wide(const Stream& stream, const View& view, const ProductJob& product,
                   uint64_t bytes) {
  Result<Buffer> memory = Buffer::allocate(stream, bytes);
  if (!memory) return memory.error();
  const MatrixJob job = job_of(view);
  return multiply_wide.launch(stream, &job, &product, memory->data());
}

uint64_t factors_bytes(const Shape& shape) { return shape.row_blocks() * sizeof(uint32_t); }
uint64_t row_escapes_bytes(const Shape& shape) {
  return (uint64_t{shape.rows} + 1) * sizeof(uint32_t);
}

}  // namespace

Result<GpuPlan> plan_on_gpu(const Stream& stream, const PlainMatrix& matrix) {
  if (Status fits = check_extents(matrix.rows, matrix.columns); !fits) return fits.error();
  GpuPlan plan;
  plan.shape = {matrix.rows, matrix.columns, 0};
  // From the pool: to free other memory waits for all of the device's work, that of a loader
  // included.
  Result<Buffer> tables =
      Buffer::allocate(stream, factors_bytes(plan.shape) + row_escapes_bytes(plan.shape));
  if (!tables) return tables.error();
  plan.tables = std::move(*tables);
  const Result<Buffer> found = Buffer::allocate(stream, sizeof(PlanTotals));
  if (!found) return found.error();
  auto* const factors = static_cast<uint32_t*>(plan.tables.data());
  const PlainJob job = job_of(matrix);
  PlanTotals totals = {};
  Status done = plan_rows.launch(stream, &job, factors, factors + plan.shape.row_blocks(),
                                 static_cast<PlanTotals*>(found->data()));
  if (done) done = read_back(stream, *found, totals);
  if (!done) return done.error();
  if (totals.escapes > std::numeric_limits<uint32_t>::max()) {
    return fail(ErrorCode::unsupported, "a packed matrix has less than 2^32 escapes");
  }
  plan.shape.escapes = static_cast<uint32_t>(totals.escapes);
  plan.most_in_row = totals.most_in_row;
  return plan;
}

Status pack_on_gpu(const Stream& stream, const PlainMatrix& matrix, const GpuPlan& plan,
                   void* bytes) {
  const Shape& shape = plan.shape;
  const Result<View> view = view_of(bytes, shape.bytes(), shape);
  if (!view) return view.error();
  if (matrix.rows != shape.rows || matrix.columns != shape.columns) {
    return fail(ErrorCode::invalid_argument, "the plan is of a matrix of another shape");
  }
  // What lies between the parts becomes 0: the tables are small beside the tiles.
  auto* const begin = static_cast<std::byte*>(bytes);
  const auto* const tables = static_cast<const std::byte*>(plan.tables.data());
  device::Device& device = stream.device();
  const uint64_t tables_bytes = shape.bytes() - shape.factors_at();
  Status done = device.fill(begin + shape.factors_at(), {}, tables_bytes, stream.handle());
  if (done && shape.tiles_bytes() != shape.factors_at()) {
    done = device.fill(begin + shape.tiles_bytes(), {}, shape.factors_at() - shape.tiles_bytes(),
                       stream.handle());
  }
  if (done && shape.rows != 0) {
    done = device.copy(begin + shape.factors_at(), tables, factors_bytes(shape), stream.handle());
  }
  if (done) {
    done = device.copy(begin + shape.row_escapes_at(), tables + factors_bytes(shape),
                       row_escapes_bytes(shape), stream.handle());
  }
  if (!done || shape.weights() == 0) return done;
  const PlainJob plain = job_of(matrix);
  const MatrixJob job = job_of(*view);
  return pack_tiles.launch(stream, &plain, &job);
}

Status check_contents_on_gpu(const Stream& stream, const View& view) {
  Result<Buffer> found = Buffer::allocate(stream, sizeof(uint32_t));
  if (!found) return found.error();
  const MatrixJob job = job_of(view);
  uint32_t faults = 0;
  Status done = stream.device().fill(found->data(), {}, sizeof faults, stream.handle());
  if (done) done = check_tables.launch(stream, &job, static_cast<uint32_t*>(found->data()));
  if (done) done = read_back(stream, *found, faults);
  if (!done || faults == 0) return done;
  return fail(ErrorCode::corrupt, fmt::format("packed matrix: {} of its rows and row blocks have "
                                              "tables that do not fit",
                                              faults));
}

Status unpack_on_gpu(const Stream& stream, const View& view, uint16_t* weights) {
  if (view.shape.weights() == 0) return {};
  const MatrixJob job = job_of(view);
  return unpack_tiles.launch(stream, &job, weights);
}

Status unpack_rows_on_gpu(const Stream& stream, const View& view, const RowNumbers& rows,
                          uint16_t* weights) {
  if (rows.count == 0 || view.shape.columns == 0) return {};
  const MatrixJob job = job_of(view);
  return unpack_lines.launch(stream, &job, rows.numbers, rows.are_wide ? 1 : 0, rows.count,
                             weights);
}

Status matmul_on_gpu(const Stream& stream, const View& view, const Operands& operands, Way way) {
  if (Status checked = check_operands(view.shape, operands); !checked) return checked;
  if (operands.count == 0 || view.shape.rows == 0) return {};
  if (operands.count > std::numeric_limits<uint32_t>::max()) {
    return fail(ErrorCode::unsupported, "a product with 2^32 rows and more");
  }
  const ProductJob product = {.x = operands.x,
                              .x_stride = operands.x_stride,
                              .y = operands.y,
                              .y_stride = operands.y_stride,
                              .bias = operands.bias,
                              .count = static_cast<uint32_t>(operands.count),
                              .activation = operands.activation};
  const bool is_fused = operands.count <= kMostFused || view.shape.columns == 0;
  if (is_fused) return launch_fused(stream, view, product);
  if (way == Way::wide || gains_by_wide(view.shape, operands.count)) {
    const Result<uint64_t> wide = wide_bytes(stream, view, operands.count);
    if (!wide) return wide.error();
    if (*wide != 0) return launch_wide(stream, view, product, *wide);
  }
  Result<Buffer> weights = Buffer::allocate(stream, view.shape.plain_bytes());
  if (!weights) return weights.error();
  auto* const plain = static_cast<uint16_t*>(weights->data());
  Status done = unpack_on_gpu(stream, view, plain);
  if (done) done = library_product(stream, plain, view.shape, operands);
  if (!done || (operands.bias == nullptr && operands.activation == Activation::none)) return done;
  return finish.launch(stream, &product, view.shape.rows);
}

}  // namespace hoist::tensors::packed
