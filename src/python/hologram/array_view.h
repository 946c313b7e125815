// What buffer_view() and tensor_view() give: the elements where they lie, for the buffer protocol,
// NumPy and DLPack. Keeps the memory alive, not the handle and its class.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace hoist::python::hologram {

struct ArrayView {
  std::shared_ptr<std::byte> memory;
  float* data = nullptr;
  bool is_read_only = false;
  // In elements, as DLPack has them.
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;

  int64_t elements() const;
};

// A DLPack capsule: "dltensor_versioned" where the consumer knows version 1, else "dltensor".
// `copies`: of a copy of the elements. BufferError where a read-only view would need the newer one.
nanobind::object dlpack_capsule(const ArrayView& view, bool is_versioned, bool copies);

}  // namespace hoist::python::hologram
