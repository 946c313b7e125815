// Matrices that stay packed.
#include "hoist/packed.h"

#include <fmt/core.h>

#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "capi/status.h"
#include "capi/structs.h"
#include "device/device.h"
#include "tensors/packed/gpu.h"

namespace packed = hoist::tensors::packed;
using namespace hoist::capi;
using hoist::ErrorCode;
using hoist::Result;
using hoist::Status;
using hoist::device::Buffer;
using hoist::device::Device;
using hoist::device::Stream;

struct hoist_packed_matrix {
  Device* device = nullptr;
  Buffer bytes;
  packed::View view;
  uint32_t most_in_row = 0;
};

namespace {

bool is_cpu(const Device& device) {
  return device.properties().kind == hoist::device::DeviceKind::cpu;
}

Stream stream_of(Device& device, void* stream) {
  constexpr uintptr_t kLegacyStream = 1;
  void* const handle = stream != nullptr ? stream : reinterpret_cast<void*>(kLegacyStream);
  return Stream::borrow(device, {handle});
}

// What planning gave, on whatever device.
struct Planned {
  packed::PlainMatrix matrix;
  packed::Shape shape;
  uint32_t most_in_row = 0;
  std::optional<packed::Plan> on_cpu;
  std::optional<packed::GpuPlan> on_gpu;
};

Result<Planned> plan(Device& device, const void* weights, uint64_t rows, uint64_t columns,
                     void* stream) {
  if (Status fits = packed::check_extents(rows, columns); !fits) return fits.error();
  Planned planned;
  planned.matrix = {static_cast<const uint16_t*>(weights), static_cast<uint32_t>(rows),
                    static_cast<uint32_t>(columns), columns};
  if (rows != 0 && columns != 0) {
    if (Status there = needed(weights, "weights"); !there) return there.error();
  }
  if (is_cpu(device)) {
    Result<packed::Plan> made = packed::plan_packing(planned.matrix);
    if (!made) return made.error();
    planned.shape = made->shape;
    planned.most_in_row = made->most_in_row;
    planned.on_cpu = std::move(*made);
  } else {
    Result<packed::GpuPlan> made = packed::plan_on_gpu(stream_of(device, stream), planned.matrix);
    if (!made) return made.error();
    planned.shape = made->shape;
    planned.most_in_row = made->most_in_row;
    planned.on_gpu = std::move(*made);
  }
  return planned;
}

hoist_packed_form form_of(const packed::Shape& shape, uint32_t most_in_row) {
  const packed::Plainness found = packed::plainness(shape, most_in_row);
  hoist_packed_form form{};
  form.rows = shape.rows;
  form.columns = shape.columns;
  form.escapes = shape.escapes;
  form.most_in_row = most_in_row;
  form.bytes = shape.bytes();
  form.plain_bytes = shape.plain_bytes();
  form.reason = found == packed::Plainness::packed ? "" : packed::reason(found);
  return form;
}

Result<Device*> device_named(const char* name) {
  if (Status there = needed(name, "device"); !there) return there.error();
  return hoist::device::find_device(name);
}

Status allocate(Device& device, const packed::Shape& shape, hoist_packed_matrix& matrix) {
  Result<Buffer> bytes = Buffer::allocate(device, shape.bytes());
  if (!bytes) return bytes.error();
  matrix.device = &device;
  matrix.bytes = std::move(*bytes);
  const Result<packed::View> view = packed::view_of(matrix.bytes.data(), shape.bytes(), shape);
  if (!view) return view.error();
  matrix.view = *view;
  return {};
}

Status pack(const Planned& planned, void* stream, hoist_packed_matrix& matrix) {
  if (Status made = allocate(*matrix.device, planned.shape, matrix); !made) return made;
  matrix.most_in_row = planned.most_in_row;
  if (planned.on_cpu) {
    return packed::pack(
        planned.matrix, *planned.on_cpu,
        std::span(static_cast<std::byte*>(matrix.bytes.data()), planned.shape.bytes()));
  }
  const Stream on = stream_of(*matrix.device, stream);
  Status done = packed::pack_on_gpu(on, planned.matrix, *planned.on_gpu, matrix.bytes.data());
  if (done) done = matrix.device->synchronize(on.handle());
  return done;
}

Status check(const hoist_packed_matrix& matrix) {
  if (is_cpu(*matrix.device)) return packed::check_contents(matrix.view);
  return packed::check_contents_on_gpu(stream_of(*matrix.device, nullptr), matrix.view);
}

Result<packed::Activation> activation_of(const char* name) {
  constexpr const char* kNames[] = {"none", "relu", "gelu", "gelu_tanh", "silu"};
  static_assert(std::size(kNames) == packed::kActivations);
  for (uint32_t i = 0; i < packed::kActivations; ++i) {
    if (std::strcmp(name == nullptr ? "none" : name, kNames[i]) == 0) {
      return static_cast<packed::Activation>(i);
    }
  }
  return hoist::fail(ErrorCode::invalid_argument,
                     fmt::format("activation {}: relu, gelu, gelu_tanh or silu", name));
}

Result<packed::Operands> operands_of(const packed::Shape& shape,
                                     const hoist_packed_product& product) {
  const Result<packed::Activation> activation = activation_of(product.activation);
  if (!activation) return activation.error();
  if (product.count != 0 && shape.columns != 0) {
    if (Status there = needed(product.x, "x"); !there) return there.error();
  }
  if (product.count != 0 && shape.rows != 0) {
    if (Status there = needed(product.y, "y"); !there) return there.error();
  }
  packed::Operands operands;
  operands.x = static_cast<const uint16_t*>(product.x);
  operands.count = product.count;
  operands.x_stride = product.x_stride != 0 ? product.x_stride : shape.columns;
  operands.y = static_cast<uint16_t*>(product.y);
  operands.y_stride = product.y_stride != 0 ? product.y_stride : shape.rows;
  operands.bias = static_cast<const uint16_t*>(product.bias);
  operands.activation = *activation;
  return operands;
}

}  // namespace

