// Modules that work in one interpreter of a process.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace hoist::python {

// ImportError elsewhere than in the main one. What modules keep, such as types, handles and arrays
// that wait for the next ones, is the process's: an interpreter with a lock of its own would break
// what they rely on.
inline void refuse_subinterpreters(const std::string& package) {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return;
  throw nanobind::import_error(
      (package + " works in the main interpreter only: import it there, or in another process")
          .c_str());
}

}  // namespace hoist::python
