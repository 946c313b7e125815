#include "python/hologram/call.h"

namespace nb = nanobind;

namespace hoist::python::hologram {
namespace {

const char* class_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::not_found:
      return "InvalidHandle";
    case ErrorCode::corrupt:
      return "InvalidJson";
    case ErrorCode::exhausted:
      return "Exhausted";
    case ErrorCode::invalid_argument:
      return "InvalidOperation";
    default:
      return "InternalError";
  }
}

}  // namespace

PyObject* raise(const Error& error) {
  PyObject* const module = PyImport_ImportModule("hologram_ffi.errors");
  if (module == nullptr) return nullptr;
  PyObject* const type = PyObject_GetAttrString(module, class_name(error.code));
  Py_DECREF(module);
  if (type == nullptr) return nullptr;
  PyErr_SetString(type, error.message.c_str());
  Py_DECREF(type);
  return nullptr;
}

PyObject* to_python(const std::vector<std::byte>& bytes) {
  PyObject* const list = PyList_New(static_cast<Py_ssize_t>(bytes.size()));
  if (list == nullptr) return nullptr;
  for (size_t i = 0; i < bytes.size(); ++i) {
    // CPython has all of these.
    PyList_SetItem(list, static_cast<Py_ssize_t>(i), PyLong_FromLong(static_cast<long>(bytes[i])));
  }
  return list;
}

}  // namespace hoist::python::hologram
