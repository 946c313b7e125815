#include "python/match_elements.h"

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
  const nb::object elements = nb::steal(PySequence_Tuple(sequence.ptr()));
  if (!elements.is_valid()) throw nb::python_error();
  const Py_ssize_t size = PyTuple_Size(elements.ptr());
  out.reserve(out.size() + static_cast<size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i) out.push_back(number(PyTuple_GetItem(elements.ptr(), i)));
}

}  // namespace hoist::python
