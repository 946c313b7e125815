#include "tensors/packed/resident_matrix.h"

#include <fmt/core.h>

#include <utility>

#include "tensors/packed/gpu.h"

namespace hoist::tensors::packed {
namespace {

using device::Buffer;
using device::Device;
using device::Stream;
using device::StreamHandle;

bool is_cpu(const Device& device) { return device.properties().kind == device::DeviceKind::cpu; }

Stream stream_on(Device& device, StreamHandle stream) {
  constexpr uintptr_t kLegacyStream = 1;
  if (stream.pointer == nullptr) stream.pointer = reinterpret_cast<void*>(kLegacyStream);
  return Stream::borrow(device, stream);
}

}  // namespace

Result<Prediction> predict_packing(Device& device, const PlainMatrix& matrix, StreamHandle stream) {
  if (Status fits = check_extents(matrix.rows, matrix.columns); !fits) return fits.error();
  if (is_cpu(device)) {
    const Result<Plan> plan = plan_packing(matrix);
    if (!plan) return plan.error();
    return Prediction{plan->shape, plan->most_in_row};
  }
  const Stream on = stream_on(device, stream);
  const Result<GpuPlan> plan = plan_on_gpu(on, matrix);
  if (!plan) return plan.error();
  return Prediction{plan->shape, plan->most_in_row};
}

Result<ResidentMatrix> ResidentMatrix::allocate(Device& device, const Shape& shape) {
  Result<Buffer> bytes = Buffer::allocate(device, shape.bytes());
  if (!bytes) return bytes.error();
  const Result<View> view = view_of(bytes->data(), shape.bytes(), shape);
  if (!view) return view.error();
  return ResidentMatrix(*std::move(bytes), *view);
}

Result<ResidentMatrix> ResidentMatrix::pack(Device& device, const PlainMatrix& matrix,
                                            StreamHandle stream) {
  if (Status fits = check_extents(matrix.rows, matrix.columns); !fits) return fits.error();
  if (is_cpu(device)) {
    const Result<Plan> plan = plan_packing(matrix);
    if (!plan) return plan.error();
    Result<ResidentMatrix> made = allocate(device, plan->shape);
    if (!made) return made;
    made->most_in_row_ = plan->most_in_row;
    const std::span to(static_cast<std::byte*>(made->bytes_.data()), plan->shape.bytes());
    if (Status done = packed::pack(matrix, *plan, to); !done) return done.error();
    return made;
  }
  const Stream on = stream_on(device, stream);
  const Result<GpuPlan> plan = plan_on_gpu(on, matrix);
  if (!plan) return plan.error();
  Result<ResidentMatrix> made = allocate(device, plan->shape);
  if (!made) return made;
  made->most_in_row_ = plan->most_in_row;
  Status done = pack_on_gpu(on, matrix, *plan, made->bytes_.data());
  if (done) done = device.synchronize(on.handle());
  if (!done) return done.error();
  return made;
}

Result<ResidentMatrix> ResidentMatrix::import(Device& device, std::span<const std::byte> bytes,
                                              const Shape& shape) {
  if (Status fits = check_extents(shape.rows, shape.columns); !fits) return fits.error();
  if (bytes.size() != shape.bytes()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} bytes are no packed matrix of {} x {} with {} escapes",
                            bytes.size(), shape.rows, shape.columns, shape.escapes));
  }
  Result<ResidentMatrix> made = allocate(device, shape);
  if (!made) return made;
  Status done = made->bytes_.upload(bytes);
  if (done) done = made->check();
  if (!done) return done.error();
  return made;
}

Status ResidentMatrix::check() const {
  if (is_cpu(device())) return check_contents(view_);
  return check_contents_on_gpu(stream_on(device(), {}), view_);
}

Status ResidentMatrix::unpack(uint16_t* weights, StreamHandle stream) const {
  if (is_cpu(device())) return packed::unpack(view_, std::span(weights, shape().weights()));
  return unpack_on_gpu(stream_on(device(), stream), view_, weights);
}

Status ResidentMatrix::unpack_rows(const int64_t* rows, uint64_t count, uint16_t* weights,
                                   StreamHandle stream) const {
  if (is_cpu(device())) {
    return packed::unpack_rows(view_, std::span(rows, count),
                               std::span(weights, count * shape().columns));
  }
  return unpack_rows_on_gpu(stream_on(device(), stream), view_, {rows, true, count}, weights);
}

Status ResidentMatrix::multiply(const Operands& operands, StreamHandle stream) const {
  if (is_cpu(device())) return matmul(view_, operands);
  return matmul_on_gpu(stream_on(device(), stream), view_, operands);
}

}  // namespace hoist::tensors::packed
