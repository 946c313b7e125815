// DLPack's structures, laid out as its specification 1.3 says (dmlc/dlpack, dlpack.h), and what
// ArrayView makes of them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "python/hologram/array_view.h"

namespace hoist::python::hologram {

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

// Points into the view.
DLTensor dl_tensor(ArrayView& view);
std::vector<int64_t> row_major_strides(const std::vector<int64_t>& shape);
// Zeros, without gaps. std::bad_alloc where there is no memory.
ArrayView new_array(std::vector<int64_t> shape);
// To be dropped by its deleter, from any thread.
DLManagedTensorVersioned* export_view(ArrayView view, uint64_t flags);
// Elements in memory of the view's own, in row-major order.
ArrayView copy_of(const ArrayView& view);
// Takes a tensor: it is dropped with the view, or now where it is none of float32 on the CPU, which
// gives a view without memory.
ArrayView import_tensor(DLManagedTensorVersioned* tensor);
// The same of an object whose type has the exchange API.
ArrayView import_by_exchange(nanobind::handle object);

// The attribute of ArrayView.
nanobind::object exchange_capsule();

}  // namespace hoist::python::hologram
