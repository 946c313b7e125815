// The type of compiled functions. A call with contiguous arrays of a known signature runs its
// program at once; all others go to a Python function, which may add a program.
#include <nanobind/nanobind.h>
#include <structmember.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "python/errors.h"
#include "python/graph_gpu.h"
#include "python/graph_open_arrays.h"
#include "python/graph_program.h"
#include "python/graph_signature.h"
#include "python/raising.h"
#include "python/released_gil.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

namespace gp = graph::program;

constexpr size_t kMostOutputs = 8;
constexpr size_t kMostKnown = 64;

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
    if (!fits(*state.known[i], arguments, arrays)) continue;
    if (i != 0) std::swap(state.known[0], state.known[i]);
    return state.known[0];
  }
  return nullptr;
}

// Null where the call is not of the simple kind.
PyObject* fast_call(State& state, PyObject* const* given, size_t count, PyObject* keywords) {
  Arguments arguments;
  if (state.known.empty() || !take(state.out, given, count, keywords, arguments)) return nullptr;
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
    const gp::Program& made = *signature->program.program;
    for (size_t i = 0; i < made.outputs(); ++i) {
      signature->arrays.push_back(array_like(made.output(i).dtype, made.output(i).shape));
    }
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
    for (const auto& signature : state->known) {
      for (const nb::object& value : signature->values) Py_VISIT(value.ptr());
    }
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

void define_graph_call(nb::module_& module) {
  PyObject* const type = PyType_FromSpec(&spec);
  if (type == nullptr) throw nb::python_error();
  module.attr("Call") = nb::steal(type);
}

}  // namespace hoist::python
