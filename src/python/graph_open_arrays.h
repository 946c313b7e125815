// The arrays of one call, opened without a step through Python: Arrays, by the buffer protocol, or
// by DLPack's exchange API.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/program/graph.h"
#include "python/array/array.h"
#include "python/array/formats.h"
#include "python/dlpack.h"

namespace hoist::python {

// The exchange API of the type that was asked for last.
class ExchangeApi {
 public:
  const DLPackExchangeApi* of(PyObject* object) {
    PyTypeObject* const type = Py_TYPE(object);
    return reinterpret_cast<PyObject*>(type) == type_.ptr() ? api_ : find(type);
  }

 private:
  const DLPackExchangeApi* find(PyTypeObject* type);

  nanobind::object type_;
  const DLPackExchangeApi* api_ = nullptr;
};

// A contiguous array, whatever it was opened by.
struct OpenArray {
  void* data = nullptr;
  // c128, which no program takes: another type.
  array::DType dtype = array::DType::c128;
  size_t rank = 0;
  const int64_t* shape = nullptr;

  // Memory across the alignment of its elements is refused, by what tells why.
  bool is_aligned() const {
    return (reinterpret_cast<uintptr_t>(data) & (array::properties(dtype).bytes - 1)) == 0;
  }

  bool fits(const graph::program::Node& node) const {
    if (rank != node.shape.size()) return false;
    if (node.dtype != dtype) return false;
    for (size_t i = 0; i < rank; ++i) {
      if (shape[i] != node.shape[i]) return false;
    }
    return true;
  }
};

template <size_t kMost>
class OpenArrays {
 public:
  explicit OpenArrays(ExchangeApi& exchange) : exchange_(exchange) {}
  ~OpenArrays() {
    while (buffers_open_ > 0) PyBuffer_Release(&buffers_[--buffers_open_]);
  }
  OpenArrays(const OpenArrays&) = delete;
  OpenArrays& operator=(const OpenArrays&) = delete;

  // Whether it could be opened; kMost at most.
  bool open(PyObject* object, bool is_written) {
    if (const Array* const array = array_of(object)) return open_array(*array, is_written);
    if (PyObject_CheckBuffer(object) == 0) return open_exchanged(object, is_written);
    Py_buffer& buffer = buffers_[buffers_open_];
    const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (is_written ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, &buffer, flags) != 0) {
      PyErr_Clear();  // there are other ways, whose refusal is told
      return false;
    }
    ++buffers_open_;
    static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
    return add({buffer.buf,
                dtype_of_format(buffer.format, static_cast<size_t>(buffer.itemsize))
                    .value_or(array::DType::c128),
                static_cast<size_t>(buffer.ndim), reinterpret_cast<const int64_t*>(buffer.shape)});
  }

  const OpenArray& operator[](size_t i) const { return arrays_[i]; }
  size_t count() const { return count_; }
  // Whether one of them is an Array.
  bool has_array() const { return has_array_; }

 private:
  bool add(const OpenArray& opened) {
    if (!opened.is_aligned()) return false;
    arrays_[count_++] = opened;
    return true;
  }

  bool open_array(const Array& given, bool is_written) {
    has_array_ = true;
    const Array* array = &given;
    if (given.view.device.kind != array::DeviceKind::cpu) return false;
    if (is_written && (given.is_read_only || !given.is_contiguous)) return false;
    if (!given.is_contiguous) {
      copies_.reserve(kMost);
      array = &copies_.emplace_back(copy_on_cpu(given));
    }
    // Its alignment was looked at when it was made.
    arrays_[count_++] = {array->view.data, given.view.dtype, static_cast<size_t>(given.view.rank),
                         given.view.extents.data()};
    return true;
  }

  // A view does not tell; a managed tensor does.
  static bool is_writable(const DLPackExchangeApi& api, PyObject* object) {
    DLManagedTensorVersioned* tensor = nullptr;
    if (api.from_object == nullptr || api.from_object(object, &tensor) != 0) {
      PyErr_Clear();
      return false;
    }
    const bool is_read_only = (tensor->flags & kDlpackReadOnly) != 0;
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
    return !is_read_only;
  }

  bool open_exchanged(PyObject* object, bool is_written) {
    const DLPackExchangeApi* const api = exchange_.of(object);
    DLTensor tensor{};
    if (api == nullptr || (is_written && !is_writable(*api, object))) return false;
    if (api->view_of_object(object, &tensor) != 0) {
      PyErr_Clear();
      return false;
    }
    if (tensor.device_type != kDlpackCpu || tensor.lanes != 1) return false;
    // Without signs: with an extent of 0 the others' product may be any.
    uint64_t stride = 1;
    for (int32_t i = tensor.ndim; tensor.strides != nullptr && i-- > 0;) {
      const auto extent = static_cast<uint64_t>(tensor.shape[i]);
      if (extent != 1 && static_cast<uint64_t>(tensor.strides[i]) != stride) return false;
      stride *= extent;
    }
    const auto* const type = array::find_dtype(array::DlpackType{tensor.code, tensor.bits});
    return add({static_cast<std::byte*>(tensor.data) + tensor.byte_offset,
                type == nullptr ? array::DType::c128 : type->dtype,
                static_cast<size_t>(tensor.ndim), tensor.shape});
  }

  ExchangeApi& exchange_;
  size_t count_ = 0;
  size_t buffers_open_ = 0;
  bool has_array_ = false;
  std::vector<Array> copies_;  // of those with gaps
  OpenArray arrays_[kMost];
  Py_buffer buffers_[kMost];
};

}  // namespace hoist::python
