// The type of compiled functions. A call with contiguous arrays of a known signature runs its
// program at once; all others go to a Python function, which may add a program.
#include <nanobind/nanobind.h>
#include <structmember.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <vector>

#include "python/errors.h"
#include "python/graph_arrays.h"
#include "python/graph_open_arrays.h"
#include "python/graph_program.h"
#include "python/raising.h"
#include "python/released_gil.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

namespace gp = graph::program;

constexpr size_t kMostInputs = 32;
constexpr size_t kMostOutputs = 8;
constexpr size_t kMostKnown = 64;

// A program, by the arguments that it was traced for.
struct Signature {
  GraphProgram program;
  bool is_tuple = false;          // what a call returns
  size_t positional = 0;          // arguments given by place
  std::vector<nb::object> names;  // of those behind them
  // All of them: no object for an array, NotImplemented for a number that the program is given.
  std::vector<nb::object> values;
  nb::object shapes;  // of the results
  nb::object types;
  std::vector<nb::object> numpy_types;
  std::vector<Array> arrays;  // without memory: what a new one is like
};

struct State {
  nb::object slow;  // called with the arguments' tuple and the keywords' dict
  nb::object out;   // "out"
  ExchangeApi exchange;
  GpuCalls gpu;
  std::vector<std::shared_ptr<Signature>> known;  // the last used first
};

struct CallObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject* attributes;
  PyObject* weak_references;
  State* state;
};

CallObject& call_of(PyObject* self) { return *reinterpret_cast<CallObject*>(self); }

// A call's arguments, without `out`.
struct Arguments {
  size_t count = 0;
  size_t positional = 0;
  PyObject* given[kMostInputs];
  PyObject* names[kMostInputs];  // of those behind the positional ones
  bool is_array[kMostInputs];
  PyObject* out = nullptr;  // nullptr: not given, or None
};

bool is_name(PyObject* name, const nb::object& known) {
  return name == known.ptr() || PyUnicode_Compare(name, known.ptr()) == 0;
}

// Whether there are as many as a signature may have.
bool take(State& state, PyObject* const* given, size_t count, PyObject* keywords,
          Arguments& arguments) {
  const size_t names = keywords == nullptr ? 0 : static_cast<size_t>(PyTuple_Size(keywords));
  if (count + names > kMostInputs) return false;
  arguments.count = arguments.positional = count;
  for (size_t i = 0; i < count; ++i) arguments.given[i] = given[i];
  for (size_t i = 0; i < names; ++i) {
    PyObject* const name = PyTuple_GetItem(keywords, static_cast<Py_ssize_t>(i));
    PyObject* const value = given[count + i];
    if (is_name(name, state.out)) {
      arguments.out = value == Py_None ? nullptr : value;
    } else {
      arguments.names[arguments.count] = name;
      arguments.given[arguments.count++] = value;
    }
  }
  return true;
}

// Whether it is surely no array.
bool is_plain(PyObject* object) {
  return object == Py_None || PyLong_Check(object) || PyFloat_Check(object) ||
         PyUnicode_Check(object) || PyTuple_CheckExact(object) || PyType_Check(object);
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

bool fit(const Arguments& arguments, const OpenArrays<kMostInputs>& arrays,
         const Signature& signature) {
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
    const bool fits = !value.is_valid()        ? arrays[array++].fits(program.input(input++))
                      : is_given_number(value) ? takes(program.input(input++), arguments.given[i])
                                               : is_same(arguments.given[i], value.ptr());
    if (!fits) return false;
  }
  return true;
}

void run(const GraphProgram& program, std::span<const void* const> from,
         std::span<void* const> to) {
  if (program.is_short) return check(program.program->run(from, to));
  Status done;
  {
    const ReleasedGil released;
    done = program.program->run(from, to);
  }
  check(done);
}

// The program for the arguments, which then is the first one.
std::shared_ptr<Signature> known(State& state, const Arguments& arguments,
                                 const OpenArrays<kMostInputs>& arrays) {
  for (size_t i = 0; i < state.known.size(); ++i) {
    if (!fit(arguments, arrays, *state.known[i])) continue;
    if (i != 0) std::swap(state.known[0], state.known[i]);
    return state.known[0];
  }
  return nullptr;
}

// numpy.empty; never destroyed.
nb::object& numpy_empty() {
  static nb::object& function = *new nb::object(nb::module_::import_("numpy").attr("empty"));
  return function;
}

