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
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// Operands are addresses on the matrix's device: a call costs little more than its work. Shapes and
// the memory's life are the caller's. `stream` is 0 on the CPU.
class AddressedMatrix {
 public:
  AddressedMatrix(nb::object packed, uint64_t rows, uint64_t columns, uint64_t escapes,
                  const StreamAddress& stream)
      : matrix_(packed, packed_shape(rows, columns, escapes), stream), kept_(std::move(packed)) {
    if (matrix_.bytes.gpu) gpu_ = value(device::cuda_device(*matrix_.bytes.gpu));
  }

  void multiply(uintptr_t x, uint64_t count, uint64_t x_stride, uintptr_t y, uintptr_t bias,
                uintptr_t stream) const {
    packed::Operands operands = {at<const uint16_t>(x), count, x_stride, at<uint16_t>(y),
                                 matrix_.view.shape.rows};
    operands.bias = at<const uint16_t>(bias);
    check(unlocked([&] {
      return gpu_ == nullptr ? packed::matmul(matrix_.view, operands)
                             : packed::matmul_on_gpu(on(stream), matrix_.view, operands);
    }));
  }

  void unpack(uintptr_t out, uintptr_t stream) const {
    auto* const weights = at<uint16_t>(out);
    const std::span all(weights, matrix_.view.shape.weights());
    check(unlocked([&] {
      return gpu_ == nullptr ? packed::unpack(matrix_.view, all)
                             : packed::unpack_on_gpu(on(stream), matrix_.view, weights);
    }));
  }

  void unpack_rows(uintptr_t indices, uint64_t count, bool are_wide, uintptr_t out,
                   uintptr_t stream) const {
    auto* const weights = at<uint16_t>(out);
    const packed::RowNumbers numbers = {at<const void>(indices), are_wide, count};
    check(unlocked([&] {
      return gpu_ == nullptr
                 ? packed::unpack_rows(matrix_.view, numbers_of(numbers),
                                       {weights, count * matrix_.view.shape.columns})
                 : packed::unpack_rows_on_gpu(on(stream), matrix_.view, numbers, weights);
    }));
  }

 private:
  device::Stream on(uintptr_t stream) const { return borrowed_stream(*gpu_, stream); }

  PackedMatrix matrix_;
  nb::object kept_;
  device::Device* gpu_ = nullptr;  // null: the CPU
};

}  // namespace

void bind_packed_addresses(nb::module_& module) {
  nb::class_<AddressedMatrix>(module, "Matrix")
      .def(nb::init<nb::object, uint64_t, uint64_t, uint64_t, const StreamAddress&>(), "packed"_a,
           "rows"_a, "columns"_a, "escapes"_a, "stream"_a = nb::none())
      .def("multiply", &AddressedMatrix::multiply, "x"_a, "count"_a, "x_stride"_a, "y"_a, "bias"_a,
           "stream"_a)
      .def("unpack", &AddressedMatrix::unpack, "out"_a, "stream"_a)
      .def("unpack_rows", &AddressedMatrix::unpack_rows, "indices"_a, "count"_a, "are_wide"_a,
           "out"_a, "stream"_a);
}

}  // namespace hoist::python
