#include "python/graph_arrays.h"

#include <nanobind/stl/string.h>

#include <cstring>

#include "python/errors.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

using graph::program::DType;
using graph::program::Extents;
using graph::program::Node;
using graph::program::text_of;

constexpr const char* kTaken = "programs take bool, integers and real floats of 16 bits or more";

DType dtype_of(const nb::dlpack::dtype& type, nb::handle object, const std::string& who) {
  const auto* const found = array::find_dtype(array::DlpackType{type.code, type.bits});
  if (type.lanes == 1 && found != nullptr && graph::program::is_program_type(found->dtype)) {
    return found->dtype;
  }
  std::string name = "of another type";
  if (nb::hasattr(object, "dtype")) {
    const nb::object dtype = object.attr("dtype");
    name = nb::str(dtype).c_str();
  }
  raise({ErrorCode::unsupported, who + " is " + name + ": " + kTaken + "; cast it first"});
}

// NumPy's arrays of ml_dtypes.bfloat16 can be had by neither protocol. Their bits can.
nb::object bits_of_bfloat16(nb::handle object) {
  if (!nb::hasattr(object, "__array_interface__") || !nb::hasattr(object, "view")) return {};
  const nb::object name = nb::getattr(nb::getattr(object, "dtype", nb::none()), "name", nb::none());
  if (!nb::isinstance<nb::str>(name) || std::strcmp(nb::str(name).c_str(), "bfloat16") != 0) {
    return {};
  }
  return object.attr("view")("uint16");
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
  int64_t stride = 1;
  for (size_t i = array.ndim(); i-- > 0;) {
    if (array.shape(i) != 1 && array.stride(i) != stride) return array.size() == 0;
    stride *= static_cast<int64_t>(array.shape(i));
  }
  return true;
}

// DLPack alone does not tell.
bool is_read_only(nb::handle object) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) return false;
  Py_buffer buffer;
  if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_FULL_RO) != 0) {
    PyErr_Clear();  // a type that buffers lack, such as bfloat16
    return false;
  }
  const bool is_read_only = buffer.readonly != 0;
  PyBuffer_Release(&buffer);
  return is_read_only;
}

[[noreturn]] void refuse(nb::handle object, const std::string& who) {
  const std::string message =
      who + " is an array of the CPU, not " + nb::type_name(object.type()).c_str();
  throw nb::type_error(message.c_str());
}

}  // namespace

std::string graph_dtype_name(DType dtype) {
  return std::string(array::properties(dtype).framework);
}

DType graph_dtype(const std::string& name) {
  for (const array::DTypeProperties& type : array::all_dtypes()) {
    if (type.framework == name && graph::program::is_program_type(type.dtype)) return type.dtype;
  }
  raise({ErrorCode::unsupported, name + ": " + kTaken});
}

namespace {

// In any memory and with any strides.
GraphArray opened(nb::handle object, const std::string& who, nb::ndarray<nb::ro>& array) {
  const nb::object bits = bits_of_bfloat16(object);
  if (!nb::try_cast(bits.is_valid() ? bits : nb::borrow(object), array, false)) refuse(object, who);
  GraphArray result = described(array, object, who);
  if (bits.is_valid()) result.dtype = DType::bf16;
  return result;
}

}  // namespace

GraphArray graph_input(nb::handle object, const std::string& who) {
  nb::ndarray<nb::ro> array;
  GraphArray result = opened(object, who, array);
  if (!is_contiguous(array)) {
    const size_t item = graph::program::bytes_of(result.dtype);
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
  GraphArray result = opened(object, who, array);
  const nb::object bits = bits_of_bfloat16(object);
  if (is_read_only(bits.is_valid() ? bits : nb::borrow(object))) {
    raise({ErrorCode::invalid_argument, who + " is read-only: give one that may be written"});
  }
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
  nb::object dtype = nb::cast(graph_dtype_name(node.dtype));
  if (node.dtype == DType::bf16) {
    try {
      dtype = nb::module_::import_("ml_dtypes").attr("bfloat16");
    } catch (const nb::python_error&) {
      raise({ErrorCode::unsupported,
             "a result of bfloat16 without the package ml_dtypes: install it, or give out="});
    }
  }
  return numpy.attr("empty")(nb::tuple(shape), dtype);
}

}  // namespace hoist::python
