// Paths that Python passes as str: bytes that are no UTF-8 are lone surrogates in it, as
// os.fsdecode() writes them.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace hoist::python {

struct FilePath {
  std::string text;
};

}  // namespace hoist::python

namespace nanobind::detail {

template <>
struct type_caster<hoist::python::FilePath> {
  NB_TYPE_CASTER(hoist::python::FilePath, const_name("str"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    if (!PyUnicode_Check(source.ptr())) return false;
    const object bytes = steal(PyUnicode_EncodeFSDefault(source.ptr()));
    char* begin = nullptr;
    Py_ssize_t size = 0;
    if (!bytes.is_valid() || PyBytes_AsStringAndSize(bytes.ptr(), &begin, &size) != 0) {
      PyErr_Clear();
      return false;
    }
    value.text.assign(begin, size_t(size));
    return true;
  }
};

}  // namespace nanobind::detail
