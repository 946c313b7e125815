#include "python/match_elements.h"

#include <memory>
#include <utility>

namespace nb = nanobind;

namespace hoist::python {
namespace {

// A number from 0 on that is a code point; -1 for anything else.
int64_t code_point_of(nb::handle element) {
  if (PyUnicode_Check(element.ptr()) && PyUnicode_GetLength(element.ptr()) == 1) {
    return PyUnicode_ReadChar(element.ptr(), 0);
  }
  if (!PyNumber_Check(element.ptr())) return -1;
  const Py_hash_t hash = PyObject_Hash(element.ptr());
  if (hash == -1) throw nb::python_error();
  if (hash < 0 || hash >= kFirstNumber) return -1;
  return element.equal(nb::int_(hash)) ? hash : -1;
}

// An int itself, where it is such a number; -1 for anything else.
int64_t small_int(nb::handle element) {
  if (PyLong_CheckExact(element.ptr()) == 0) return -1;
  int overflow = 0;
  const long value = PyLong_AsLongAndOverflow(element.ptr(), &overflow);
  return overflow == 0 && value >= 0 && value < long{kFirstNumber} ? value : -1;
}

}  // namespace

void append_characters(nb::handle text, std::vector<uint32_t>& out) {
  const Py_ssize_t size = PyUnicode_GetLength(text.ptr());
  if (size < 0) throw nb::python_error();
  const size_t before = out.size();
  out.resize(before + static_cast<size_t>(size));
  if (size > 0 && PyUnicode_AsUCS4(text.ptr(), out.data() + before, size, 0) == nullptr) {
    throw nb::python_error();
  }
}

uint32_t ElementNumbers::number(nb::handle element, bool adds) {
  if (characters_) {
    const int64_t point = code_point_of(element);
    if (point >= 0) return static_cast<uint32_t>(point);
  }
  PyObject* const known = PyDict_GetItemWithError(numbers_.ptr(), element.ptr());
  if (known != nullptr) return static_cast<uint32_t>(PyLong_AsUnsignedLong(known));
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  if (!adds) return kFirstNumber - 1;
  const nb::int_ number(next_);
  if (PyDict_SetItem(numbers_.ptr(), element.ptr(), number.ptr()) != 0) throw nb::python_error();
  return next_++;
}

void ElementNumbers::append(nb::handle sequence, std::vector<uint32_t>& out) {
  if (characters_ && PyUnicode_Check(sequence.ptr())) return append_characters(sequence, out);
  if (characters_ && PyObject_CheckBuffer(sequence.ptr()) != 0 && append_buffer(sequence, out)) {
    return;
  }
  const nb::object elements = nb::steal(PySequence_Tuple(sequence.ptr()));
  if (!elements.is_valid()) throw nb::python_error();
  const Py_ssize_t size = PyTuple_Size(elements.ptr());
  out.reserve(out.size() + static_cast<size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    const nb::handle element = NB_TUPLE_GET_ITEM(elements.ptr(), i);
    const int64_t point = characters_ ? small_int(element) : -1;
    out.push_back(point >= 0 ? static_cast<uint32_t>(point) : number(element));
  }
}

// Integers that lie in a row, as those of NumPy arrays do, without an object of each.
bool ElementNumbers::append_buffer(nb::handle sequence, std::vector<uint32_t>& out) {
  Py_buffer view;
  if (PyObject_GetBuffer(sequence.ptr(), &view, PyBUF_FORMAT | PyBUF_ND) != 0) {
    PyErr_Clear();
    return false;
  }
  const std::unique_ptr<Py_buffer, void (*)(Py_buffer*)> released(&view, PyBuffer_Release);
  if (view.ndim != 1 || view.format == nullptr || view.format[1] != '\0') return false;
  const auto size = static_cast<size_t>(view.shape[0]);
  const auto append = [&]<typename Int>(Int /*type*/) {
    if (view.itemsize != sizeof(Int)) return false;
    const auto* const values = static_cast<const Int*>(view.buf);
    out.reserve(out.size() + size);
    for (size_t i = 0; i < size; ++i) {
      if (std::cmp_greater_equal(values[i], 0) && std::cmp_less(values[i], kFirstNumber)) {
        out.push_back(static_cast<uint32_t>(values[i]));
      } else {
        out.push_back(number(nb::int_(values[i])));
      }
    }
    return true;
  };
  switch (view.format[0]) {
    case 'b':
      return append(int8_t{});
    case 'B':
      return append(uint8_t{});
    case 'h':
      return append(int16_t{});
    case 'H':
      return append(uint16_t{});
    case 'i':
      return append(int32_t{});
    case 'I':
      return append(uint32_t{});
    case 'l':
    case 'q':
      return append(int64_t{});
    case 'L':
    case 'Q':
      return append(uint64_t{});
    default:
      return false;
  }
}

}  // namespace hoist::python