extern "C" {

hoist_status hoist_packed_plan(const char* device, const void* weights, uint64_t rows,
                               uint64_t columns, void* stream, hoist_packed_form* form) {
  return guarded([&]() -> Status {
    const Result<size_t> size = struct_size(form, "hoist_packed_form");
    if (!size) return size.error();
    give(hoist_packed_form{}, *size, form);
    const Result<Device*> found = device_named(device);
    if (!found) return found.error();
    const Result<Planned> planned = plan(**found, weights, rows, columns, stream);
    if (!planned) return planned.error();
    give(form_of(planned->shape, planned->most_in_row), *size, form);
    return {};
  });
}

hoist_status hoist_packed_pack(const char* device, const void* weights, uint64_t rows,
                               uint64_t columns, void* stream, hoist_packed_matrix** matrix) {
  return guarded([&]() -> Status {
    if (Status there = needed(matrix, "matrix"); !there) return there;
    *matrix = nullptr;
    const Result<Device*> found = device_named(device);
    if (!found) return found.error();
    const Result<Planned> planned = plan(**found, weights, rows, columns, stream);
    if (!planned) return planned.error();
    auto made = std::make_unique<hoist_packed_matrix>();
    made->device = *found;
    if (Status done = pack(*planned, stream, *made); !done) return done;
    *matrix = made.release();
    return {};
  });
}

hoist_status hoist_packed_import(const char* device, const void* packed_bytes, uint64_t bytes,
                                 uint64_t rows, uint64_t columns, uint64_t escapes,
                                 hoist_packed_matrix** matrix) {
  return guarded([&]() -> Status {
    if (Status there = needed(matrix, "matrix"); !there) return there;
    *matrix = nullptr;
    if (Status there = needed(packed_bytes, "packed"); !there) return there;
    const Result<Device*> found = device_named(device);
    if (!found) return found.error();
    if (Status fits = packed::check_extents(rows, columns); !fits) return fits;
    const packed::Shape shape = {static_cast<uint32_t>(rows), static_cast<uint32_t>(columns),
                                 static_cast<uint32_t>(escapes)};
    if (escapes > UINT32_MAX || bytes != shape.bytes()) {
      return hoist::fail(ErrorCode::invalid_argument,
                         fmt::format("{} bytes are no packed matrix of {} x {} with {} escapes",
                                     bytes, rows, columns, escapes));
    }
    auto made = std::make_unique<hoist_packed_matrix>();
    if (Status done = allocate(**found, shape, *made); !done) return done;
    Status done = (*found)->copy(made->bytes.data(), packed_bytes, bytes, {});
    if (done) done = check(*made);
    if (!done) return done;
    *matrix = made.release();
    return {};
  });
}

void hoist_packed_free(hoist_packed_matrix* matrix) { delete matrix; }

hoist_status hoist_packed_describe(const hoist_packed_matrix* matrix, hoist_packed_form* form) {
  return guarded([&]() -> Status {
    const Result<size_t> size = struct_size(form, "hoist_packed_form");
    if (!size) return size.error();
    give(hoist_packed_form{}, *size, form);
    if (Status there = needed(matrix, "matrix"); !there) return there;
    hoist_packed_form own = form_of(matrix->view.shape, matrix->most_in_row);
    own.data = matrix->bytes.data();
    give(own, *size, form);
    return {};
  });
}

hoist_status hoist_packed_unpack(const hoist_packed_matrix* matrix, void* stream, void* weights) {
  return guarded([&]() -> Status {
    if (Status there = needed(matrix, "matrix"); !there) return there;
    const packed::Shape& shape = matrix->view.shape;
    if (shape.weights() == 0) return {};
    if (Status there = needed(weights, "weights"); !there) return there;
    auto* const to = static_cast<uint16_t*>(weights);
    if (is_cpu(*matrix->device))
      return packed::unpack(matrix->view, std::span(to, shape.weights()));
    return packed::unpack_on_gpu(stream_of(*matrix->device, stream), matrix->view, to);
  });
}

hoist_status hoist_packed_unpack_rows(const hoist_packed_matrix* matrix, void* stream,
                                      const int64_t* rows, uint64_t count, void* weights) {
  return guarded([&]() -> Status {
    if (Status there = needed(matrix, "matrix"); !there) return there;
    const packed::Shape& shape = matrix->view.shape;
    if (count == 0 || shape.columns == 0) return {};
    if (Status there = needed(rows, "rows"); !there) return there;
    if (Status there = needed(weights, "weights"); !there) return there;
    auto* const to = static_cast<uint16_t*>(weights);
    if (is_cpu(*matrix->device)) {
      return packed::unpack_rows(matrix->view, std::span(rows, count),
                                 std::span(to, count * shape.columns));
    }
    return packed::unpack_rows_on_gpu(stream_of(*matrix->device, stream), matrix->view,
                                      {rows, true, count}, to);
  });
}

hoist_status hoist_packed_multiply(const hoist_packed_matrix* matrix,
                                   const hoist_packed_product* product) {
  return guarded([&]() -> Status {
    if (Status there = needed(matrix, "matrix"); !there) return there;
    if (Status there = needed(product, "product"); !there) return there;
    const auto own = options_of(product, "hoist_packed_product");
    if (!own) return own.error();
    const Result<packed::Operands> operands = operands_of(matrix->view.shape, *own);
    if (!operands) return operands.error();
    if (is_cpu(*matrix->device)) return packed::matmul(matrix->view, *operands);
    return packed::matmul_on_gpu(stream_of(*matrix->device, own->stream), matrix->view, *operands);
  });
}

}  // extern "C"
