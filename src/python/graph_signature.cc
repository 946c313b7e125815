#include "python/graph_signature.h"

#include <bit>
#include <utility>

#include "python/graph_arrays.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

namespace gp = graph::program;

bool is_name(PyObject* name, const nb::object& known) {
  return name == known.ptr() || PyUnicode_Compare(name, known.ptr()) == 0;
}

// Whether a function that was traced for one value is the same for the other.
bool is_same(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if (Py_TYPE(a) != Py_TYPE(b)) return false;
  if (PyFloat_Check(a)) {  // 0.0 and -0.0 are equal, but not the same
    return std::bit_cast<uint64_t>(PyFloat_AsDouble(a)) ==
           std::bit_cast<uint64_t>(PyFloat_AsDouble(b));
  }
  if (PyTuple_CheckExact(a)) {
    const Py_ssize_t length = PyTuple_Size(a);
    if (length != PyTuple_Size(b)) return false;
    for (Py_ssize_t i = 0; i < length; ++i) {
      if (!is_same(PyTuple_GetItem(a, i), PyTuple_GetItem(b, i))) return false;
    }
    return true;
  }
  if (PyUnicode_Check(a)) return PyUnicode_Compare(a, b) == 0;
  return PyLong_Check(a) && PyObject_RichCompareBool(a, b, Py_EQ) == 1;
}

bool is_given_number(const nb::object& value) { return value.ptr() == Py_NotImplemented; }

// Whether a program that computes with elements of that type may take the number as one of them.
bool takes(const gp::Node& node, PyObject* number) {
  if (PyLong_CheckExact(number)) return true;
  return PyFloat_CheckExact(number) && array::properties(node.dtype).is_float;
}

// numpy.empty; never destroyed.
nb::object& numpy_empty() {
  static nb::object& function = *new nb::object(nb::module_::import_("numpy").attr("empty"));
  return function;
}

}  // namespace

const DLPackExchangeApi* ExchangeApi::find(PyTypeObject* type) {
  nb::object found = nb::borrow(reinterpret_cast<PyObject*>(type));
  // May run Python, and so other calls that find another type's.
  const DLPackExchangeApi* api = exchange_api_of(found);
  while (api != nullptr && (api->major != 1 || api->view_of_object == nullptr)) {
    api = api->previous;
  }
  api_ = api;
  std::swap(type_, found);  // what it was is dropped last: that may run Python, too
  return api;
}

bool take(const nb::object& out, PyObject* const* given, size_t count, PyObject* keywords,
          Arguments& arguments) {
  const size_t names = keywords == nullptr ? 0 : static_cast<size_t>(PyTuple_Size(keywords));
  if (count + names > kMostInputs) return false;
  arguments.count = arguments.positional = count;
  for (size_t i = 0; i < count; ++i) arguments.given[i] = given[i];
  for (size_t i = 0; i < names; ++i) {
    PyObject* const name = PyTuple_GetItem(keywords, static_cast<Py_ssize_t>(i));
    PyObject* const value = given[count + i];
    if (is_name(name, out)) {
      arguments.out = value == Py_None ? nullptr : value;
    } else {
      arguments.names[arguments.count] = name;
      arguments.given[arguments.count++] = value;
    }
  }
  return true;
}

bool is_plain(PyObject* object) {
  return object == Py_None || PyLong_Check(object) || PyFloat_Check(object) ||
         PyUnicode_Check(object) || PyTuple_CheckExact(object) || PyType_Check(object);
}

bool fits(const Signature& signature, const Arguments& arguments,
          const OpenArrays<kMostInputs>& arrays) {
  const gp::Program& program = *signature.program.program;
  if (arguments.count != signature.values.size() || arguments.positional != signature.positional) {
    return false;
  }
  size_t array = 0;
  size_t input = 0;
  for (size_t i = 0; i < arguments.count; ++i) {
    const nb::object& value = signature.values[i];
    if (arguments.is_array[i] == value.is_valid()) return false;
    if (i >= signature.positional &&
        !is_name(arguments.names[i], signature.names[i - signature.positional])) {
      return false;
    }
    const bool is_fit = !value.is_valid()        ? arrays[array++].fits(program.input(input++))
                        : is_given_number(value) ? takes(program.input(input++), arguments.given[i])
                                                 : is_same(arguments.given[i], value.ptr());
    if (!is_fit) return false;
  }
  return true;
}

void point(const Arguments& arguments, const OpenArrays<kMostInputs>& arrays,
           const Signature& signature, const void** from, Numbers& numbers) {
  size_t array = 0;
  size_t input = 0;
  for (size_t i = 0; i < arguments.count; ++i) {
    const nb::object& value = signature.values[i];
    if (!value.is_valid()) {
      from[input++] = arrays[array++].data;
    } else if (is_given_number(value)) {
      std::byte* const at = numbers[input].data();
      write_element(arguments.given[i], signature.program.program->input(input).dtype, at);
      from[input++] = at;
    }
  }
}

nb::object new_result(Signature& signature, size_t i, bool is_array) {
  if (is_array) return new_array_object(signature.arrays[i]);
  if (signature.numpy_types.empty()) {
    std::vector<nb::object> types;  // other threads may go on while NumPy is imported
    for (const nb::handle type : signature.types) types.push_back(numpy_type(type));
    signature.numpy_types = std::move(types);
  }
  PyObject* const numbers[] = {PyTuple_GetItem(signature.shapes.ptr(), static_cast<Py_ssize_t>(i)),
                               signature.numpy_types[i].ptr()};
  nb::object made = nb::steal(PyObject_Vectorcall(numpy_empty().ptr(), numbers, 2, nullptr));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

}  // namespace hoist::python
