// Functions of C++ as functions of a Python module, by CPython's vectorcall itself: with five
// arguments that costs 25 ns less than a general binding, of the 150 that a small operation may
// take.
//
//   constexpr Call kLength{"buffer_length", "buffer_handle", "Elements of a buffer.",
//   ffi::buffer_length}; PyMethodDef methods[] = {method<kLength>(), …, {}};
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "python/hologram/arguments.h"

namespace hoist::python::hologram {

template <typename Function>
struct Call {
  const char* name;
  const char* arguments;  // their names, separated by spaces
  const char* signature;  // for help(): "(buffer_handle)\n--\n\nElements of a buffer."
  Function function;
};
template <typename Function>
Call(const char*, const char*, const char*, Function) -> Call<Function>;

// Sets the exception of hologram_ffi.errors that fits; nullptr.
PyObject* raise(const Error& error);

inline PyObject* to_python(uint64_t value) { return PyLong_FromUnsignedLongLong(value); }
inline PyObject* to_python(uint32_t value) { return PyLong_FromUnsignedLong(value); }
inline PyObject* to_python(bool value) { return PyLong_FromLong(value ? 1 : 0); }
inline PyObject* to_python(float value) { return PyFloat_FromDouble(value); }
inline PyObject* to_python(const std::string& value) {
  return PyUnicode_FromStringAndSize(value.data(), static_cast<Py_ssize_t>(value.size()));
}
// A list of int.
PyObject* to_python(const std::vector<std::byte>& bytes);
inline PyObject* to_python(PyObject* value) { return value; }

template <typename T>
PyObject* to_python(const Result<T>& result) {
  if (!result) [[unlikely]] {
    return raise(result.error());
  }
  if constexpr (std::is_void_v<T>) {
    Py_RETURN_NONE;
  } else {
    return to_python(*result);
  }
}

template <typename Return, typename... Arguments>
PyObject* run(const char* name, const char* names, Return (*function)(Arguments...),
              PyObject* const* given, size_t positional, PyObject* keywords) {
  constexpr size_t kCount = sizeof...(Arguments);
  PyObject* ordered[kCount + 1];
  if (keywords != nullptr || positional != kCount) [[unlikely]] {
    if (!arrange(name, names, kCount, given, positional, keywords, ordered)) return nullptr;
    given = ordered;
  }
  std::tuple<std::remove_cvref_t<Arguments>...> values;
  return [&]<size_t... kAt>(std::index_sequence<kAt...>)->PyObject* {
    if (!(read(given[kAt], std::get<kAt>(values)) && ...)) return nullptr;
    if constexpr (std::is_void_v<Return>) {
      function(std::get<kAt>(values)...);
      Py_RETURN_NONE;
    } else {
      return to_python(function(std::get<kAt>(values)...));
    }
  }
  (std::make_index_sequence<kCount>());
}

template <const auto& kCall>
PyObject* entry(PyObject*, PyObject* const* given, Py_ssize_t positional, PyObject* keywords) {
  try {
    return run(kCall.name, kCall.arguments, kCall.function, given, static_cast<size_t>(positional),
               keywords);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  } catch (nanobind::python_error& error) {
    error.restore();
    return nullptr;
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

template <const auto& kCall>
PyMethodDef method() {
  using Entry = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
  const Entry function = entry<kCall>;
  return {kCall.name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
          METH_FASTCALL | METH_KEYWORDS, kCall.signature};
}

}  // namespace hoist::python::hologram
