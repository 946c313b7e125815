#include "python/match_collection.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "python/errors.h"
#include "python/interruptible.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

constexpr size_t kBlock = size_t{1} << 14;  // symbols

// None, NaN, and pandas' NA.
bool is_missing(nb::handle item) {
  if (item.is_none()) return true;
  if (PyUnicode_Check(item.ptr()) || PyList_Check(item.ptr()) || PyTuple_Check(item.ptr())) {
    return false;
  }
  if (PyFloat_Check(item.ptr())) return std::isnan(PyFloat_AsDouble(item.ptr()));
  return nb::cast<std::string>(item.type().attr("__name__")) == "NAType";
}

// Lengths have 31 bits.
template <typename Symbol>
match::Sequence sequence_of(const Symbol* symbols, size_t length) {
  if (length >> 31 == 0) return {symbols, length};
  raise({ErrorCode::invalid_argument,
         "a sequence of " + std::to_string(length) + " elements: fewer than 2147483648"});
}

match::Sequence bytes_of(nb::handle item) {
  return sequence_of(reinterpret_cast<const uint8_t*>(PyBytes_AsString(item.ptr())),
                     static_cast<size_t>(PyBytes_Size(item.ptr())));
}

}  // namespace

Collection::Collection(nb::handle items, ElementNumbers& numbers, const nb::object& processor)
    : items_(nb::steal(PySequence_Tuple(items.ptr()))) {
  if (!items_.is_valid()) throw nb::python_error();
  const Py_ssize_t size = PyTuple_Size(items_.ptr());
  sequences_.reserve(static_cast<size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    check_signals(static_cast<size_t>(i));
    const nb::handle item = NB_TUPLE_GET_ITEM(items_.ptr(), i);
    if (processor.is_none() && PyUnicode_Check(item.ptr())) {
      sequences_.push_back(text(item));
    } else if (is_missing(item)) {
      missing_.push_back(static_cast<size_t>(i));
      sequences_.emplace_back();
    } else if (processor.is_none()) {
      sequences_.push_back(elements(item, numbers));
    } else {
      processed_.push_back(processor(item));
      sequences_.push_back(elements(processed_.back(), numbers));
    }
    symbols_ += sequences_.back().length;
  }
}

match::Sequence Collection::text(nb::handle item) {
#ifdef Py_LIMITED_API
  if (!is_ascii_.is_valid()) is_ascii_ = nb::handle((PyObject*)&PyUnicode_Type).attr("isascii");
  PyObject* const arguments[] = {item.ptr()};
  const nb::object is_ascii =
      nb::steal(PyObject_Vectorcall(is_ascii_.ptr(), arguments, 1, nullptr));
  if (!is_ascii.is_valid()) throw nb::python_error();
  Py_ssize_t size = 0;
  if (is_ascii.is(nb::handle(Py_True))) {
    const char* const ascii = PyUnicode_AsUTF8AndSize(item.ptr(), &size);
    if (ascii == nullptr) throw nb::python_error();
    return sequence_of(reinterpret_cast<const uint8_t*>(ascii), static_cast<size_t>(size));
  }
  size = PyUnicode_GetLength(item.ptr());
  uint32_t* const copy = room(static_cast<size_t>(size));
  if (PyUnicode_AsUCS4(item.ptr(), copy, size, 0) == nullptr) throw nb::python_error();
  return sequence_of(copy, static_cast<size_t>(size));
#else
#if PY_VERSION_HEX < 0x030c0000
  if (PyUnicode_READY(item.ptr()) != 0) throw nb::python_error();
#endif
  const auto size = static_cast<size_t>(PyUnicode_GET_LENGTH(item.ptr()));
  switch (PyUnicode_KIND(item.ptr())) {
    case PyUnicode_1BYTE_KIND:
      return sequence_of(PyUnicode_1BYTE_DATA(item.ptr()), size);
    case PyUnicode_2BYTE_KIND:
      return sequence_of(PyUnicode_2BYTE_DATA(item.ptr()), size);
    default:
      return sequence_of(PyUnicode_4BYTE_DATA(item.ptr()), size);
  }
#endif
}

match::Sequence Collection::elements(nb::handle item, ElementNumbers& numbers) {
  if (PyUnicode_Check(item.ptr())) return text(item);
  if (PyBytes_CheckExact(item.ptr())) return bytes_of(item);
  // What has no length is no sequence, though it may be iterable.
  if (PyObject_Size(item.ptr()) < 0) throw nb::python_error();
  numbers_.clear();
  numbers.append(item, numbers_);
  uint32_t* const copy = room(numbers_.size());
  std::copy(numbers_.begin(), numbers_.end(), copy);
  return sequence_of(copy, numbers_.size());
}

uint32_t* Collection::room(size_t symbols) {
  if (blocks_.empty() || symbols > left_) {
    block_size_ = std::max(kBlock, symbols);
    blocks_.emplace_back(new uint32_t[block_size_]);
    left_ = block_size_;
  }
  uint32_t* const out = blocks_.back().get() + (block_size_ - left_);
  left_ -= symbols;
  return out;
}

}  // namespace hoist::python
