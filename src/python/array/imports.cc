// Arrays of others, used where they lie: the buffer protocol, the array interfaces, DLPack.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

#include "array/copy.h"
#include "python/array/formats.h"
#include "python/array/parts.h"
#include "python/array/release.h"
#include "python/dlpack.h"
#include "python/errors.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using array::DeviceKind;
using array::DType;

void drop(Py_buffer* buffer) {
  PyBuffer_Release(buffer);
  delete buffer;
}
void drop(PyObject* object) { Py_DECREF(object); }

// Memory that an object of Python's keeps, dropped from any thread.
template <typename Kept>
std::shared_ptr<std::byte> kept_memory(void* data, Kept* kept) {
  return {static_cast<std::byte*>(data), [kept](std::byte*) {
            drop_in_turn(kept, [](void* it) {
              if (!nb::is_alive()) return;  // the interpreter is gone, and all its objects
              const nb::gil_scoped_acquire gil;
              drop(static_cast<Kept*>(it));
            });
          }};
}

[[noreturn]] void refuse_type(const std::string& name, const std::string& who) {
  raise({ErrorCode::unsupported, who + " is " + name +
                                     ": arrays have bool, int8 to uint64, float16, bfloat16, "
                                     "float32 and float64, in this machine's byte order"});
}

[[noreturn]] void refuse_type(nb::handle object, const std::string& otherwise,
                              const std::string& who) {
  if (!nb::hasattr(object, "dtype")) refuse_type("of type " + otherwise, who);
  refuse_type(nb::str(nb::object(object.attr("dtype"))).c_str(), who);
}

// A type of kind 'b', 'i', 'u' or 'f', as NumPy calls them.
std::optional<DType> dtype_of(char kind, size_t bytes) {
  const std::string bits = std::to_string(8 * bytes);
  const std::string name = kind == 'b'   ? (bytes == 1 ? "bool" : "")
                           : kind == 'i' ? "int" + bits
                           : kind == 'u' ? "uint" + bits
                           : kind == 'f' ? "float" + bits
                                         : "";
  for (const array::DTypeProperties& type : array::all_dtypes()) {
    if (type.framework == name && array::is_convertible(type.dtype)) return type.dtype;
  }
  return std::nullopt;
}

// Unsupported where strides in bytes are no multiples of an element.
Array described(void* data, DType dtype, std::span<const int64_t> shape,
                const int64_t* byte_strides, array::DeviceId device, const std::string& who) {
  Array array;
  array.view = row_major_view(dtype, shape, device);
  array.view.data = static_cast<std::byte*>(data);
  const auto item = static_cast<int64_t>(array::properties(dtype).bytes);
  for (size_t d = 0; byte_strides != nullptr && d < shape.size(); ++d) {
    array.view.strides[d] = byte_strides[d] / item;
    if (byte_strides[d] % item != 0 && shape[d] > 1) {
      raise({ErrorCode::unsupported,
             who + " has strides that are no multiples of an element: copy it first"});
    }
  }
  if (array.view.elements() != 0 &&
      reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(item) != 0) {
    raise({ErrorCode::unsupported, who + " lies across its elements' alignment: copy it first"});
  }
  array.is_contiguous = array.view.is_contiguous();
  return array;
}

std::optional<Array> of_buffer(nb::handle object, const std::string& who) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) return std::nullopt;
  auto* const buffer = new Py_buffer;
  if (PyObject_GetBuffer(object.ptr(), buffer, PyBUF_FULL_RO) != 0) {
    delete buffer;
    PyErr_Clear();  // a type that buffers cannot tell: there are other ways
    return std::nullopt;
  }
  std::shared_ptr<std::byte> memory = kept_memory(buffer->buf, buffer);
  const char* const format = buffer->format != nullptr ? buffer->format : "B";
  const auto dtype = dtype_of_format(format, static_cast<size_t>(buffer->itemsize));
  if (!dtype) {
    if (nb::hasattr(object, "__array_interface__")) return std::nullopt;
    refuse_type(object, format, who);
  }
  if (buffer->suboffsets != nullptr) {
    raise({ErrorCode::unsupported, who + " is a buffer of pointers: copy it first"});
  }
  const auto rank = static_cast<size_t>(buffer->ndim);
  Array array = described(buffer->buf, *dtype, {buffer->shape, rank}, buffer->strides, {}, who);
  array.memory = std::move(memory);
  array.is_read_only = buffer->readonly != 0;
  return array;
}

std::optional<Array> of_interface(nb::handle object, const char* name, DeviceKind kind,
                                  const std::string& who) {
  if (!nb::hasattr(object, name)) return std::nullopt;
  const nb::dict interface = nb::cast<nb::dict>(object.attr(name));
  const std::string typestr = nb::cast<nb::str>(interface["typestr"]).c_str();
  std::optional<DType> dtype;
  if (typestr.size() >= 3 && typestr[0] != '>') {
    dtype = dtype_of(typestr[1], static_cast<size_t>(std::atoi(typestr.c_str() + 2)));
  }
  // As NumPy has the types of ml_dtypes.
  if (!dtype && nb::hasattr(object, "dtype") &&
      nb::str(nb::object(object.attr("dtype"))).equal(nb::str("bfloat16"))) {
    dtype = DType::bf16;
  }
  if (!dtype) refuse_type(object, typestr, who);
  const nb::object data = interface["data"];
  const std::vector<int64_t> shape = integers_of(interface["shape"]);
  std::vector<int64_t> strides;
  const bool has_strides = interface.contains("strides") && !interface["strides"].is_none();
  if (has_strides) strides = integers_of(interface["strides"]);
  Array array = described(reinterpret_cast<void*>(nb::cast<uintptr_t>(nb::object(data[0]))), *dtype,
                          shape, has_strides ? strides.data() : nullptr, {kind, 0}, who);
  array.is_read_only = nb::cast<bool>(nb::object(data[1]));
  array.memory = kept_memory(array.view.data, nb::borrow(object).release().ptr());
  if (kind == DeviceKind::cuda && interface.contains("stream") && !interface["stream"].is_none()) {
    const auto stream = nb::cast<uintptr_t>(nb::object(interface["stream"]));
    check(device_of(array.view.device)
              .synchronize(device::StreamHandle{reinterpret_cast<void*>(stream)}));
  }
  return array;
}

