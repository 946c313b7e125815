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

#ifdef Py_LIMITED_API
bool is_ascii(nb::handle text) {
  static PyObject* const method =
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(&PyUnicode_Type), "isascii");
  PyObject* const arguments[] = {text.ptr()};
  const nb::object answer = nb::steal(PyObject_Vectorcall(method, arguments, 1, nullptr));
  if (!answer.is_valid()) throw nb::python_error();
  return answer.is(nb::handle(Py_True));
}
#endif

// In line: for many short ones a call is part of the time.
[[gnu::always_inline]] inline std::optional<match::Sequence> characters_in_place(nb::handle text) {
#ifdef Py_LIMITED_API
  if (!is_ascii(text)) return {};
  Py_ssize_t size = 0;
  const char* const ascii = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (ascii == nullptr) throw nb::python_error();
  return sequence_of(reinterpret_cast<const uint8_t*>(ascii), static_cast<size_t>(size));
#else
#if PY_VERSION_HEX < 0x030c0000
  if (PyUnicode_READY(text.ptr()) != 0) throw nb::python_error();
#endif
  const auto size = static_cast<size_t>(PyUnicode_GET_LENGTH(text.ptr()));
  switch (PyUnicode_KIND(text.ptr())) {
    case PyUnicode_1BYTE_KIND:
      return sequence_of(PyUnicode_1BYTE_DATA(text.ptr()), size);
    case PyUnicode_2BYTE_KIND:
      return sequence_of(PyUnicode_2BYTE_DATA(text.ptr()), size);
    default:
      return sequence_of(PyUnicode_4BYTE_DATA(text.ptr()), size);
  }
#endif
}

}  // namespace

bool is_missing(nb::handle item) {
  if (item.is_none()) return true;
  if (PyUnicode_Check(item.ptr()) || PyBytes_Check(item.ptr()) || PyList_Check(item.ptr()) ||
      PyTuple_Check(item.ptr())) {
    return false;
  }
  if (PyFloat_Check(item.ptr())) return std::isnan(PyFloat_AsDouble(item.ptr()));
  const nb::handle type = item.type();
  if (nb::cast<std::string>(type.attr("__name__")) != "NAType") return false;
  const auto module = nb::cast<std::string>(type.attr("__module__"));
  return module == "pandas" || module.starts_with("pandas.");
}

std::optional<match::Sequence> symbols_in_place(nb::handle item) {
  if (PyUnicode_Check(item.ptr())) return characters_in_place(item);
  if (!PyBytes_CheckExact(item.ptr())) return {};
#ifndef Py_LIMITED_API
  return sequence_of(reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(item.ptr())),
                     static_cast<size_t>(PyBytes_GET_SIZE(item.ptr())));
#endif
  return sequence_of(reinterpret_cast<const uint8_t*>(PyBytes_AsString(item.ptr())),
                     static_cast<size_t>(PyBytes_Size(item.ptr())));
}

std::optional<match::Sequence> short_symbols_in_place(nb::handle item, size_t most) {
#ifndef Py_LIMITED_API
  if (PyUnicode_Check(item.ptr())) {
#if PY_VERSION_HEX < 0x030c0000
    if (!PyUnicode_IS_READY(item.ptr())) return {};
#endif
    if (static_cast<size_t>(PyUnicode_GET_LENGTH(item.ptr())) > most) return {};
    return characters_in_place(item);
  }
#endif
  const auto sequence = symbols_in_place(item);
  return sequence && sequence->length <= most ? sequence : std::nullopt;
}

void refuse_length(size_t length) {
  raise({ErrorCode::invalid_argument,
         "a sequence of " + std::to_string(length) + " elements: fewer than 2147483648"});
}

Collection::Collection(nb::handle items, ElementNumbers& numbers, const nb::object& processor)
    : items_(nb::steal(PySequence_Tuple(items.ptr()))) {
  if (!items_.is_valid()) throw nb::python_error();
  const Py_ssize_t size = PyTuple_Size(items_.ptr());
  sequences_.reserve(static_cast<size_t>(size));
  const bool has_processor = !processor.is_none();
  for (Py_ssize_t i = 0; i < size; ++i) {
    check_signals(static_cast<size_t>(i));
    const nb::handle item = NB_TUPLE_GET_ITEM(items_.ptr(), i);
    if (!has_processor && PyUnicode_Check(item.ptr())) {
      const auto in_place = characters_in_place(item);
      sequences_.push_back(in_place ? *in_place : elements(item, numbers));
    } else if (!has_processor && PyBytes_CheckExact(item.ptr())) {
      sequences_.push_back(*symbols_in_place(item));
    } else if (is_missing(item)) {
      missing_.push_back(static_cast<size_t>(i));
      sequences_.emplace_back();
    } else if (!has_processor) {
      sequences_.push_back(elements(item, numbers));
    } else {
      processed_.push_back(processor(item));
      sequences_.push_back(elements(processed_.back(), numbers));
    }
    symbols_ += sequences_.back().length;
  }
}

match::Sequence copied_symbols(nb::handle item, ElementNumbers& numbers,
                               std::vector<uint32_t>& room) {
  // What has no length is no sequence, though it may be iterable.
  if (PyObject_Size(item.ptr()) < 0) throw nb::python_error();
  room.clear();
  numbers.append(item, room);
  const bool is_narrow = PyUnicode_Check(item.ptr()) != 0 &&
                         std::all_of(room.begin(), room.end(), [](uint32_t c) { return c < 256; });
  if (!is_narrow) return sequence_of(room.data(), room.size());
  // With Python's stable ABI.
  auto* const bytes = reinterpret_cast<uint8_t*>(room.data());
  std::copy(room.begin(), room.end(), bytes);
  return sequence_of(bytes, room.size());
}

match::Sequence Collection::elements(nb::handle item, ElementNumbers& numbers) {
  if (const auto in_place = symbols_in_place(item)) return *in_place;
  match::Sequence sequence = copied_symbols(item, numbers, numbers_);
  uint32_t* const copy = room(numbers_.size());
  std::copy(numbers_.begin(), numbers_.end(), copy);
  sequence.symbols = copy;
  return sequence;
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
