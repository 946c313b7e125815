// The type itself: how its objects come and go.
#include <nanobind/nanobind.h>
#include <structmember.h>

#include <atomic>
#include <cstddef>
#include <vector>

#include "array/copy.h"
#include "graph/memory/linear_pool.h"
#include "python/array/parts.h"
#include "python/errors.h"

namespace nb = nanobind;

namespace hoist::python {

PyTypeObject* array_type = nullptr;

namespace {

using array::DeviceKind;
using array::DType;
using array::View;
using graph::LinearPool;

// Objects and memory of arrays that are gone, for the next ones: most programs make and drop arrays
// of the same few sizes. The interpreter's lock guards them.
class Idle {
 public:
  PyObject* take_object() { return objects_ > 0 ? object_[--objects_] : nullptr; }
  bool give_object(PyObject* object) {
    if (objects_ == kMostObjects) return false;
    object_[objects_++] = object;
    return true;
  }

  std::shared_ptr<std::byte> take_memory(size_t size_class) {
    Memory& memory = memory_[size_class];
    return memory.count > 0 ? std::move(memory.waits[--memory.count]) : nullptr;
  }
  void give_memory(size_t size_class, std::shared_ptr<std::byte> given) {
    Memory& memory = memory_[size_class];
    if (memory.count < kMostMemory) memory.waits[memory.count++] = std::move(given);
  }

  // Larger memory goes back to the pool, so that all that waits is little.
  static constexpr size_t kMostBytes = size_t{64} << 10;

 private:
  static constexpr size_t kMostObjects = 32;
  static constexpr size_t kMostMemory = 4;
  static constexpr size_t kSizeClasses = 64;
  struct Memory {
    std::shared_ptr<std::byte> waits[kMostMemory];
    size_t count = 0;
  };

  PyObject* object_[kMostObjects];
  size_t objects_ = 0;
  Memory memory_[kSizeClasses];
};

Idle& idle() {
  static Idle& only = *new Idle;
  return only;
}

void drop(Array& array) {
  if (array.size_class >= 0 && array.memory.use_count() == 1) {
    // Others, who had it, dropped it before.
    std::atomic_thread_fence(std::memory_order_acquire);
    idle().give_memory(static_cast<size_t>(array.size_class), std::move(array.memory));
  }
  array.~Array();
}

void deallocate(PyObject* self) {
  auto* const object = reinterpret_cast<ArrayObject*>(self);
  if (object->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  drop(object->array);
  PyTypeObject* const type = Py_TYPE(self);
  if (!idle().give_object(self)) PyObject_Free(self);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

// Its array is not constructed yet.
ArrayObject* new_object() {
  PyObject* self = idle().take_object();
  if (self != nullptr) {
    PyObject_Init(self, array_type);
  } else {
    self = reinterpret_cast<PyObject*>(PyObject_New(ArrayObject, array_type));
    if (self == nullptr) throw nb::python_error();
  }
  auto* const object = reinterpret_cast<ArrayObject*>(self);
  object->weak_references = nullptr;
  return object;
}

std::shared_ptr<std::byte> new_memory(int8_t size_class, size_t bytes) {
  if (size_class >= 0) {
    const auto waiting = static_cast<size_t>(size_class);
    if (auto memory = idle().take_memory(waiting)) return memory;
    bytes = LinearPool::class_bytes(waiting);
  }
  return value(LinearPool::process().allocate(bytes, LinearPool::Contents::unset));
}

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayObject, weak_references), READONLY, nullptr},
    {}};

}  // namespace

nb::object array_object(Array array) {
  ArrayObject* const object = new_object();
  new (&object->array) Array(std::move(array));
  return nb::steal(reinterpret_cast<PyObject*>(object));
}

nb::object new_array_object(const Array& model) {
  std::shared_ptr<std::byte> memory = new_memory(model.size_class, model.view.bytes());
  ArrayObject* const object = new_object();
  auto* const array = new (&object->array) Array{std::move(memory), model.view};
  array->view.data = array->memory.get();
  array->size_class = model.size_class;
  return nb::steal(reinterpret_cast<PyObject*>(object));
}

Array view_of(const Array& array, const View& view) {
  Array result = array;
  result.view = view;
  result.is_contiguous = view.is_contiguous();
  return result;
}

View row_major_view(DType dtype, std::span<const int64_t> shape, array::DeviceId device) {
  uint64_t extents[kMostDimensions];
  for (size_t d = 0; d < shape.size() && d < kMostDimensions; ++d) {
    if (shape[d] < 0) {
      raise({ErrorCode::invalid_argument, "an array of shape " + shape_text(shape)});
    }
    extents[d] = static_cast<uint64_t>(shape[d]);
  }
  if (shape.size() > kMostDimensions) {
    raise({ErrorCode::unsupported, "an array of " + std::to_string(shape.size()) +
                                       " axes: at most " + std::to_string(kMostDimensions)});
  }
  return value(View::of(nullptr, dtype, {extents, shape.size()}, device));
}

Array array_like(DType dtype, std::span<const int64_t> shape) {
  Array array;
  array.view = row_major_view(dtype, shape);
  const uint64_t bytes = array.view.bytes();
  if (bytes <= Idle::kMostBytes)
    array.size_class = static_cast<int8_t>(LinearPool::class_of(bytes));
  return array;
}

Array new_array(DType dtype, std::span<const int64_t> shape, array::DeviceId device) {
  Array array = array_like(dtype, shape);
  if (device.kind != DeviceKind::cpu) {
    array.view.device = device;
    array.size_class = -1;
    array.memory = device_memory(device, array.view.bytes());
  } else {
    array.memory = new_memory(array.size_class, array.view.bytes());
  }
  array.view.data = array.memory.get();
  return array;
}

Array copy_on_cpu(const Array& array) {
  Array copy = new_array(array.view.dtype, array.view.shape());
  copy_into(array, copy);
  return copy;
}

Array on_cpu(const Array& array) {
  return array.view.device.kind == DeviceKind::cpu ? array : copy_on_cpu(array);
}

Array converted(const Array& given, DType dtype) {
  const Array array = on_cpu(given);
  Array result = new_array(dtype, array.view.shape());
  array::copy_elements(array.view, result.view);
  return result;
}

void check_writable(const Array& array) {
  if (array.is_read_only) {
    raise({ErrorCode::invalid_argument, "the array is read-only: write to a copy()"});
  }
}

void define_array(nb::module_& module) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
      {Py_tp_members, members},
      {Py_tp_getset, array_attributes()},
      {Py_tp_hash, reinterpret_cast<void*>(PyObject_HashNotImplemented)}};
  for (const auto& part : {index_slots(), operator_slots(), buffer_slots()}) {
    slots.insert(slots.end(), part.begin(), part.end());
  }
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"hoist.graph.Array", sizeof(ArrayObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  PyObject* const type = PyType_FromSpec(&spec);
  if (type == nullptr) throw nb::python_error();
  array_type = reinterpret_cast<PyTypeObject*>(type);
  module.attr("Array") = nb::steal(type);
  define_array_attributes(module);
  define_array_methods(module);
  define_array_exports(module);
  define_array_creation(module);
  define_array_operators(module);
}

}  // namespace hoist::python
