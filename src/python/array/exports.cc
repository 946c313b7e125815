// Arrays for others, without copies: DLPack, and the array interfaces of NumPy and CUDA.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <string>

#include "python/array/parts.h"
#include "python/dlpack.h"
#include "python/errors.h"
#include "python/raising.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {

// exported_tensor() finds it by its argument.
DLTensor dl_tensor(Array& array) {
  const array::DlpackType type = array::properties(array.view.dtype).dlpack;
  return {.data = array.view.data,
          .device_type = static_cast<int32_t>(array.view.device.kind),
          .device_id = array.view.device.index,
          .ndim = array.view.rank,
          .code = type.code,
          .bits = type.bits,
          .lanes = 1,
          .shape = array.view.extents.data(),
          .strides = array.view.strides.data(),
          .byte_offset = 0};
}

namespace {

using array::DeviceKind;
using array::DType;

// NumPy's name of a type: "<f4". AttributeError for those that it lacks.
std::string typestr_of(DType dtype) {
  const array::DTypeProperties& type = array::properties(dtype);
  if (dtype == DType::bf16) {
    throw nb::attribute_error("the interface has no bfloat16: use DLPack, or __array__()");
  }
  const std::string bytes = std::to_string(type.bytes);
  if (dtype == DType::boolean) return "|b1";
  if (type.is_float) return "<f" + bytes;
  const bool is_unsigned = type.framework.front() == 'u';
  return (type.bytes == 1 ? "|" : "<") + std::string(is_unsigned ? "u" : "i") + bytes;
}

nb::dict interface(const Array& array) {
  nb::dict interface;
  const auto item = static_cast<int64_t>(array::properties(array.view.dtype).bytes);
  const auto rank = static_cast<size_t>(array.view.rank);
  interface["shape"] = tuple_of(array.view.shape());
  interface["typestr"] = typestr_of(array.view.dtype);
  interface["data"] =
      nb::make_tuple(reinterpret_cast<uintptr_t>(array.view.data), array.is_read_only);
  interface["strides"] = array.is_contiguous
                             ? nb::object(nb::none())
                             : nb::object(tuple_of({array.view.strides.data(), rank}, item));
  interface["version"] = 3;
  return interface;
}

DLManagedTensorVersioned* exported(Array array, uint64_t flags) {
  if (array.is_read_only) flags |= kDlpackReadOnly;
  auto* const managed = exported_tensor<DLManagedTensorVersioned>(std::move(array));
  managed->flags = flags;
  return managed;
}

// What the consumer does on its stream follows what was done here, on the legacy default stream.
void await_work(const Array& array, nb::handle stream) {
  const int64_t number = stream.is_none() ? 1 : nb::cast<int64_t>(stream);
  if (array.view.device.kind == DeviceKind::cpu) {
    if (!stream.is_none()) throw nb::buffer_error("the CPU has no streams: pass stream=None");
    return;
  }
  if (number == 0) throw nb::buffer_error("stream 0 is ambiguous: pass 1, 2, or a stream");
  if (number != -1) check(device_of(array.view.device).synchronize(device::StreamHandle{}));
}

nb::object dlpack(nb::handle self, nb::handle stream, nb::handle max_version, nb::handle dl_device,
                  nb::handle copy) {
  const Array& array = self_of(self);
  await_work(array, stream);
  Array given = array;
  bool copies = !copy.is_none() && nb::cast<bool>(copy);
  if (!dl_device.is_none()) {
    const array::DeviceId device{static_cast<DeviceKind>(nb::cast<int32_t>(dl_device[0])),
                                 nb::cast<int32_t>(dl_device[1])};
    if (device != array.view.device) {
      if (!copy.is_none() && !copies) {
        throw nb::buffer_error("the array lies on another device: pass copy=None or True");
      }
      if (device != array::DeviceId{}) {
        throw nb::buffer_error("the array can be had where it lies, or on the CPU, (1, 0)");
      }
      copies = true;
      given = copy_on_cpu(array);
    }
  }
  if (copies && given.view.device == array.view.device && given.memory == array.memory) {
    given = array.view.device == array::DeviceId{} ? copy_on_cpu(array)
                                                   : on_device(array, array.view.device, {});
  }
  if (copies) given.is_read_only = false;
  if (!max_version.is_none() && nb::cast<int>(max_version[0]) >= 1) {
    return dlpack_capsule_of(exported(std::move(given), copies ? kDlpackIsCopied : 0));
  }
  if (given.is_read_only) {
    throw nb::buffer_error(
        "a read-only array needs DLPack 1.0: pass max_version=(1, 0), or copy=True");
  }
  return dlpack_capsule_of(exported_tensor<DLManagedTensor>(std::move(given)));
}

// The exchange API, called with the interpreter's lock.

int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
             DLPackExchangeApi::SetError set_error) {
  const array::DTypeProperties* const type =
      prototype->lanes == 1 ? array::find_dtype({prototype->code, prototype->bits}) : nullptr;
  try {
    const nb::gil_scoped_acquire gil;
    if (type == nullptr) throw nb::buffer_error("an element type that hoist.graph lacks");
    const array::DeviceId device{static_cast<DeviceKind>(prototype->device_type),
                                 prototype->device_id};
    if (device.kind != DeviceKind::cpu && device.kind != DeviceKind::cuda) {
      throw nb::buffer_error("hoist.graph has arrays on the CPU and on CUDA GPUs");
    }
    *out = exported(new_array(dtype_named(type->framework),
                              {prototype->shape, static_cast<size_t>(prototype->ndim)}, device),
                    0);
    return 0;
  } catch (const std::bad_alloc&) {
    set_error(context, "MemoryError", "out of memory");
  } catch (const std::exception& error) {
    set_error(context, "BufferError", error.what());
  }
  return -1;
}

