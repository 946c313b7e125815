// hoist._packed: matrices that stay packed in memory (tensors/packed/matrix.h), for the package's
// PyTorch front. Arrays lie on the CPU or on one GPU, all of a call on the same. On a GPU the work
// is put on the stream that the arrays' framework works on, or on the one that is given, and may
// still be under way when a call returns.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "python/device_array.h"
#include "python/errors.h"
#include "python/main_interpreter.h"
#include "python/packed_arrays.h"
#include "python/packed_matrix.h"
#include "tensors/packed/gpu.h"
#include "tensors/packed/matmul.h"
#include "tensors/packed/pack.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

namespace packed = tensors::packed;

packed::PlainMatrix plain_matrix(const GivenArray& weights) {
  check_bf16(weights, 2);
  check(packed::check_extents(static_cast<uint64_t>(weights.shape[0]),
                              static_cast<uint64_t>(weights.shape[1])));
  return {static_cast<const uint16_t*>(weights.data), static_cast<uint32_t>(weights.shape[0]),
          static_cast<uint32_t>(weights.shape[1]), row_stride(weights)};
}

class Plan {
 public:
  Plan(nb::handle weights, const StreamAddress& stream) {
    const GivenArray given = given_array(weights, "weights", stream);
    const packed::PlainMatrix matrix = plain_matrix(given);
    gpu_ = given.gpu;
    if (gpu_) {
      const device::Stream on = stream_of(given);
      plan_ = value(unlocked([&] { return packed::plan_on_gpu(on, matrix); }));
    } else {
      plan_ = value(unlocked([&] { return packed::plan_packing(matrix); }));
    }
  }

  const packed::Shape& shape() const {
    return gpu_ ? std::get<packed::GpuPlan>(plan_).shape : std::get<packed::Plan>(plan_).shape;
  }
  uint32_t most_in_row() const {
    return gpu_ ? std::get<packed::GpuPlan>(plan_).most_in_row
                : std::get<packed::Plan>(plan_).most_in_row;
  }
  // None: it is worth packing.
  std::optional<std::string> reason() const {
    const packed::Plainness found = packed::plainness(shape(), most_in_row());
    if (found == packed::Plainness::packed) return std::nullopt;
    return packed::reason(found);
  }

  nb::object pack(nb::handle weights, nb::object out, const StreamAddress& stream) const {
    const GivenArray given = given_array(weights, "weights", stream);
    const packed::PlainMatrix matrix = plain_matrix(given);
    if (matrix.rows != shape().rows || matrix.columns != shape().columns || given.gpu != gpu_) {
      refuse("the plan is of another matrix");
    }
    if (out.is_none()) out = new_bytes();
    const GivenArray to = given_output(out, "out", stream);
    check_together(given, {&to});
    check_bytes(to);
    if (gpu_) {
      const device::Stream on = stream_of(given);
      check(unlocked([&] {
        return packed::pack_on_gpu(on, matrix, std::get<packed::GpuPlan>(plan_), to.data);
      }));
    } else {
      const std::span bytes(static_cast<std::byte*>(to.data), shape().bytes());
      check(unlocked([&] { return packed::pack(matrix, std::get<packed::Plan>(plan_), bytes); }));
    }
    return out;
  }

 private:
  nb::object new_bytes() const {
    device::Device* const device = gpu_ ? value(device::cuda_device(*gpu_)) : &device::cpu_device();
    auto memory =
        std::make_shared<device::Buffer>(value(device::Buffer::allocate(*device, shape().bytes())));
    auto* const data = static_cast<std::byte*>(memory->data());
    return nb::cast(device_array(data, shape().bytes(), std::move(memory)));
  }
  void check_bytes(const GivenArray& to) const {
    if (!to.is_byte() || !to.is_dense() || to.shape.size() != 1 ||
        static_cast<uint64_t>(to.shape[0]) != shape().bytes()) {
      refuse("out must be " + std::to_string(shape().bytes()) + " contiguous uint8");
    }
  }

  std::optional<int> gpu_;
  std::variant<packed::Plan, packed::GpuPlan> plan_;
};

void check_packed(nb::handle packed, uint64_t rows, uint64_t columns, uint64_t escapes,
                  const StreamAddress& stream) {
  const PackedMatrix matrix(packed, packed_shape(rows, columns, escapes), stream);
  if (matrix.bytes.gpu) {
    const device::Stream on = stream_of(matrix.bytes);
    check(unlocked([&] { return packed::check_contents_on_gpu(on, matrix.view); }));
  } else {
    check(unlocked([&] { return packed::check_contents(matrix.view); }));
  }
}

void unpack(nb::handle packed, uint64_t rows, uint64_t columns, uint64_t escapes, nb::handle out,
            const StreamAddress& stream) {
  const PackedMatrix matrix(packed, packed_shape(rows, columns, escapes), stream);
  const GivenArray to = given_output(out, "out", stream);
  check_shape(to, {static_cast<int64_t>(rows), static_cast<int64_t>(columns)});
  if (!to.is_dense()) refuse("out has gaps: give a contiguous array");
  check_together(matrix.bytes, {&to});
  auto* const weights = static_cast<uint16_t*>(to.data);
  if (matrix.bytes.gpu) {
    const device::Stream on = stream_of(matrix.bytes);
    check(unlocked([&] { return packed::unpack_on_gpu(on, matrix.view, weights); }));
  } else {
    const std::span all(weights, matrix.view.shape.weights());
    check(unlocked([&] { return packed::unpack(matrix.view, all); }));
  }
}

