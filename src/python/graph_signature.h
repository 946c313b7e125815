// Which program a call runs: those that a function has by the arguments that they were traced for.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <vector>

#include "python/array/array.h"
#include "python/graph_open_arrays.h"
#include "python/graph_program.h"

namespace hoist::python {

inline constexpr size_t kMostInputs = 32;

// A program, by the arguments that it was traced for.
struct Signature {
  GraphProgram program;
  bool is_tuple = false;                // what a call returns
  size_t positional = 0;                // arguments given by place
  std::vector<nanobind::object> names;  // of those behind them
  // All of them: no object for an array, NotImplemented for a number that the program is given.
  std::vector<nanobind::object> values;
  nanobind::object shapes;  // of the results
  nanobind::object types;
  std::vector<nanobind::object> numpy_types;
  std::vector<Array> arrays;  // without memory: what a new one is like
};

// A call's arguments, without `out`.
struct Arguments {
  size_t count = 0;
  size_t positional = 0;
  PyObject* given[kMostInputs];
  PyObject* names[kMostInputs];  // of those behind the positional ones
  bool is_array[kMostInputs];
  PyObject* out = nullptr;  // nullptr: not given, or None
};

// Whether there are as many as a signature may have. `out` is that string.
bool take(const nanobind::object& out, PyObject* const* given, size_t count, PyObject* keywords,
          Arguments& arguments);
// Whether it is surely no array.
bool is_plain(PyObject* object);
// Whether the program is one for these arguments, of which `arrays` are the arrays.
bool fits(const Signature& signature, const Arguments& arguments,
          const OpenArrays<kMostInputs>& arrays);

// Elements that numbers became.
using Numbers = std::array<std::array<std::byte, 8>, kMostInputs>;
// Where each input of the program lies. OverflowError for a number that does not fit its type.
void point(const Arguments& arguments, const OpenArrays<kMostInputs>& arrays,
           const Signature& signature, const void** from, Numbers& numbers);
// An array for a result: an Array, or NumPy's.
nanobind::object new_result(Signature& signature, size_t i, bool is_array);

}  // namespace hoist::python
