#include "python/errors.h"

#include <nanobind/nanobind.h>

#include <cerrno>

namespace nb = nanobind;

namespace hoist::python {
namespace {

const char* class_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "InvalidArgument";
    case ErrorCode::not_found:
      return "NotFound";
    case ErrorCode::corrupt:
      return "Corrupt";
    case ErrorCode::unsupported:
      return "Unsupported";
    case ErrorCode::unavailable:
      return "Unavailable";
    case ErrorCode::exhausted:
      return "Exhausted";
    case ErrorCode::io:
      return "IoError";
    case ErrorCode::cancelled:
      return "Cancelled";
    case ErrorCode::internal:
      break;
  }
  return "Error";
}

}  // namespace

void raise(const Error& error) {
  const nb::gil_scoped_acquire gil;
  const bool no_file = error.code == ErrorCode::not_found && error.system_errno == ENOENT;
  const nb::object type =
      nb::module_::import_("hoist.errors").attr(no_file ? "FileNotFound" : class_name(error.code));
  // File names and names in files may be any bytes.
  const nb::object message = nb::steal(PyUnicode_DecodeUTF8(
      error.message.data(), Py_ssize_t(error.message.size()), "surrogateescape"));
  if (no_file || (error.code == ErrorCode::io && error.system_errno != 0)) {
    PyErr_SetObject(type.ptr(), nb::make_tuple(error.system_errno, message).ptr());
  } else {
    PyErr_SetObject(type.ptr(), message.ptr());
  }
  throw nb::python_error();
}

}  // namespace hoist::python
