// DLPack's structures are laid out as its specification 1.0 says (dmlc/dlpack, dlpack.h).
#include <cstring>
#include <new>

#include "array/dtype.h"
#include "graph/memory/linear_pool.h"
#include "python/hologram/array_view.h"

namespace nb = nanobind;

namespace hoist::python::hologram {
namespace {

struct DLTensor {
  void* data;
  int32_t device_type;
  int32_t device_id;
  int32_t ndim;
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
  int64_t* shape;
  int64_t* strides;
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

constexpr uint64_t kReadOnly = 1;
constexpr uint64_t kIsCopied = 2;
constexpr int32_t kCpu = 1;

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
nb::object capsule_of(ArrayView view, uint64_t flags) {
  auto exported = std::make_unique<Exported<Managed>>();
  exported->view = std::move(view);
  ArrayView& own = exported->view;
  const array::DlpackType type = array::properties(array::DType::f32).dlpack;
  Managed& managed = exported->managed;
  managed.tensor = {.data = own.data,
                    .device_type = kCpu,
                    .device_id = 0,
                    .ndim = static_cast<int32_t>(own.shape.size()),
                    .code = type.code,
                    .bits = type.bits,
                    .lanes = 1,
                    .shape = own.shape.data(),
                    .strides = own.strides.data(),
                    .byte_offset = 0};
  managed.manager = exported.get();
  managed.deleter = drop<Managed>;
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    managed.major = 1;
    managed.minor = 0;
    managed.flags = flags;
  }
  nb::object capsule =
      nb::steal(PyCapsule_New(&managed, kName<Managed>, drop_capsule<Managed>));
  if (!capsule.is_valid()) throw nb::python_error();
  (void)exported.release();  // NOLINT(bugprone-unused-return-value): the capsule's
  return capsule;
}

// The elements in memory of their own, in row-major order.
ArrayView copy_of(const ArrayView& view) {
  ArrayView copy = view;
  const auto elements = static_cast<size_t>(view.elements());
  Result<std::shared_ptr<std::byte>> memory =
      graph::LinearPool::process().allocate(elements * sizeof(float));
  if (!memory) throw std::bad_alloc();
  copy.memory = *std::move(memory);
  copy.data = reinterpret_cast<float*>(copy.memory.get());
  copy.is_read_only = false;
  int64_t stride = 1;
  for (size_t d = view.shape.size(); d-- > 0; stride *= view.shape[d]) copy.strides[d] = stride;
  for (size_t i = 0; i < elements; ++i) {
    auto rest = static_cast<int64_t>(i);
    int64_t at = 0;
    for (size_t d = view.shape.size(); d-- > 0; rest /= view.shape[d]) {
      at += rest % view.shape[d] * view.strides[d];
    }
    copy.data[i] = view.data[at];
  }
  return copy;
}

}  // namespace

int64_t ArrayView::elements() const {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

nb::object dlpack_capsule(const ArrayView& view, bool is_versioned, bool copies) {
  ArrayView exported = copies ? copy_of(view) : view;
  if (is_versioned) {
    const uint64_t flags = (exported.is_read_only ? kReadOnly : 0) | (copies ? kIsCopied : 0);
    return capsule_of<DLManagedTensorVersioned>(std::move(exported), flags);
  }
  if (exported.is_read_only) {
    throw nb::buffer_error(
        "a read-only array needs DLPack 1.0: pass max_version=(1, 0), or copy=True");
  }
  return capsule_of<DLManagedTensor>(std::move(exported), 0);
}

}  // namespace hoist::python::hologram