nb::object new_result(Signature& signature, size_t i, bool is_array) {
  if (is_array) {
    const gp::Program& program = *signature.program.program;
    while (signature.arrays.size() < program.outputs()) {
      const gp::Node& node = program.output(signature.arrays.size());
      signature.arrays.push_back(new_array(node.dtype, node.shape));
      signature.arrays.back().memory.reset();
    }
    return new_array_object(signature.arrays[i]);
  }
  if (signature.numpy_types.empty()) {
    for (const nb::handle type : signature.types) signature.numpy_types.push_back(numpy_type(type));
  }
  PyObject* const numbers[] = {PyTuple_GetItem(signature.shapes.ptr(), static_cast<Py_ssize_t>(i)),
                               signature.numpy_types[i].ptr()};
  nb::object made = nb::steal(PyObject_Vectorcall(numpy_empty().ptr(), numbers, 2, nullptr));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

// Elements that numbers became.
using Numbers = std::array<std::array<std::byte, 8>, kMostInputs>;

// Where each input of the program lies.
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

// Null where the call is not of the simple kind.
PyObject* fast_call(State& state, PyObject* const* given, size_t count, PyObject* keywords) {
  Arguments arguments;
  if (state.known.empty() || !take(state, given, count, keywords, arguments)) return nullptr;
  OpenArrays<kMostInputs> inputs(state.exchange);
  for (size_t i = 0; i < arguments.count; ++i) {
    PyObject* const one = arguments.given[i];
    arguments.is_array[i] = !is_plain(one) && inputs.open(one, false);
  }
  const std::shared_ptr<Signature> signature = known(state, arguments, inputs);
  if (!signature) return nullptr;
  const gp::Program& program = *signature->program.program;
  const void* from[kMostInputs];
  Numbers numbers;
  point(arguments, inputs, *signature, from, numbers);
  const size_t results = program.outputs();
  if (results > kMostOutputs || (arguments.out != nullptr && signature->is_tuple)) return nullptr;
  OpenArrays<kMostOutputs> outputs(state.exchange);
  nb::object made[kMostOutputs];
  void* to[kMostOutputs];
  for (size_t i = 0; i < results; ++i) {
    made[i] = arguments.out != nullptr ? nb::borrow(arguments.out)
                                       : new_result(*signature, i, inputs.has_array());
    if (!outputs.open(made[i].ptr(), true) || !outputs[i].fits(program.output(i))) return nullptr;
    to[i] = outputs[i].data;
  }
  run(signature->program, {from, program.inputs()}, {to, results});
  if (!signature->is_tuple) return made[0].release().ptr();
  nb::list all;
  for (size_t i = 0; i < results; ++i) all.append(made[i]);
  return nb::tuple(all).release().ptr();
}

PyObject* slow_call(State& state, PyObject* const* arguments, size_t count, PyObject* keywords) {
  nb::list positional;
  for (size_t i = 0; i < count; ++i) positional.append(nb::borrow(arguments[i]));
  nb::dict named;
  const Py_ssize_t names = keywords == nullptr ? 0 : PyTuple_Size(keywords);
  for (Py_ssize_t i = 0; i < names; ++i) {
    named[nb::borrow(PyTuple_GetItem(keywords, i))] =
        nb::borrow(arguments[count + static_cast<size_t>(i)]);
  }
  return state.slow(nb::tuple(positional), named).release().ptr();
}

PyObject* call(PyObject* self, PyObject* const* arguments, size_t flags, PyObject* keywords) {
  return raising([&]() -> PyObject* {
    if (call_of(self).state == nullptr) throw nb::type_error("a function that is being deleted");
    State& state = *call_of(self).state;
    const auto count = static_cast<size_t>(PyVectorcall_NARGS(flags));
    if (PyObject* const result = state.gpu.call(arguments, count, keywords)) return result;
    if (PyObject* const result = fast_call(state, arguments, count, keywords)) return result;
    return slow_call(state, arguments, count, keywords);
  });
}

PyObject* new_call(PyTypeObject* type, PyObject* arguments, PyObject* /*keywords*/) {
  return raising([&]() -> PyObject* {
    PyObject* slow = nullptr;
    if (PyArg_ParseTuple(arguments, "O:Call", &slow) == 0) return nullptr;
    PyObject* const self = PyType_GenericAlloc(type, 0);
    if (self == nullptr) return nullptr;
    call_of(self).call = call;
    call_of(self).state =
        new State{nb::borrow(slow), nb::steal(PyUnicode_InternFromString("out")), {}, {}, {}};
    return self;
  });
}

// add(program, is_tuple, shapes, types, positional, names, values): `values` has ... for
// arrays, NotImplemented for numbers that the program is given.
PyObject* add(PyObject* self, PyObject* arguments) {
  return raising([&]() -> PyObject* {
    PyObject* program = nullptr;
    int is_tuple = 0;
    PyObject* shapes = nullptr;
    PyObject* types = nullptr;
    Py_ssize_t positional = 0;
    PyObject* names = nullptr;
    PyObject* values = nullptr;
    if (PyArg_ParseTuple(arguments, "OpOOnOO:add", &program, &is_tuple, &shapes, &types,
                         &positional, &names, &values) == 0) {
      return nullptr;
    }
    auto signature = std::make_shared<Signature>();
    signature->program = nb::cast<GraphProgram>(nb::handle(program));
    signature->is_tuple = is_tuple != 0;
    signature->positional = static_cast<size_t>(positional);
    signature->shapes = nb::tuple(nb::handle(shapes));
    signature->types = nb::tuple(nb::handle(types));
    for (const nb::handle name : nb::handle(names)) {
      PyObject* interned = nb::borrow(name).release().ptr();
      PyUnicode_InternInPlace(&interned);
      signature->names.push_back(nb::steal(interned));
    }
    for (const nb::handle value : nb::handle(values)) {
      signature->values.push_back(value.ptr() == Py_Ellipsis ? nb::object() : nb::borrow(value));
    }
    State& state = *call_of(self).state;
    const auto is_array = [](const nb::object& value) { return !value.is_valid(); };
    if (signature->names.empty() && std::ranges::all_of(signature->values, is_array)) {
      state.gpu.add(signature->program, signature->is_tuple);
    }
    state.known.insert(state.known.begin(), std::move(signature));
    if (state.known.size() > kMostKnown) state.known.pop_back();
    Py_RETURN_NONE;
  });
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(call_of(self).attributes);
  if (State* const state = call_of(self).state) {
    Py_VISIT(state->slow.ptr());
  }
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(call_of(self).attributes);
  if (State* const state = call_of(self).state) {
    call_of(self).state = nullptr;
    delete state;
  }
  return 0;
}

void deallocate(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (call_of(self).weak_references != nullptr) PyObject_ClearWeakRefs(self);
  clear(self);
  PyTypeObject* const type = Py_TYPE(self);
  const auto free = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  free(self);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

// As a function: a method where it is an attribute of a class.
PyObject* get(PyObject* self, PyObject* object, PyObject* /*type*/) {
  if (object == nullptr || object == Py_None) {
    Py_INCREF(self);
    return self;
  }
  return raising([&] {
    const nb::object method = nb::module_::import_("types").attr("MethodType");
    return method(nb::handle(self), nb::handle(object)).release().ptr();
  });
}

PyObject* repr(PyObject* self) {
  return raising([&] {
    const nb::object name = nb::getattr(nb::handle(self), "__qualname__", nb::str("?"));
    return PyUnicode_FromFormat("<function %S of hoist.graph>", name.ptr());
  });
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(CallObject, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(CallObject, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(CallObject, weak_references), READONLY, nullptr},
    {}};
PyGetSetDef attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr}, {}};
PyMethodDef methods[] = {{"add", add, METH_VARARGS, nullptr}, {}};

PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_call)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(get)},
                       {Py_tp_repr, reinterpret_cast<void*>(repr)},
                       {Py_tp_members, members},
                       {Py_tp_getset, attributes},
                       {Py_tp_methods, methods},
                       {0, nullptr}};
PyType_Spec spec = {"hoist._graph.Call", sizeof(CallObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

}  // namespace

void ExchangeApi::find(PyTypeObject* type) {
  const nb::object found = nb::borrow(reinterpret_cast<PyObject*>(type));
  const DLPackExchangeApi* const api = exchange_api_of(found);
  // Only now: an attribute's getter may have called this one, too.
  api_ = api != nullptr && api->view_of_object != nullptr ? api : nullptr;
  type_ = found;
}

void define_graph_call(nb::module_& module) {
  PyObject* const type = PyType_FromSpec(&spec);
  if (type == nullptr) throw nb::python_error();
  module.attr("Call") = nb::steal(type);
}

}  // namespace hoist::python
