#include <nanobind/stl/optional.h>

#include <span>
#include <vector>

#include "python/errors.h"
#include "python/packed_matrix.h"
#include "tensors/packed/gpu.h"
#include "tensors/packed/matmul.h"
#include "tensors/packed/pack.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

namespace packed = tensors::packed;

template <typename T>
T* at(uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

// The matrix and operands are addresses on one device: a call costs little more than its work.
// Shapes and the memory's life are the caller's. `stream` is 0 on the CPU.
class AddressedMatrix {
 public:
  // `gpu`: its number; none: the CPU.
  AddressedMatrix(uintptr_t packed, uint64_t bytes, std::optional<int> gpu, uint64_t rows,
                  uint64_t columns, uint64_t escapes)
      : view_(value(
            packed::view_of(at<const void>(packed), bytes, packed_shape(rows, columns, escapes)))) {
    if (gpu) gpu_ = value(device::cuda_device(*gpu));
  }

  void multiply(uintptr_t x, uint64_t count, uint64_t x_stride, uintptr_t y, uintptr_t bias,
                uintptr_t stream) const {
    packed::Operands operands = {at<const uint16_t>(x), count, x_stride, at<uint16_t>(y),
                                 view_.shape.rows};
    operands.bias = at<const uint16_t>(bias);
    check(unlocked([&] {
      return gpu_ == nullptr ? packed::matmul(view_, operands)
                             : packed::matmul_on_gpu(on(stream), view_, operands);
    }));
  }

  void unpack(uintptr_t out, uintptr_t stream) const {
    auto* const weights = at<uint16_t>(out);
    const std::span all(weights, view_.shape.weights());
    check(unlocked([&] {
      return gpu_ == nullptr ? packed::unpack(view_, all)
                             : packed::unpack_on_gpu(on(stream), view_, weights);
    }));
  }

  void unpack_rows(uintptr_t indices, uint64_t count, bool are_wide, uintptr_t out,
                   uintptr_t stream) const {
    auto* const weights = at<uint16_t>(out);
    const packed::RowNumbers numbers = {at<const void>(indices), are_wide, count};
    check(unlocked([&] {
      return gpu_ == nullptr ? packed::unpack_rows(view_, numbers_of(numbers),
                                                   {weights, count * view_.shape.columns})
                             : packed::unpack_rows_on_gpu(on(stream), view_, numbers, weights);
    }));
  }

 private:
  device::Stream on(uintptr_t stream) const { return borrowed_stream(*gpu_, stream); }

  packed::View view_;
  device::Device* gpu_ = nullptr;  // null: the CPU
};

}  // namespace

void bind_packed_addresses(nb::module_& module) {
  nb::class_<AddressedMatrix>(module, "Matrix")
      .def(nb::init<uintptr_t, uint64_t, std::optional<int>, uint64_t, uint64_t, uint64_t>(),
           "packed"_a, "bytes"_a, "gpu"_a.none(), "rows"_a, "columns"_a, "escapes"_a)
      .def("multiply", &AddressedMatrix::multiply, "x"_a, "count"_a, "x_stride"_a, "y"_a, "bias"_a,
           "stream"_a)
      .def("unpack", &AddressedMatrix::unpack, "out"_a, "stream"_a)
      .def("unpack_rows", &AddressedMatrix::unpack_rows, "indices"_a, "count"_a, "are_wide"_a,
           "out"_a, "stream"_a);
}

}  // namespace hoist::python