template <typename Managed>
Array of_capsule(PyObject* capsule, const std::string& who) {
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kDlpackName<Managed>));
  if (managed == nullptr) throw nb::python_error();
  constexpr bool kIsVersioned = std::is_same_v<Managed, DLManagedTensorVersioned>;
  PyCapsule_SetName(capsule, kIsVersioned ? "used_dltensor_versioned" : "used_dltensor");
  return imported_tensor(managed, who);
}

}  // namespace

template <typename Managed>
Array imported_tensor(Managed* tensor, const std::string& who) {
  const std::shared_ptr<Managed> kept(tensor, [](Managed* it) {
    if (it->deleter == nullptr) return;
    drop_in_turn(it, [](void* last) {
      auto* const managed = static_cast<Managed*>(last);
      managed->deleter(managed);
    });
  });
  bool is_read_only = false;
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    if (tensor->major != 1) {
      raise({ErrorCode::unsupported,
             "DLPack " + std::to_string(tensor->major) + ": version 1 is known"});
    }
    is_read_only = (tensor->flags & kDlpackReadOnly) != 0;
  }
  const DLTensor& it = tensor->tensor;
  const array::DTypeProperties* const type =
      it.lanes == 1 ? array::find_dtype(array::DlpackType{it.code, it.bits}) : nullptr;
  if (type == nullptr || !array::is_convertible(type->dtype)) {
    refuse_type(
        "of DLPack's type " + std::to_string(it.code) + ", " + std::to_string(it.bits) + " bits",
        who);
  }
  const bool is_host = it.device_type == kDlpackCpu || it.device_type == kDlpackCudaHost;
  if (!is_host && it.device_type != kDlpackCuda) {
    raise({ErrorCode::unsupported, who + " lies on a device of DLPack's kind " +
                                       std::to_string(it.device_type) +
                                       ": move it to the CPU or a CUDA GPU"});
  }
  const auto item = static_cast<int64_t>(type->bytes);
  const std::vector<int64_t> shape(it.shape, it.shape + it.ndim);
  std::vector<int64_t> strides;
  for (int32_t d = 0; it.strides != nullptr && d < it.ndim; ++d) {
    strides.push_back(it.strides[d] * item);
  }
  void* const data = static_cast<std::byte*>(it.data) + it.byte_offset;
  Array array =
      described(data, type->dtype, shape, it.strides != nullptr ? strides.data() : nullptr,
                is_host ? array::DeviceId{} : array::DeviceId{DeviceKind::cuda, it.device_id}, who);
  array.is_read_only = is_read_only;
  array.memory = std::shared_ptr<std::byte>(kept, static_cast<std::byte*>(data));
  return array;
}
template Array imported_tensor(DLManagedTensor* tensor, const std::string& who);
template Array imported_tensor(DLManagedTensorVersioned* tensor, const std::string& who);

Array imported_by_dlpack(nb::handle object, const std::string& who) {
  const DLPackExchangeApi* const api = exchange_api_of(object.type());
  if (api != nullptr && api->from_object != nullptr) {
    DLManagedTensorVersioned* tensor = nullptr;
    if (api->from_object(object.ptr(), &tensor) != 0) throw nb::python_error();
    return imported_tensor(tensor, who);
  }
  if (!nb::hasattr(object, "__dlpack__") || !nb::hasattr(object, "__dlpack_device__")) {
    const std::string message = std::string("from_dlpack() takes what has __dlpack__, not ") +
                                nb::type_name(object.type()).c_str();
    throw nb::type_error(message.c_str());
  }
  const nb::object device = nb::object(object.attr("__dlpack_device__")());
  const nb::object method = object.attr("__dlpack__");
  nb::dict keywords;
  // What writes the array on a GPU comes before what is done on the legacy default stream.
  if (nb::cast<int>(nb::object(device[0])) == kDlpackCuda) keywords["stream"] = 1;
  nb::object capsule;
  try {
    capsule = method(**keywords, "max_version"_a = nb::make_tuple(1, 0));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    capsule = method(**keywords);  // a producer of before version 1
  }
  if (PyCapsule_IsValid(capsule.ptr(), kDlpackName<DLManagedTensorVersioned>) != 0) {
    return of_capsule<DLManagedTensorVersioned>(capsule.ptr(), who);
  }
  return of_capsule<DLManagedTensor>(capsule.ptr(), who);
}

std::optional<Array> imported(nb::handle object, const std::string& who) {
  if (Array* const array = array_of(object.ptr())) return *array;
  if (std::optional<Array> array = of_buffer(object, who)) return array;
  if (auto array = of_interface(object, "__array_interface__", DeviceKind::cpu, who)) return array;
  if (nb::hasattr(object, "__dlpack__")) return imported_by_dlpack(object, who);
  return of_interface(object, "__cuda_array_interface__", DeviceKind::cuda, who);
}

}  // namespace hoist::python
