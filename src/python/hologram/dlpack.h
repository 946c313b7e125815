// What ArrayView gives to DLPack, and takes from it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "python/dlpack.h"
#include "python/hologram/array_view.h"

namespace hoist::python::hologram {

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
