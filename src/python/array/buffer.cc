// The buffer protocol.
#include <new>

#include "python/array/parts.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

using array::DeviceKind;
using array::DType;
using array::View;

// The format of Python's module struct; nullptr: it has none.
const char* format_of(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return "?";
    case DType::i8:
      return "b";
    case DType::u8:
      return "B";
    case DType::i16:
      return "h";
    case DType::u16:
      return "H";
    case DType::i32:
      return "i";
    case DType::u32:
      return "I";
    case DType::i64:
      return sizeof(long) == 8 ? "l" : "q";
    case DType::u64:
      return sizeof(long) == 8 ? "L" : "Q";
    case DType::f16:
      return "e";
    case DType::f32:
      return "f";
    case DType::f64:
      return "d";
    default:
      return nullptr;
  }
}

bool is_contiguous_by_columns(const View& view) {
  if (view.elements() == 0) return true;
  int64_t stride = 1;
  for (size_t d = 0; d < static_cast<size_t>(view.rank); ++d) {
    if (view.extents[d] != 1 && view.strides[d] != stride) return false;
    stride *= view.extents[d];
  }
  return true;
}

// Why a consumer that asks by these flags cannot have it; nullptr where it can.
const char* refusal(const Array& array, int flags) {
  if (array.view.device.kind != DeviceKind::cpu) {
    return "the array lies on a GPU: copy it by to_device(\"cpu\")";
  }
  if (format_of(array.view.dtype) == nullptr) return "buffers have no such type: use DLPack";
  const auto asks = [&](int flag) { return (flags & flag) == flag; };
  if (asks(PyBUF_WRITABLE) && array.is_read_only) return "the array is read-only";
  if (array.is_contiguous && !asks(PyBUF_F_CONTIGUOUS)) return nullptr;
  const bool by_columns = is_contiguous_by_columns(array.view);
  const bool fits = asks(PyBUF_C_CONTIGUOUS)     ? array.is_contiguous
                    : asks(PyBUF_F_CONTIGUOUS)   ? by_columns
                    : asks(PyBUF_ANY_CONTIGUOUS) ? array.is_contiguous || by_columns
                    : asks(PyBUF_STRIDES)        ? true
                                                 : array.is_contiguous;
  return fits ? nullptr : "the array has gaps: ask for its strides";
}

int get_buffer(PyObject* object, Py_buffer* buffer, int flags) noexcept {
  const Array& array = self_of(object);
  const View& view = array.view;
  buffer->obj = nullptr;
  if (const char* const refused = refusal(array, flags)) {
    PyErr_SetString(PyExc_BufferError, refused);
    return -1;
  }
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  const auto item = static_cast<Py_ssize_t>(array::properties(view.dtype).bytes);
  Py_ssize_t* strides = nullptr;
  if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES && view.rank > 0) {
    strides = new (std::nothrow) Py_ssize_t[kMostDimensions];
    if (strides == nullptr) {
      PyErr_NoMemory();
      return -1;
    }
    for (size_t d = 0; d < static_cast<size_t>(view.rank); ++d) {
      strides[d] = static_cast<Py_ssize_t>(view.strides[d]) * item;
    }
  }
  buffer->buf = view.data;
  buffer->obj = Py_NewRef(object);
  buffer->len = static_cast<Py_ssize_t>(view.bytes());
  buffer->itemsize = item;
  buffer->readonly = array.is_read_only ? 1 : 0;
  buffer->ndim = view.rank;
  buffer->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format_of(view.dtype)) : nullptr;
  // An object's shape never changes.
  buffer->shape =
      (flags & PyBUF_ND) == 0 || view.rank == 0
          ? nullptr
          : const_cast<Py_ssize_t*>(reinterpret_cast<const Py_ssize_t*>(view.extents.data()));
  buffer->strides = strides;
  buffer->suboffsets = nullptr;
  buffer->internal = strides;
  return 0;
}

void release_buffer(PyObject*, Py_buffer* buffer) noexcept {
  delete[] static_cast<Py_ssize_t*>(buffer->internal);
}

const PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                             {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)}};

}  // namespace

std::span<const PyType_Slot> buffer_slots() { return slots; }

}  // namespace hoist::python
