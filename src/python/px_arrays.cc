#include "python/px_arrays.h"

#include <string_view>

#include "python/errors.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

using ir::Scalar;

std::optional<Scalar> integer(bool is_signed, size_t bytes) {
  switch (bytes) {
    case 1:
      return is_signed ? Scalar::i8 : Scalar::u8;
    case 2:
      return is_signed ? Scalar::i16 : Scalar::u16;
    case 4:
      return is_signed ? Scalar::i32 : Scalar::u32;
    case 8:
      return is_signed ? Scalar::i64 : Scalar::u64;
    default:
      return std::nullopt;
  }
}

std::optional<Scalar> real(size_t bytes) {
  switch (bytes) {
    case 2:
      return Scalar::f16;
    case 4:
      return Scalar::f32;
    case 8:
      return Scalar::f64;
    default:
      return std::nullopt;
  }
}

// A format of Python's struct module.
std::optional<Scalar> type_of_format(std::string_view format, size_t bytes) {
  if (!format.empty() && std::string_view("@=<").find(format[0]) != std::string_view::npos) {
    format.remove_prefix(1);
  }
  if (format.size() != 1) return std::nullopt;
  if (format == "?") return Scalar::boolean;
  if (std::string_view("bhilqn").find(format) != std::string_view::npos) {
    return integer(true, bytes);
  }
  if (std::string_view("cBHILQN").find(format) != std::string_view::npos) {
    return integer(false, bytes);
  }
  if (std::string_view("efd").find(format) != std::string_view::npos) return real(bytes);
  return std::nullopt;
}

// A type of NumPy's array interface: "<f4".
std::optional<Scalar> type_of_typestr(std::string_view typestr, size_t& bytes) {
  bytes = 0;
  if (typestr.size() < 3) return std::nullopt;
  for (const char digit : typestr.substr(2)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    bytes = bytes * 10 + static_cast<size_t>(digit - '0');
  }
  if (typestr[0] == '>') return std::nullopt;
  switch (typestr[1]) {
    case 'b':
      return bytes == 1 ? std::optional(Scalar::boolean) : std::nullopt;
    case 'i':
      return integer(true, bytes);
    case 'u':
      return integer(false, bytes);
    case 'f':
      return real(bytes);
    default:
      return std::nullopt;
  }
}

std::optional<Scalar> type_of_dlpack(const nb::dlpack::dtype& type) {
  if (type.lanes != 1 || type.bits % 8 != 0) return std::nullopt;
  const size_t bytes = type.bits / 8;
  switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
    case nb::dlpack::dtype_code::Int:
      return integer(true, bytes);
    case nb::dlpack::dtype_code::UInt:
      return integer(false, bytes);
    case nb::dlpack::dtype_code::Float:
      return real(bytes);
    case nb::dlpack::dtype_code::Bfloat:
      return bytes == 2 ? std::optional(Scalar::bf16) : std::nullopt;
    case nb::dlpack::dtype_code::Bool:
      return bytes == 1 ? std::optional(Scalar::boolean) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::string dtype_text(nb::handle object, const std::string& otherwise) {
  if (!nb::hasattr(object, "dtype")) return otherwise;
  const nb::object dtype = object.attr("dtype");
  return nb::str(dtype).c_str();
}

std::optional<PxArray> of_buffer(nb::handle object) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) return std::nullopt;
  auto* view = new Py_buffer;
  if (PyObject_GetBuffer(object.ptr(), view, PyBUF_FULL_RO) != 0) {
    delete view;
    PyErr_Clear();  // a type that buffers cannot tell: there are other ways
    return std::nullopt;
  }
  const std::shared_ptr<Py_buffer> owner(view, [](Py_buffer* it) {
    PyBuffer_Release(it);
    delete it;
  });
  const auto item = static_cast<size_t>(view->itemsize);
  const std::string format = view->format != nullptr ? view->format : "B";
  PxArray array;
  array.data = view->buf;
  array.length = item == 0 ? 0 : static_cast<size_t>(view->len) / item;
  array.type = type_of_format(format, item);
  array.type_text = array.type ? std::string(ir::name(*array.type)) : dtype_text(object, format);
  array.is_read_only = view->readonly != 0;
  array.is_contiguous = PyBuffer_IsContiguous(view, 'C') != 0;
  array.owner = owner;
  return array;
}

