// hoist.graph.Array: elements of one type, seen by shape and strides where they lie.
//
//   nb::object made = array_object(new_array(DType::f32, {2, 3}, {}));
//   if (Array* array = array_of(object)) use(array->view);
//
// All are called with the interpreter's lock held. An Array keeps its memory; so do its views,
// exports and capsules, and the last of them frees it, with the lock or without.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array/view.h"

namespace hoist::python {

// Shapes are at most so long.
inline constexpr size_t kMostDimensions = array::View::kMostDimensions;

struct Array {
  std::shared_ptr<std::byte> memory;  // what view.data points into
  array::View view;
  bool is_read_only = false;
  bool is_contiguous = true;  // as view.is_contiguous() says
  // Where its memory waits for the next array; -1: it is not of this module's own.
  int8_t size_class = -1;
};

struct ArrayObject {
  PyObject_HEAD PyObject* weak_references;
  Array array;
};

extern PyTypeObject* array_type;

inline Array* array_of(PyObject* object) {
  return Py_TYPE(object) == array_type ? &reinterpret_cast<ArrayObject*>(object)->array : nullptr;
}
inline Array& self_of(nanobind::handle object) {
  return reinterpret_cast<ArrayObject*>(object.ptr())->array;
}
nanobind::object array_object(Array array);

// The same memory, seen otherwise.
Array view_of(const Array& array, const array::View& view);
// Row-major, without memory. Unsupported for too many axes, InvalidArgument for lengths that no
// memory could have.
array::View row_major_view(array::DType dtype, std::span<const int64_t> shape,
                           array::DeviceId device = {});
// Row-major, its elements not set. MemoryError, and errors of the device.
Array new_array(array::DType dtype, std::span<const int64_t> shape, array::DeviceId device = {});
// What new_array() would give on the CPU, without its memory; and an array like that.
Array array_like(array::DType dtype, std::span<const int64_t> shape);
nanobind::object new_array_object(const Array& model);
// Elements in memory of their own, row-major, on the CPU.
Array copy_on_cpu(const Array& array);
// An array on the CPU with these elements: the array itself, or a copy.
Array on_cpu(const Array& array);
// The elements as another type, row-major, on the CPU.
Array converted(const Array& array, array::DType dtype);
// Writes elements of the same shape, of any type, anywhere.
void copy_into(const Array& from, const Array& to);

// Errors unless the array may be written.
void check_writable(const Array& array);

// Types by the names that frameworks give them: "float32".
std::string_view dtype_name(array::DType dtype);
// Unsupported for what is none of the types that are computed with.
array::DType dtype_named(std::string_view name);
// The object of hoist.graph that stands for the type.
nanobind::object dtype_object(array::DType dtype);

// "cpu", "cuda:0".
std::string device_name(array::DeviceId device);
array::DeviceId device_named(const std::string& name);

// A whole number, such as an axis or an extent; a sequence of them. TypeError for what is none,
// InvalidArgument for those of more than 64 bits.
int64_t integer_of(nanobind::handle number);
std::vector<int64_t> integers_of(nanobind::handle sequence);

// A number as an element of that type, 8 bytes at most. OverflowError where it does not fit.
void write_element(nanobind::handle number, array::DType dtype, std::byte* at);

nanobind::tuple tuple_of(std::span<const int64_t> numbers, int64_t factor = 1);
// "(2, 3)"
std::string shape_text(std::span<const int64_t> shape);

void define_array(nanobind::module_& module);

}  // namespace hoist::python
