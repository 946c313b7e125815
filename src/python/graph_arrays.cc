#include "python/graph_arrays.h"

#include <cstring>

#include "python/array/array.h"
#include "python/errors.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

using graph::program::DType;
using graph::program::Extents;
using graph::program::Node;
using graph::program::text_of;

[[noreturn]] void refuse_dtype(const std::string& name, const std::string& who) {
  raise({ErrorCode::unsupported,
         who + " is " + name + ": programs take float32 and bool so far; cast it first"});
}

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
  refuse_dtype(name, who);
}

GraphArray of_array(const Array& array, const std::string& who) {
  if (array.view.device.kind != array::DeviceKind::cpu) {
    raise({ErrorCode::unsupported, who + " does not lie on the CPU: move it there"});
  }
  if (array.view.dtype != DType::f32 && array.view.dtype != DType::boolean) {
    refuse_dtype(std::string(dtype_name(array.view.dtype)), who);
  }
  GraphArray result;
  result.dtype = array.view.dtype;
  result.shape.assign(array.view.shape().begin(), array.view.shape().end());
  result.data = array.view.data;
  result.memory = array.memory;
  return result;
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

std::string graph_dtype_name(DType dtype) { return dtype == DType::boolean ? "bool" : "float32"; }

DType graph_dtype(const std::string& name) {
  if (name == "float32") return DType::f32;
  if (name == "bool") return DType::boolean;
  raise({ErrorCode::unsupported, name + ": programs take float32 and bool so far"});
}

GraphArray graph_input(nb::handle object, const std::string& who) {
  if (const Array* const array = array_of(object.ptr())) {
    return of_array(array->is_contiguous ? *array : copy_on_cpu(*array), who);
  }
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
  const Array* const own = array_of(object.ptr());
  nb::ndarray<nb::ro> array;
  if (own == nullptr && !nb::try_cast(object, array, false)) refuse(object, who);
  if (own != nullptr ? own->is_read_only : is_read_only(object)) {
    raise({ErrorCode::invalid_argument, who + " is read-only: give one that may be written"});
  }
  GraphArray result = own != nullptr ? of_array(*own, who) : described(array, object, who);
  if (result.dtype != node.dtype || result.shape != node.shape) {
    raise({ErrorCode::invalid_argument, who + " is " + graph_dtype_name(result.dtype) +
                                            " of shape " + text_of(result.shape) +
                                            ": the result is " + graph_dtype_name(node.dtype) +
                                            " of shape " + text_of(node.shape)});
  }
  if (own != nullptr ? !own->is_contiguous : !is_contiguous(array)) {
    raise({ErrorCode::invalid_argument, who + " has gaps: give a contiguous array"});
  }
  result.owner = std::move(array);
  return result;
}

nb::object numpy_type(nb::handle name) {
  // NumPy has it by way of a package of its own.
  if (name.equal(nb::str("bfloat16"))) {
    return nb::module_::import_("numpy").attr("dtype")(
        nb::module_::import_("ml_dtypes").attr("bfloat16"));
  }
  return nb::module_::import_("numpy").attr("dtype")(name);
}

nb::object new_numpy_array(const Node& node) {
  nb::list shape;
  for (const int64_t extent : node.shape) shape.append(extent);
  const nb::object numpy = nb::module_::import_("numpy");
  return numpy.attr("empty")(nb::tuple(shape),
                             numpy_type(nb::str(graph_dtype_name(node.dtype).c_str())));
}

}  // namespace hoist::python
