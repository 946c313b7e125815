// DLPack's structures, laid out as its specification 1.3 says (dmlc/dlpack, dlpack.h), and the
// capsules that they travel in.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace hoist::python {

struct DLTensor {
  void* data;
  int32_t device_type;
  int32_t device_id;
  int32_t ndim;
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
  int64_t* shape;
  int64_t* strides;  // null: row-major
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor tensor;
  void* manager;
  void (*deleter)(DLManagedTensor*);
};

struct DLManagedTensorVersioned {
  uint32_t major;
  uint32_t minor;
  void* manager;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;
  DLTensor tensor;
};

inline constexpr uint64_t kDlpackReadOnly = 1;
inline constexpr uint64_t kDlpackIsCopied = 2;
inline constexpr int32_t kDlpackCpu = 1;
inline constexpr int32_t kDlpackCuda = 2;
inline constexpr int32_t kDlpackCudaHost = 3;

// What a type's attribute __dlpack_c_exchange_api__ points to: arrays are exchanged without calls
// of Python's.
struct DLPackExchangeApi {
  uint32_t major;
  uint32_t minor;
  DLPackExchangeApi* previous;
  using SetError = void (*)(void* context, const char* kind, const char* message);
  int (*allocate)(DLTensor* prototype, DLManagedTensorVersioned** out, void* context, SetError);
  int (*from_object)(void* object, DLManagedTensorVersioned** out);
  int (*to_object)(DLManagedTensorVersioned* tensor, void** object);
  int (*view_of_object)(void* object, DLTensor* out);
  int (*current_stream)(int32_t device_type, int32_t device_id, void** stream);
};

inline constexpr const char* kExchangeAttribute = "__dlpack_c_exchange_api__";
inline constexpr const char* kExchangeCapsule = "dlpack_exchange_api";

template <typename Managed>
inline constexpr const char* kDlpackName = "dltensor";
template <>
inline constexpr const char* kDlpackName<DLManagedTensorVersioned> = "dltensor_versioned";

// A tensor that goes out: what keeps its memory lies beside it until the consumer drops it, from
// any thread, with or without the interpreter's lock. dl_tensor(Kept&) points into what is kept.
template <typename Managed, typename Kept>
Managed* exported_tensor(Kept given) {
  struct Exported {
    Managed managed{};
    Kept kept;
  };
  auto* const exported = new Exported{{}, std::move(given)};
  exported->managed.tensor = dl_tensor(exported->kept);
  exported->managed.manager = exported;
  exported->managed.deleter = [](Managed* managed) {
    delete static_cast<Exported*>(managed->manager);
  };
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) exported->managed.major = 1;
  return &exported->managed;
}

// Takes the tensor, which is dropped with the capsule unless a consumer has taken it (and renamed
// the capsule).
template <typename Managed>
nanobind::object dlpack_capsule_of(Managed* managed) {
  const auto drop = [](PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, kDlpackName<Managed>) == 0) return;
    auto* const it = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kDlpackName<Managed>));
    it->deleter(it);
  };
  nanobind::object capsule = nanobind::steal(PyCapsule_New(managed, kDlpackName<Managed>, drop));
  if (capsule.is_valid()) return capsule;
  managed->deleter(managed);
  throw nanobind::python_error();
}

// What the object's type has, of version 1; nullptr: nothing.
inline const DLPackExchangeApi* exchange_api_of(nanobind::handle type) {
  const nanobind::object capsule = nanobind::getattr(type, kExchangeAttribute, nanobind::handle());
  if (!capsule.is_valid() || PyCapsule_IsValid(capsule.ptr(), kExchangeCapsule) == 0) {
    return nullptr;
  }
  const auto* api =
      static_cast<const DLPackExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), kExchangeCapsule));
  while (api != nullptr && api->major != 1) api = api->previous;
  return api;
}

// run(), which gives 0; -1 with Python's exception set where it throws. For functions of that API.
template <typename Run>
int exchange_status(const Run& run) noexcept {
  try {
    run();
    return 0;
  } catch (nanobind::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
  }
  return -1;
}

}  // namespace hoist::python
