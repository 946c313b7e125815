// Matrices that stay packed.
#include "hoist/packed.h"

#include <fmt/core.h>

#include <cstring>
#include <span>
#include <utility>

#include "capi/status.h"
#include "capi/structs.h"
#include "device/device.h"
#include "tensors/packed/resident_matrix.h"

namespace packed = hoist::tensors::packed;
using namespace hoist::capi;
using hoist::ErrorCode;
using hoist::Result;
using hoist::Status;
using hoist::device::Device;

struct hoist_packed_matrix {
  packed::ResidentMatrix matrix;
};

namespace {

Result<packed::PlainMatrix> plain_matrix(const void* weights, uint64_t rows, uint64_t columns) {
  if (Status fits = packed::check_extents(rows, columns); !fits) return fits.error();
  if (rows != 0 && columns != 0) {
    if (Status there = needed(weights, "weights"); !there) return there.error();
  }
  return packed::PlainMatrix{static_cast<const uint16_t*>(weights), static_cast<uint32_t>(rows),
                             static_cast<uint32_t>(columns), columns};
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
    const Result<packed::PlainMatrix> plain = plain_matrix(weights, rows, columns);
    if (!plain) return plain.error();
    const Result<packed::Prediction> made = packed::predict_packing(**found, *plain, {stream});
    if (!made) return made.error();
    give(form_of(made->shape, made->most_in_row), *size, form);
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
    const Result<packed::PlainMatrix> plain = plain_matrix(weights, rows, columns);
    if (!plain) return plain.error();
    Result<packed::ResidentMatrix> made = packed::ResidentMatrix::pack(**found, *plain, {stream});
    if (!made) return made.error();
    *matrix = new hoist_packed_matrix{*std::move(made)};
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
    if (escapes > UINT32_MAX) {
      return hoist::fail(ErrorCode::invalid_argument, "a packed matrix has less than 2^32 escapes");
    }
    const packed::Shape shape = {static_cast<uint32_t>(rows), static_cast<uint32_t>(columns),
                                 static_cast<uint32_t>(escapes)};
    Result<packed::ResidentMatrix> made = packed::ResidentMatrix::import(
        **found, std::span(static_cast<const std::byte*>(packed_bytes), bytes), shape);
    if (!made) return made.error();
    *matrix = new hoist_packed_matrix{*std::move(made)};
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
    hoist_packed_form own = form_of(matrix->matrix.shape(), matrix->matrix.most_in_row());
    own.data = matrix->matrix.data();
    give(own, *size, form);
    return {};
  });
}

hoist_status hoist_packed_unpack(const hoist_packed_matrix* matrix, void* stream, void* weights) {
  return guarded([&]() -> Status {
    if (Status there = needed(matrix, "matrix"); !there) return there;
    if (matrix->matrix.shape().weights() == 0) return {};
    if (Status there = needed(weights, "weights"); !there) return there;
    return matrix->matrix.unpack(static_cast<uint16_t*>(weights), {stream});
  });
}

hoist_status hoist_packed_unpack_rows(const hoist_packed_matrix* matrix, void* stream,
                                      const int64_t* rows, uint64_t count, void* weights) {
  return guarded([&]() -> Status {
    if (Status there = needed(matrix, "matrix"); !there) return there;
    if (count == 0 || matrix->matrix.shape().columns == 0) return {};
    if (Status there = needed(rows, "rows"); !there) return there;
    if (Status there = needed(weights, "weights"); !there) return there;
    return matrix->matrix.unpack_rows(rows, count, static_cast<uint16_t*>(weights), {stream});
  });
}

hoist_status hoist_packed_multiply(const hoist_packed_matrix* matrix,
                                   const hoist_packed_product* product) {
  return guarded([&]() -> Status {
    if (Status there = needed(matrix, "matrix"); !there) return there;
    if (Status there = needed(product, "product"); !there) return there;
    const auto own = options_of(product, "hoist_packed_product");
    if (!own) return own.error();
    const Result<packed::Operands> operands = operands_of(matrix->matrix.shape(), *own);
    if (!operands) return operands.error();
    return matrix->matrix.multiply(*operands, {own->stream});
  });
}

}  // extern "C"
