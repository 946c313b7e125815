#include "python/graph_arrays.h"

#include <cstring>

#include "python/errors.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

using graph::program::DType;
using graph::program::Extents;
using graph::program::Node;
using graph::program::text_of;

DType dtype_of(const nb::dlpack::dtype& type, nb::handle object, const std::string& who) {
  const auto code = static_cast<nb::dlpack::dtype_code>(type.code);
  if (type.lanes == 1 && code == nb::dlpack::dtype_code::Float && type.bits == 32) {
    return DType::f32;
  }
  if (type.lanes == 1 && code == nb::dlpack::dtype_code::Bool && type.bits == 8) {
    return DType::boolean;
  }
  std::string name = "of another type";
  if (nb::hasattr(object, "dtype")) {
    const nb::object dtype = object.attr("dtype");
    name = nb::str(dtype).c_str();
  }
  raise({ErrorCode::unsupported,
         who + " is " + name + ": programs take float32 and bool so far; cast it first"});
}

template <typename Array>
void copy_strided(const Array& array, size_t item, size_t axis, const std::byte* from,
                  std::byte*& to) {
  if (axis == array.ndim()) {
    std::memcpy(to, from, item);
    to += item;
    return;
  }
  const auto step = array.stride(axis) * static_cast<int64_t>(item);
  for (size_t i = 0; i < array.shape(axis); ++i) {
    copy_strided(array, item, axis + 1, from + static_cast<int64_t>(i) * step, to);
  }
}

template <typename Array>
GraphArray described(const Array& array, nb::handle object, const std::string& who) {
  GraphArray result;
  if (array.device_type() != nb::device::cpu::value) {
    raise({ErrorCode::unsupported, who + " does not lie on the CPU: move it there"});
  }
  result.dtype = dtype_of(array.dtype(), object, who);
  for (size_t i = 0; i < array.ndim(); ++i) {
    result.shape.push_back(static_cast<int64_t>(array.shape(i)));
  }
  result.data = const_cast<void*>(static_cast<const void*>(array.data()));
  return result;
}

template <typename Array>
bool is_contiguous(const Array& array) {
  for (size_t i = 0; i < array.ndim(); ++i) {
    if (array.shape(i) == 0) return true;
  }
  int64_t stride = 1;
  for (size_t i = array.ndim(); i-- > 0;) {
    if (array.shape(i) != 1 && array.stride(i) != stride) return false;
    stride *= static_cast<int64_t>(array.shape(i));
  }
  return true;
}

// The object is an array.
bool is_read_only(nb::handle object) {
  Py_buffer buffer;
  const bool has_buffer = PyObject_CheckBuffer(object.ptr()) != 0 &&
                          PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_FULL_RO) == 0;
  if (!has_buffer) {
    PyErr_Clear();  // a type that buffers lack, such as bfloat16
    nb::ndarray<> writable;
    return !nb::try_cast(object, writable, false);
  }
  const bool is_read_only = buffer.readonly != 0;
  PyBuffer_Release(&buffer);
  return is_read_only;
}

[[noreturn]] void refuse(nb::handle object, const std::string& who) {
  std::string message = who + " is an array of the CPU, not ";
  message += nb::type_name(object.type()).c_str();
  if (nb::hasattr(object, "dtype")) {  // an array, whose layout neither DLPack nor buffers have
    const nb::object dtype = object.attr("dtype");
    message = who + " is an array of " + nb::str(dtype).c_str() +
              " that cannot be read where it lies: copy it to one of native byte order, aligned";
  }
  throw nb::type_error(message.c_str());
}

}  // namespace

std::string graph_dtype_name(DType dtype) { return dtype == DType::boolean ? "bool" : "float32"; }

DType graph_dtype(const std::string& name) {
  if (name == "float32") return DType::f32;
  if (name == "bool") return DType::boolean;
  raise({ErrorCode::unsupported, name + ": programs take float32 and bool so far"});
}

GraphArray graph_input(nb::handle object, const std::string& who) {
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast(object, array, false)) refuse(object, who);
  GraphArray result = described(array, object, who);
  if (!is_contiguous(array)) {
    const size_t item = result.dtype == DType::boolean ? 1 : sizeof(float);
    result.copy.resize(array.size() * item);
    std::byte* to = result.copy.data();
    copy_strided(array, item, 0, static_cast<const std::byte*>(result.data), to);
    result.data = result.copy.data();
  }
  result.owner = std::move(array);
  return result;
}

GraphArray graph_output(nb::handle object, const Node& node, const std::string& who) {
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast(object, array, false)) refuse(object, who);
  if (is_read_only(object)) {
    raise({ErrorCode::invalid_argument, who + " is read-only: give one that may be written"});
  }
  GraphArray result = described(array, object, who);
  if (result.dtype != node.dtype || result.shape != node.shape) {
    raise({ErrorCode::invalid_argument, who + " is " + graph_dtype_name(result.dtype) +
                                            " of shape " + text_of(result.shape) +
                                            ": the result is " + graph_dtype_name(node.dtype) +
                                            " of shape " + text_of(node.shape)});
  }
  if (!is_contiguous(array)) {
    raise({ErrorCode::invalid_argument, who + " has gaps: give a contiguous array"});
  }
  result.owner = std::move(array);
  return result;
}

nb::object new_numpy_array(const Node& node) {
  nb::list shape;
  for (const int64_t extent : node.shape) shape.append(extent);
  const nb::object numpy = nb::module_::import_("numpy");
  return numpy.attr("empty")(nb::tuple(shape), graph_dtype_name(node.dtype).c_str());
}

}  // namespace hoist::python
