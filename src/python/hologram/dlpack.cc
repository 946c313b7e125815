#include "python/hologram/dlpack.h"

#include <algorithm>
#include <new>

#include "array/dtype.h"
#include "graph/memory/linear_pool.h"

namespace nb = nanobind;

namespace hoist::python::hologram {
namespace {

template <typename Managed>
constexpr const char* kName = "dltensor";
template <>
constexpr const char* kName<DLManagedTensorVersioned> = "dltensor_versioned";

template <typename Managed>
struct Exported {
  Managed managed{};
  ArrayView view;
};

// The consumer's call, from any thread, with or without the interpreter's lock.
template <typename Managed>
void drop(Managed* managed) {
  delete static_cast<Exported<Managed>*>(managed->manager);
}

// A capsule that nobody has taken; a consumer renames it.
template <typename Managed>
void drop_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kName<Managed>) == 0) return;
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kName<Managed>));
  managed->deleter(managed);
}

template <typename Managed>
Managed* exported(ArrayView view) {
  auto* const kept = new Exported<Managed>;
  kept->view = std::move(view);
  kept->managed.tensor = dl_tensor(kept->view);
  kept->managed.manager = kept;
  kept->managed.deleter = drop<Managed>;
  return &kept->managed;
}

template <typename Managed>
nb::object capsule_of(Managed* managed) {
  nb::object capsule = nb::steal(PyCapsule_New(managed, kName<Managed>, drop_capsule<Managed>));
  if (capsule.is_valid()) return capsule;
  managed->deleter(managed);
  throw nb::python_error();
}

}  // namespace

int64_t ArrayView::elements() const {
  int64_t count = 1;
  // A product that a 0 comes behind could overflow.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

DLTensor dl_tensor(ArrayView& view) {
  const array::DlpackType type = array::properties(array::DType::f32).dlpack;
  return {.data = view.data,
          .device_type = kDlpackCpu,
          .device_id = 0,
          .ndim = static_cast<int32_t>(view.shape.size()),
          .code = type.code,
          .bits = type.bits,
          .lanes = 1,
          .shape = view.shape.data(),
          .strides = view.strides.data(),
          .byte_offset = 0};
}

DLManagedTensorVersioned* export_view(ArrayView view, uint64_t flags) {
  if (view.is_read_only) flags |= kDlpackReadOnly;
  auto* const managed = exported<DLManagedTensorVersioned>(std::move(view));
  managed->major = 1;
  managed->minor = 0;
  managed->flags = flags;
  return managed;
}

std::vector<int64_t> row_major_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  // Without signs: with an extent of 0 the others' product may be any.
  uint64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= static_cast<uint64_t>(shape[d])) {
    strides[d] = static_cast<int64_t>(stride);
  }
  return strides;
}

ArrayView new_array(std::vector<int64_t> shape) {
  ArrayView array;
  array.strides = row_major_strides(shape);
  array.shape = std::move(shape);
  const auto elements = static_cast<size_t>(array.elements());
  Result<std::shared_ptr<std::byte>> memory =
      graph::LinearPool::process().allocate(elements * sizeof(float));
  if (!memory) throw std::bad_alloc();
  array.memory = *std::move(memory);
  array.data = reinterpret_cast<float*>(array.memory.get());
  return array;
}

ArrayView copy_of(const ArrayView& view) {
  ArrayView copy = new_array(view.shape);
  const int64_t elements = view.elements();
  for (int64_t i = 0; i < elements; ++i) {
    int64_t rest = i;
    int64_t at = 0;
    for (size_t d = view.shape.size(); d-- > 0; rest /= view.shape[d]) {
      at += rest % view.shape[d] * view.strides[d];
    }
    copy.data[i] = view.data[at];
  }
  return copy;
}

ArrayView import_tensor(DLManagedTensorVersioned* tensor) {
  const std::shared_ptr<DLManagedTensorVersioned> kept(tensor, [](DLManagedTensorVersioned* it) {
    if (it->deleter != nullptr) it->deleter(it);
  });
  const DLTensor& it = tensor->tensor;
  const array::DlpackType type = array::properties(array::DType::f32).dlpack;
  ArrayView view;
  if (tensor->major != 1 || it.device_type != kDlpackCpu || it.code != type.code ||
      it.bits != type.bits || it.lanes != 1) {
    return view;
  }
  view.shape.assign(it.shape, it.shape + it.ndim);
  if (it.strides == nullptr) {
    view.strides = row_major_strides(view.shape);
  } else {
    view.strides.assign(it.strides, it.strides + it.ndim);
  }
  view.is_read_only = (tensor->flags & kDlpackReadOnly) != 0;
  // An empty tensor may have no address. The view has one, for without memory it would be none.
  alignas(float) static std::byte nothing[sizeof(float)];
  auto* const data =
      it.data == nullptr ? nothing : static_cast<std::byte*>(it.data) + it.byte_offset;
  view.data = reinterpret_cast<float*>(data);
  view.memory = std::shared_ptr<std::byte>(kept, data);
  return view;
}

nb::object dlpack_capsule(const ArrayView& view, bool is_versioned, bool copies) {
  ArrayView given = copies ? copy_of(view) : view;
  if (is_versioned) {
    return capsule_of(export_view(std::move(given), copies ? kDlpackIsCopied : 0));
  }
  if (given.is_read_only) {
    throw nb::buffer_error(
        "a read-only array needs DLPack 1.0: pass max_version=(1, 0), or copy=True");
  }
  return capsule_of(exported<DLManagedTensor>(std::move(given)));
}

}  // namespace hoist::python::hologram
