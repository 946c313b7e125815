// What an array says about itself, and the names of types and devices.
#include <charconv>

#include "array/copy.h"
#include "python/array/parts.h"
#include "python/errors.h"
#include "python/raising.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

using array::DeviceId;
using array::DeviceKind;
using array::DType;
using array::View;

// Objects of hoist.graph by type, once it has said them; never destroyed.
nb::dict& dtype_objects() {
  static nb::dict& objects = *new nb::dict;
  return objects;
}

int64_t item_bytes(const View& view) {
  return static_cast<int64_t>(array::properties(view.dtype).bytes);
}

View transposed(const View& view) {
  View turned = view;
  const auto rank = static_cast<size_t>(view.rank);
  for (size_t d = 0; d < rank; ++d) {
    turned.extents[d] = view.extents[rank - 1 - d];
    turned.strides[d] = view.strides[rank - 1 - d];
  }
  return turned;
}

View matrix_transposed(const View& view) {
  if (view.rank < 2) {
    raise({ErrorCode::invalid_argument,
           "mT of an array of shape " + shape_text(view.shape()) + ": it needs two axes"});
  }
  return value(view.transposed(view.rank - 2, view.rank - 1));
}

nb::object device_object(const View& view) {
  if (view.device.kind == DeviceKind::cpu) return nb::str("cpu");
  return nb::str(device_name(view.device).c_str());
}

// A getter of `what(array)`.
template <auto what>
PyObject* get(PyObject* self, void*) {
  return raising([&] { return nb::cast(what(self_of(self))).release().ptr(); });
}

constexpr auto dtype = [](const Array& it) { return dtype_object(it.view.dtype); };
constexpr auto shape = [](const Array& it) { return tuple_of(it.view.shape()); };
constexpr auto strides = [](const Array& it) {
  const auto rank = static_cast<size_t>(it.view.rank);
  return tuple_of({it.view.strides.data(), rank}, item_bytes(it.view));
};
constexpr auto ndim = [](const Array& it) { return it.view.rank; };
constexpr auto size = [](const Array& it) { return it.view.elements(); };
constexpr auto nbytes = [](const Array& it) { return it.view.bytes(); };
constexpr auto itemsize = [](const Array& it) { return item_bytes(it.view); };
constexpr auto device = [](const Array& it) { return device_object(it.view); };
constexpr auto readonly = [](const Array& it) { return it.is_read_only; };
constexpr auto turned = [](const Array& it) {
  return array_object(view_of(it, transposed(it.view)));
};
constexpr auto matrix_turned = [](const Array& it) {
  return array_object(view_of(it, matrix_transposed(it.view)));
};
constexpr auto priority = [](const Array&) { return 1000; };

PyGetSetDef attributes[] = {
    {"dtype", get<dtype>, nullptr, "The elements' type, such as float32.", nullptr},
    {"shape", get<shape>, nullptr, "The length of each axis.", nullptr},
    {"strides", get<strides>, nullptr, "From one element to the next of each axis, in bytes.",
     nullptr},
    {"ndim", get<ndim>, nullptr, "The number of axes.", nullptr},
    {"size", get<size>, nullptr, "The number of elements.", nullptr},
    {"nbytes", get<nbytes>, nullptr, "The bytes of all elements.", nullptr},
    {"itemsize", get<itemsize>, nullptr, "The bytes of an element.", nullptr},
    {"device", get<device>, nullptr, "\"cpu\", \"cuda:0\", …", nullptr},
    {"readonly", get<readonly>, nullptr, "Whether it may not be written.", nullptr},
    {"T", get<turned>, nullptr, "The axes in reverse order; a view.", nullptr},
    {"mT", get<matrix_turned>, nullptr, "The last two axes exchanged; a view.", nullptr},
    {"__array_interface__", array_interface, nullptr, nullptr, nullptr},
    {"__cuda_array_interface__", cuda_array_interface, nullptr, nullptr, nullptr},
    // NumPy's arrays leave operators to us.
    {"__array_priority__", get<priority>, nullptr, nullptr, nullptr},
    {}};

}  // namespace

PyGetSetDef* array_attributes() { return attributes; }

std::string_view dtype_name(DType dtype) { return array::properties(dtype).framework; }

DType dtype_named(std::string_view name) {
  for (const array::DTypeProperties& type : array::all_dtypes()) {
    if (type.framework == name && array::is_convertible(type.dtype)) return type.dtype;
  }
  raise({ErrorCode::unsupported,
         "arrays of " + std::string(name) +
             ": give bool, int8 to uint64, float16, bfloat16, float32 or float64"});
}

nb::object dtype_object(DType dtype) {
  const std::string_view name = dtype_name(dtype);
  const nb::str key(name.data(), name.size());
  nb::dict& objects = dtype_objects();
  return objects.contains(key) ? nb::object(objects[key]) : nb::object(key);
}

std::string device_name(DeviceId device) {
  if (device.kind == DeviceKind::cpu) return "cpu";
  return "cuda:" + std::to_string(device.index);
}

DeviceId device_named(const std::string& name) {
  if (name == "cpu" || name == "cpu:0") return {};
  if (name == "cuda") return {DeviceKind::cuda, 0};
  constexpr std::string_view kCuda = "cuda:";
  int32_t index = 0;
  if (name.starts_with(kCuda)) {
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + kCuda.size(), end, index);
    if (read.ec == std::errc() && read.ptr == end && index >= 0) return {DeviceKind::cuda, index};
  }
  raise({ErrorCode::invalid_argument,
         "no device \"" + name + "\": give \"cpu\" or \"cuda:0\", \"cuda:1\", …"});
}

nb::tuple tuple_of(std::span<const int64_t> numbers, int64_t factor) {
  PyObject* const tuple = PyTuple_New(static_cast<Py_ssize_t>(numbers.size()));
  if (tuple == nullptr) throw nb::python_error();
  for (size_t i = 0; i < numbers.size(); ++i) {
    PyTuple_SetItem(tuple, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(numbers[i] * factor));
  }
  return nb::steal<nb::tuple>(tuple);
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

void define_array_attributes(nb::module_& module) {
  module.def("set_dtypes", [](const nb::dict& objects) { dtype_objects() = objects; });
}

}  // namespace hoist::python
