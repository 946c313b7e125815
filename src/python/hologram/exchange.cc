// DLPack's exchange API, both ways. Its functions are called with the interpreter's lock, and throw
// nothing.
#include <new>

#include "array/dtype.h"
#include "python/hologram/dlpack.h"

namespace nb = nanobind;

namespace hoist::python::hologram {
namespace {

int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
             DLPackExchangeApi::SetError set_error) {
  const array::DlpackType type = array::properties(array::DType::f32).dlpack;
  if (prototype->device_type != kDlpackCpu || prototype->code != type.code ||
      prototype->bits != type.bits || prototype->lanes != 1) {
    set_error(context, "BufferError", "hologram_ffi has arrays of float32 on the CPU only");
    return -1;
  }
  try {
    *out = export_view(new_array({prototype->shape, prototype->shape + prototype->ndim}), 0);
    return 0;
  } catch (const std::bad_alloc&) {
    set_error(context, "MemoryError", "out of memory");
    return -1;
  }
}

int from_object(void* object, DLManagedTensorVersioned** out) {
  return exchange_status([&] {
    *out = export_view(*nb::inst_ptr<ArrayView>(nb::handle(static_cast<PyObject*>(object))), 0);
  });
}

int to_object(DLManagedTensorVersioned* tensor, void** object) {
  return exchange_status([&] {
    ArrayView view = import_tensor(tensor);
    if (!view.memory) throw nb::buffer_error("hologram_ffi has arrays of float32 on the CPU only");
    *object = nb::cast(std::move(view)).release().ptr();
  });
}

int view_of_object(void* object, DLTensor* out) {
  *out = dl_tensor(*nb::inst_ptr<ArrayView>(nb::handle(static_cast<PyObject*>(object))));
  return 0;
}

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

nb::object exchange_capsule() {
  nb::object capsule = nb::steal(PyCapsule_New(&own_api, kExchangeCapsule, nullptr));
  if (!capsule.is_valid()) throw nb::python_error();
  return capsule;
}

ArrayView import_by_exchange(nb::handle object) {
  const DLPackExchangeApi* const api = exchange_api_of(object.type());
  if (api == nullptr) return {};
  DLManagedTensorVersioned* tensor = nullptr;
  if (api->from_object(object.ptr(), &tensor) != 0) {
    PyErr_Clear();  // there are other ways, whose refusal is told
    return {};
  }
  return import_tensor(tensor);
}

}  // namespace hoist::python::hologram