int from_object(void* object, DLManagedTensorVersioned** out) {
  return exchange_status([&] { *out = exported(self_of(static_cast<PyObject*>(object)), 0); });
}

int to_object(DLManagedTensorVersioned* tensor, void** object) {
  return exchange_status([&] { *object = array_object(imported_tensor(tensor)).release().ptr(); });
}

int view_of_object(void* object, DLTensor* out) {
  *out = dl_tensor(self_of(static_cast<PyObject*>(object)));
  return 0;
}

// Work is done on the legacy default stream.
int current_stream(int32_t, int32_t, void** stream) {
  *stream = nullptr;
  return 0;
}

constinit DLPackExchangeApi own_api = {.major = 1,
                                       .minor = 3,
                                       .previous = nullptr,
                                       .allocate = allocate,
                                       .from_object = from_object,
                                       .to_object = to_object,
                                       .view_of_object = view_of_object,
                                       .current_stream = current_stream};

}  // namespace

PyObject* array_interface(PyObject* self, void*) {
  return raising([&] {
    const Array& array = self_of(self);
    if (array.view.device.kind != DeviceKind::cpu) {
      throw nb::attribute_error("the array lies on a GPU: copy it by to_device(\"cpu\")");
    }
    return interface(array).release().ptr();
  });
}

PyObject* cuda_array_interface(PyObject* self, void*) {
  return raising([&] {
    const Array& array = self_of(self);
    if (array.view.device.kind != DeviceKind::cuda) {
      throw nb::attribute_error("the array lies on the CPU");
    }
    nb::dict dict = interface(array);
    dict["stream"] = 1;  // the legacy default one
    return dict.release().ptr();
  });
}

void define_array_exports(nb::module_& module) {
  const nb::object type = module.attr("Array");
  nb::cpp_function_def(dlpack, nb::scope(type), nb::name("__dlpack__"), nb::is_method(),
                       nb::kw_only(), "stream"_a = nb::none(), "max_version"_a = nb::none(),
                       "dl_device"_a = nb::none(), "copy"_a = nb::none());
  nb::cpp_function_def(
      [](nb::handle self) {
        const array::DeviceId device = self_of(self).view.device;
        return nb::make_tuple(static_cast<int32_t>(device.kind), device.index);
      },
      nb::scope(type), nb::name("__dlpack_device__"), nb::is_method());
  const nb::object capsule = nb::steal(PyCapsule_New(&own_api, kExchangeCapsule, nullptr));
  if (!capsule.is_valid()) throw nb::python_error();
  type.attr(kExchangeAttribute) = capsule;
}

}  // namespace hoist::python
