#include "python/hologram/dlpack.h"

#include <algorithm>
#include <new>

#include "array/dtype.h"
#include "graph/memory/linear_pool.h"

namespace nb = nanobind;

namespace hoist::python::hologram {
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
  auto* const managed = exported_tensor<DLManagedTensorVersioned>(std::move(view));
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
    return dlpack_capsule_of(export_view(std::move(given), copies ? kDlpackIsCopied : 0));
  }
  if (given.is_read_only) {
    throw nb::buffer_error(
        "a read-only array needs DLPack 1.0: pass max_version=(1, 0), or copy=True");
  }
  return dlpack_capsule_of(exported_tensor<DLManagedTensor>(std::move(given)));
}

}  // namespace hoist::python::hologram
