// Functions that CPython calls itself.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <new>

namespace hoist::python {

inline PyObject* type_of(const nanobind::builtin_exception& error) {
  switch (error.type()) {
    case nanobind::exception_type::value_error:
      return PyExc_ValueError;
    case nanobind::exception_type::buffer_error:
      return PyExc_BufferError;
    case nanobind::exception_type::attribute_error:
      return PyExc_AttributeError;
    default:
      return PyExc_TypeError;
  }
}

// What C++ throws as what Python raises; null then.
template <typename Work>
PyObject* raising(const Work& work) {
  try {
    return work();
  } catch (nanobind::python_error& error) {
    error.restore();
  } catch (const nanobind::builtin_exception& error) {
    PyErr_SetString(type_of(error), error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

}  // namespace hoist::python
