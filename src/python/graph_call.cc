// The type of compiled functions. A call with contiguous arrays of a known signature runs its
// program at once; all others go to a Python function, which may add a program.
#include <nanobind/nanobind.h>
#include <structmember.h>

#include <cstring>
#include <memory>
#include <vector>

#include "python/errors.h"
#include "python/graph_arrays.h"
#include "python/graph_open_arrays.h"
#include "python/graph_program.h"
#include "python/pair_call.h"
#include "python/released_gil.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

namespace gp = graph::program;

constexpr size_t kMostInputs = 32;
constexpr size_t kMostOutputs = 8;
constexpr size_t kMostKnown = 64;

// A program, by the arrays that it takes.
struct Signature {
  GraphProgram program;
  bool is_tuple = false;           // what a call returns
  std::vector<nb::object> shapes;  // of the results, for NumPy
  std::vector<nb::object> types;
};

struct State {
  nb::object slow;   // called with the arguments' tuple and the keywords' dict
  nb::object empty;  // numpy.empty
  nb::object out;    // "out"
  ExchangeApi exchange;
  GpuCalls gpu;
  std::vector<std::shared_ptr<const Signature>> known;  // the last used first
};

struct CallObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject* attributes;
  PyObject* weak_references;
  State* state;
};

CallObject& call_of(PyObject* self) { return *reinterpret_cast<CallObject*>(self); }

bool fit(const OpenArrays<kMostInputs>& arrays, const gp::Program& program) {
  if (arrays.count() != program.inputs()) return false;
  for (size_t i = 0; i < arrays.count(); ++i) {
    if (!arrays[i].fits(program.input(i))) return false;
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

// The program for the arrays, which then is the first one.
std::shared_ptr<const Signature> known(State& state, const OpenArrays<kMostInputs>& inputs) {
  for (size_t i = 0; i < state.known.size(); ++i) {
    if (!fit(inputs, *state.known[i]->program.program)) continue;
    if (i != 0) std::swap(state.known[0], state.known[i]);
    return state.known[0];
  }
  return nullptr;
}

// Null where the call is not of the simple kind.
PyObject* fast_call(State& state, PyObject* const* arguments, size_t count, PyObject* given_out) {
  if (count > kMostInputs || state.known.empty()) return nullptr;
  OpenArrays<kMostInputs> inputs(state.exchange);
  const void* from[kMostInputs];
  for (size_t i = 0; i < count; ++i) {
    if (!inputs.open(arguments[i], false)) return nullptr;
    from[i] = inputs[i].data;
  }
  const std::shared_ptr<const Signature> signature = known(state, inputs);
  if (!signature) return nullptr;
  const gp::Program& program = *signature->program.program;
  const size_t results = program.outputs();
  if (results > kMostOutputs || (given_out != nullptr && signature->is_tuple)) return nullptr;
  OpenArrays<kMostOutputs> outputs(state.exchange);
  nb::object made[kMostOutputs];
  void* to[kMostOutputs];
  for (size_t i = 0; i < results; ++i) {
    if (given_out != nullptr) {
      made[i] = nb::borrow(given_out);
    } else {
      PyObject* const numbers[] = {signature->shapes[i].ptr(), signature->types[i].ptr()};
      made[i] = nb::steal(PyObject_Vectorcall(state.empty.ptr(), numbers, 2, nullptr));
      if (!made[i].is_valid()) throw nb::python_error();
    }
    if (!outputs.open(made[i].ptr(), true) || !outputs[i].fits(program.output(i))) return nullptr;
    to[i] = outputs[i].data;
  }
  run(signature->program, {from, count}, {to, results});
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
    const Py_ssize_t names = keywords == nullptr ? 0 : PyTuple_Size(keywords);
    const bool has_out =
        names == 1 && PyUnicode_Compare(PyTuple_GetItem(keywords, 0), state.out.ptr()) == 0;
    if (names == 0 || has_out) {
      PyObject* const out = has_out && arguments[count] != Py_None ? arguments[count] : nullptr;
      if (PyObject* const result = fast_call(state, arguments, count, out)) return result;
    }
    return slow_call(state, arguments, count, keywords);
  });
}

PyObject* new_call(PyTypeObject* type, PyObject* arguments, PyObject* /*keywords*/) {
  return raising([&]() -> PyObject* {
    PyObject* slow = nullptr;
    PyObject* empty = nullptr;
    if (PyArg_ParseTuple(arguments, "OO:Call", &slow, &empty) == 0) return nullptr;
    PyObject* const self = PyType_GenericAlloc(type, 0);
    if (self == nullptr) return nullptr;
    call_of(self).call = call;
    call_of(self).state =
        new State{nb::borrow(slow), nb::borrow(empty), nb::str("out"), {}, {}, {}};
    return self;
  });
}

// add(program, is_tuple, [(shape, dtype), …])
PyObject* add(PyObject* self, PyObject* arguments) {
  return raising([&]() -> PyObject* {
    PyObject* program = nullptr;
    int is_tuple = 0;
    PyObject* results = nullptr;
    if (PyArg_ParseTuple(arguments, "OpO:add", &program, &is_tuple, &results) == 0) return nullptr;
    auto signature = std::make_shared<Signature>();
    signature->program = nb::cast<GraphProgram>(nb::handle(program));
    signature->is_tuple = is_tuple != 0;
    for (const nb::handle result : nb::borrow<nb::list>(results)) {
      signature->shapes.push_back(result[0]);
      signature->types.push_back(result[1]);
    }
    State& state = *call_of(self).state;
    state.gpu.add(signature->program, signature->is_tuple);
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
    Py_VISIT(state->empty.ptr());
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
                       {Py_tp_members, members},
                       {Py_tp_getset, attributes},
                       {Py_tp_methods, methods},
                       {0, nullptr}};
PyType_Spec spec = {"hoist._graph.Call", sizeof(CallObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

}  // namespace

void ExchangeApi::find(PyTypeObject* type) {
  type_ = nb::borrow(reinterpret_cast<PyObject*>(type));
  api_ = nullptr;
  const nb::object capsule = nb::getattr(type_, hologram::kExchangeAttribute, nb::handle());
  if (!capsule.is_valid() || PyCapsule_IsValid(capsule.ptr(), hologram::kExchangeCapsule) == 0) {
    return;
  }
  const auto* api = static_cast<const hologram::DLPackExchangeApi*>(
      PyCapsule_GetPointer(capsule.ptr(), hologram::kExchangeCapsule));
  while (api != nullptr && api->major != 1) api = api->previous;
  if (api != nullptr && api->view_of_object != nullptr) api_ = api;
}

void define_graph_call(nb::module_& module) {
  PyObject* const type = PyType_FromSpec(&spec);
  if (type == nullptr) throw nb::python_error();
  module.attr("Call") = nb::steal(type);
}

}  // namespace hoist::python