template <typename Array>
PxArray of_ndarray(Array&& given, bool is_read_only) {
  const auto kept = std::make_shared<Array>(std::move(given));
  PxArray array;
  array.data = const_cast<void*>(static_cast<const void*>(kept->data()));
  array.length = kept->size();
  array.type = type_of_dlpack(kept->dtype());
  array.is_read_only = is_read_only;
  int64_t stride = 1;
  for (size_t d = kept->ndim(); d-- > 0;) {
    if (kept->shape(d) > 1 && kept->stride(d) != stride) array.is_contiguous = false;
    stride *= static_cast<int64_t>(kept->shape(d));
  }
  if (array.length == 0) array.is_contiguous = true;
  if (kept->device_type() == nb::device::cuda::value) array.gpu = kept->device_id();
  array.owner = kept;
  return array;
}

std::optional<PxArray> of_dlpack(nb::handle object, bool is_written, const std::string& who) {
  if (!nb::hasattr(object, "__dlpack__") || !nb::hasattr(object, "__dlpack_device__")) {
    return std::nullopt;
  }
  const nb::tuple where = nb::cast<nb::tuple>(object.attr("__dlpack_device__")());
  const int kind = nb::cast<int>(where[0]);
  const bool is_cuda = kind == nb::device::cuda::value;
  if (!is_cuda && kind != nb::device::cpu::value && kind != nb::device::cuda_host::value) {
    raise({ErrorCode::unsupported, who + " lies on a device of DLPack's kind " +
                                       std::to_string(kind) +
                                       ": move it to the CPU or a CUDA GPU"});
  }
  std::optional<PxArray> array;
  if (is_cuda) {
    // The producer lets the legacy default stream, number 1, wait for what writes the array.
    const nb::object capsule = object.attr("__dlpack__")(nb::arg("stream") = 1);
    array = of_ndarray(nb::cast<nb::ndarray<>>(capsule), false);
    if (array->gpu >= 0) array->stream = device::StreamHandle{};
  } else if (nb::ndarray<> writable; is_written && nb::try_cast(object, writable, false)) {
    array = of_ndarray(std::move(writable), false);
  } else {
    array = of_ndarray(nb::cast<nb::ndarray<nb::ro>>(object), true);
  }
  array->type_text =
      array->type ? std::string(ir::name(*array->type)) : dtype_text(object, "another type");
  return array;
}

std::optional<PxArray> of_interface(nb::handle object, const char* name, bool is_cuda) {
  if (!nb::hasattr(object, name)) return std::nullopt;
  const nb::dict interface = nb::cast<nb::dict>(object.attr(name));
  const nb::tuple data = nb::cast<nb::tuple>(interface["data"]);
  const std::string typestr = nb::cast<nb::str>(interface["typestr"]).c_str();
  PxArray array;
  array.data = reinterpret_cast<void*>(nb::cast<uintptr_t>(data[0]));
  array.is_read_only = nb::cast<bool>(data[1]);
  size_t bytes = 0;
  array.type = type_of_typestr(typestr, bytes);
  array.type_text = array.type ? std::string(ir::name(*array.type)) : dtype_text(object, typestr);
  if (!array.type && bytes == 2 && array.type_text == "bfloat16") {
    array.type = Scalar::bf16;
    array.type_text = ir::name(Scalar::bf16);
  }
  const nb::tuple shape = nb::cast<nb::tuple>(interface["shape"]);
  array.length = 1;
  for (const nb::handle extent : shape) array.length *= nb::cast<uint64_t>(extent);
  const nb::object strides = interface.contains("strides") ? interface["strides"] : nb::none();
  if (!strides.is_none() && array.length != 0) {
    auto stride = static_cast<int64_t>(bytes);
    for (size_t d = shape.size(); d-- > 0;) {
      const auto extent = nb::cast<int64_t>(shape[d]);
      if (extent > 1 && nb::cast<int64_t>(strides[d]) != stride) array.is_contiguous = false;
      stride *= extent;
    }
  }
  if (is_cuda) {
    array.gpu = 0;
    const nb::object stream = interface.contains("stream") ? interface["stream"] : nb::none();
    if (!stream.is_none()) {
      array.stream = device::StreamHandle{reinterpret_cast<void*>(nb::cast<uintptr_t>(stream))};
    }
  }
  return array;
}

}  // namespace

PxArray px_array(nb::handle object, bool is_written, const std::string& who) {
  std::optional<PxArray> array = of_buffer(object);
  if (!array) {  // types that buffers lack, such as bfloat16
    array = of_interface(object, "__array_interface__", false);
  }
  if (!array) array = of_dlpack(object, is_written, who);
  if (!array) array = of_interface(object, "__cuda_array_interface__", true);
  if (!array) {
    const std::string message = who + " is an array, not " + nb::type_name(object.type()).c_str();
    throw nb::type_error(message.c_str());
  }
  if (!array->owner) {
    array->owner = std::make_shared<const nb::object>(nb::borrow(object));
  }
  return *std::move(array);
}

}  // namespace hoist::python