void unpack_rows(nb::handle packed, uint64_t rows, uint64_t columns, uint64_t escapes,
                 nb::handle indices, nb::handle out, const StreamAddress& stream) {
  const PackedMatrix matrix(packed, packed_shape(rows, columns, escapes), stream);
  const GivenArray wanted = given_array(indices, "indices", stream);
  const GivenArray to = given_output(out, "out", stream);
  if ((!wanted.is_integer(64) && !wanted.is_integer(32)) || !wanted.is_dense() ||
      wanted.shape.size() != 1) {
    refuse("indices must be contiguous int64 or int32 of one axis");
  }
  check_shape(to, {wanted.shape[0], static_cast<int64_t>(columns)});
  if (!to.is_dense()) refuse("out has gaps: give a contiguous array");
  check_together(matrix.bytes, {&wanted, &to});
  const auto count = static_cast<size_t>(wanted.shape[0]);
  auto* const weights = static_cast<uint16_t*>(to.data);
  const packed::RowNumbers numbers = {wanted.data, wanted.bits == 64, count};
  if (matrix.bytes.gpu) {
    const device::Stream on = stream_of(matrix.bytes);
    check(unlocked([&] { return packed::unpack_rows_on_gpu(on, matrix.view, numbers, weights); }));
    return;
  }
  const std::span all(weights, count * columns);
  check(unlocked([&] { return packed::unpack_rows(matrix.view, numbers_of(numbers), all); }));
}

packed::Activation activation_of(std::string_view name) {
  constexpr std::string_view kNames[] = {"none", "relu", "gelu", "gelu_tanh", "silu"};
  static_assert(std::size(kNames) == packed::kActivations);
  for (uint32_t i = 0; i < packed::kActivations; ++i) {
    if (name == kNames[i]) return static_cast<packed::Activation>(i);
  }
  refuse("activation must be none, relu, gelu, gelu_tanh or silu");
}

void matmul(nb::handle x, nb::handle packed, uint64_t rows, uint64_t columns, uint64_t escapes,
            nb::handle out, const nb::object& bias, const std::string& activation,
            const StreamAddress& stream) {
  const PackedMatrix matrix(packed, packed_shape(rows, columns, escapes), stream);
  const GivenArray from = given_array(x, "x", stream);
  check_bf16(from, 2);
  check_shape(from, {from.shape[0], static_cast<int64_t>(columns)});
  const GivenArray to = given_output(out, "out", stream);
  check_shape(to, {from.shape[0], static_cast<int64_t>(rows)});
  check_together(matrix.bytes, {&from, &to});
  packed::Operands operands = {static_cast<const uint16_t*>(from.data),
                               static_cast<uint64_t>(from.shape[0]), row_stride(from),
                               static_cast<uint16_t*>(to.data), row_stride(to)};
  operands.activation = activation_of(activation);
  std::optional<GivenArray> added;
  if (!bias.is_none()) {
    added = given_array(bias, "bias", stream);
    check_shape(*added, {static_cast<int64_t>(rows)});
    check_together(matrix.bytes, {&*added});
    operands.bias = static_cast<const uint16_t*>(added->data);
  }
  if (matrix.bytes.gpu) {
    const device::Stream on = stream_of(matrix.bytes);
    check(unlocked([&] { return packed::matmul_on_gpu(on, matrix.view, operands); }));
  } else {
    check(unlocked([&] { return packed::matmul(matrix.view, operands); }));
  }
}

}  // namespace
}  // namespace hoist::python

NB_MODULE(_packed, module) {
  using namespace hoist::python;
  refuse_subinterpreters("hoist");
  nb::set_leak_warnings(false);
  watch_interpreters_end();
  module.attr("MOST_FUSED") = hoist::tensors::packed::kMostFused;
  module.attr("MOST_FUSED_WIDE") = hoist::tensors::packed::kMostFusedWide;
  bind_packed_addresses(module);
  nb::class_<Plan>(module, "Plan")
      .def(nb::init<nb::handle, const StreamAddress&>(), "weights"_a, "stream"_a = nb::none())
      .def_prop_ro("rows", [](const Plan& plan) { return plan.shape().rows; })
      .def_prop_ro("columns", [](const Plan& plan) { return plan.shape().columns; })
      .def_prop_ro("escapes", [](const Plan& plan) { return plan.shape().escapes; })
      .def_prop_ro("most_in_row", &Plan::most_in_row)
      .def_prop_ro("bytes", [](const Plan& plan) { return plan.shape().bytes(); })
      .def_prop_ro("plain_bytes", [](const Plan& plan) { return plan.shape().plain_bytes(); })
      .def_prop_ro("reason", &Plan::reason)
      .def("pack", &Plan::pack, "weights"_a, "out"_a = nb::none(), "stream"_a = nb::none());
  module.def(
      "packed_bytes",
      [](uint64_t rows, uint64_t columns, uint64_t escapes) {
        return packed_shape(rows, columns, escapes).bytes();
      },
      "rows"_a, "columns"_a, "escapes"_a);
  module.def("check", &check_packed, "packed"_a, "rows"_a, "columns"_a, "escapes"_a,
             "stream"_a = nb::none());
  module.def("unpack", &unpack, "packed"_a, "rows"_a, "columns"_a, "escapes"_a, "out"_a,
             "stream"_a = nb::none());
  module.def("unpack_rows", &unpack_rows, "packed"_a, "rows"_a, "columns"_a, "escapes"_a,
             "indices"_a, "out"_a, "stream"_a = nb::none());
  module.def("matmul", &matmul, "x"_a, "packed"_a, "rows"_a, "columns"_a, "escapes"_a, "out"_a,
             "bias"_a = nb::none(), "activation"_a = "none", "stream"_a = nb::none());
}
