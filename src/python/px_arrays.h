// Arrays that a px kernel is given, where they lie: nothing is copied.
//
// An array is what has the buffer protocol, DLPack, `__cuda_array_interface__` or
// `__array_interface__`. All are called with the interpreter's lock held.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "device/device.h"
#include "ir/type.h"

namespace hoist::python {

struct PxArray {
  void* data = nullptr;
  uint64_t length = 0;             // in elements, of all dimensions
  std::optional<ir::Scalar> type;  // none: kernels do not compute with it
  std::string type_text;           // as the array says it, for messages
  bool is_read_only = false;
  bool is_contiguous = true;          // in C's order
  int gpu = -1;                       // its number; -1: host memory
  std::shared_ptr<const void> owner;  // keeps the memory; its last copy goes with the lock held

  // A stream whose work writes the array; none: it is written.
  std::optional<device::StreamHandle> stream;
};

// TypeError where the object is no array; errors of the object's own methods pass. `who` names the
// parameter: "k: x".
PxArray px_array(nanobind::handle object, bool is_written, const std::string& who);

}  // namespace hoist::python
