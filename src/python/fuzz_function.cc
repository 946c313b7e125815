#include "python/fuzz_function.h"

#include <structmember.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <new>
#include <string>

#include "match/score/scorer.h"
#include "python/interruptible.h"
#include "python/module.h"
#include "python/pair_call.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

using match::FuzzScorer;

// With fewer steps it takes a tenth of a millisecond at most, within which no other thread would
// get the interpreter's lock. With more than the latter it takes hundredths of a second, against
// which starting a thread is nothing.
constexpr uint64_t kSmallSteps = uint64_t{1} << 16;
constexpr uint64_t kLongSteps = uint64_t{1} << 23;

struct FunctionObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject* attributes;  // __name__, __module__, __doc__, …
  PyObject* weak_references;
  FuzzScorer scorer;
  PairArgumentSet known;
};

FunctionObject& function_of(PyObject* self) { return *reinterpret_cast<FunctionObject*>(self); }

std::string attribute_of(PyObject* self, const char* name) {
  return nb::cast<std::string>(nb::str(nb::handle(self).attr(name)));
}

PairArgumentSet arguments_of(const FuzzScorer& scorer) {
  PairArgumentSet known = kEveryPairArgument;
  if (scorer.is_percent()) known &= ~set_of(PairArgument::score_hint);
  if (scorer.kind == FuzzScorer::Kind::levenshtein) known |= set_of(PairArgument::weights);
  if (scorer.kind == FuzzScorer::Kind::hamming) known |= set_of(PairArgument::pad);
  if (scorer.kind == FuzzScorer::Kind::jaro_winkler) known |= set_of(PairArgument::prefix_weight);
  return known;
}

uint64_t cost_of(nb::handle weights, Py_ssize_t place) {
  const nb::object number = nb::steal(PyNumber_Long(nb::object(weights[place]).ptr()));
  if (!number.is_valid()) throw nb::python_error();
  const uint64_t cost = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return cost;
}

void set_weights(FuzzScorer& scorer, nb::handle weights) {
  const Py_ssize_t size = PyObject_Size(weights.ptr());
  if (size < 0) throw nb::python_error();
  if (size != 3) throw nb::value_error("weights are three: of insertion, deletion, replacement");
  scorer.weights = {cost_of(weights, 0), cost_of(weights, 1), cost_of(weights, 2)};
}

void set_prefix_weight(FuzzScorer& scorer, nb::handle weight) {
  scorer.prefix_weight = PyFloat_AsDouble(weight.ptr());
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  if (!(scorer.prefix_weight >= 0 && scorer.prefix_weight <= 1)) {
    throw nb::value_error("prefix_weight has to be in the range 0.0 - 1.0");
  }
}

bool is_true(nb::handle object) {
  const int truth = PyObject_IsTrue(object.ptr());
  if (truth < 0) throw nb::python_error();
  return truth != 0;
}

Py_ssize_t size_of(nb::handle sequence) {
  const Py_ssize_t size = PyObject_Size(sequence.ptr());
  if (size < 0) throw nb::python_error();
  return size;
}

// Whether no sequences of these lengths could be so similar: RapidFuzz looks at that first.
bool is_out_of_reach(const FuzzScorer& scorer, nb::handle a, nb::handle b,
                     std::optional<double> cutoff) {
  return cutoff && scorer.value == FuzzScorer::Value::similarity &&
         *cutoff > static_cast<double>(std::max(size_of(a), size_of(b)));
}

void refuse_other_lengths(nb::handle a, nb::handle b) {
  if (size_of(a) != size_of(b)) throw nb::value_error("Sequences are not the same length.");
}

// How many steps it takes, about.
uint64_t steps_of(const FuzzScorer& scorer, const match::Sequence& a, const match::Sequence& b) {
  using Kind = FuzzScorer::Kind;
  const uint64_t cells = uint64_t{a.length} * b.length;
  switch (scorer.kind) {
    case Kind::hamming:
    case Kind::prefix:
    case Kind::postfix:
      return std::min(a.length, b.length) / 16;
    case Kind::lcs:
    case Kind::indel:
    case Kind::osa:
    case Kind::ratio:
    case Kind::quick_ratio:
      return cells / 64;
    case Kind::levenshtein:
      return scorer.weights.are_uniform() ? cells / 64 : cells;
    default:
      return cells;
  }
}

// Scores are doubles on their way, which hold counts below 2^53.
void refuse_large_weights(const FuzzScorer& scorer, const match::Sequence& a,
                          const match::Sequence& b) {
  const match::EditWeights& weights = scorer.weights;
  const uint64_t largest = std::max({weights.insertion, weights.deletion, weights.replacement});
  const uint64_t symbols = std::max<uint64_t>(1, uint64_t{a.length} + b.length);
  if (largest > (uint64_t{1} << 53) / symbols) {
    PyErr_SetString(PyExc_OverflowError, "weights whose sum may be 2**53 or more");
    throw nb::python_error();
  }
}

double score_of(const FuzzScorer& scorer, const match::Sequence& a, const match::Sequence& b,
                std::optional<double> cutoff) {
  if (!scorer.weights.are_uniform()) refuse_large_weights(scorer, a, b);
  const uint64_t steps = steps_of(scorer, a, b);
  if (steps <= kSmallSteps) return match::fuzz_score(scorer, a, b, cutoff);
  return interruptible(steps >= kLongSteps, [&](const std::stop_token& stop) {
    return match::fuzz_score(scorer, a, b, cutoff, stop);
  });
}

// What is not two strs, or bytes, as they are.
double score_of_any(const FuzzScorer& scorer, const PairArguments& given,
                    std::optional<double> cutoff) {
  nb::object a = nb::borrow(given[PairArgument::s1]);
  nb::object b = nb::borrow(given[PairArgument::s2]);
  if (!is_missing(a) && !is_missing(b)) {
    if (given.has(PairArgument::processor)) {
      a = given[PairArgument::processor](a);
      b = given[PairArgument::processor](b);
    }
    const nb::handle pad = given[PairArgument::pad];
    if (pad.is_valid() && !is_true(pad) && !is_out_of_reach(scorer, a, b, cutoff)) {
      refuse_other_lengths(a, b);
    }
  } else if (scorer.is_percent() && given.has(PairArgument::processor)) {
    return scorer.worst();
  }
  if (!scorer.is_count() && (is_missing(a) || is_missing(b))) return scorer.worst();
  const Pair pair(a, b);
  return score_of(scorer, pair.first, pair.second, cutoff);
}

PyObject* call_function(PyObject* self, PyObject* const* arguments, size_t flags,
                        PyObject* keywords) {
  return raising([&] {
    const FunctionObject& function = function_of(self);
    const auto count = static_cast<size_t>(PyVectorcall_NARGS(flags));
    const PairArguments given(function.known, arguments, count, keywords,
                              [&] { return attribute_of(self, "__name__"); });
    const bool is_plain =
        !given.has(PairArgument::processor) && !given[PairArgument::pad].is_valid();
    FuzzScorer scorer = function.scorer;
    if (given.has(PairArgument::weights)) set_weights(scorer, given[PairArgument::weights]);
    if (given[PairArgument::prefix_weight].is_valid()) {
      set_prefix_weight(scorer, given[PairArgument::prefix_weight]);
    }
    const std::optional<double> cutoff = cutoff_of(scorer, given[PairArgument::score_cutoff]);
    if (is_plain) {
      const auto first = symbols_in_place(given[PairArgument::s1]);
      const auto second = symbols_in_place(given[PairArgument::s2]);
      if (first && second) {
        return number_of(scorer, score_of(scorer, *first, *second, cutoff)).release().ptr();
      }
    }
    return number_of(scorer, score_of_any(scorer, given, cutoff)).release().ptr();
  });
}

PyObject* new_function(PyTypeObject* type, PyObject* arguments, PyObject* /*keywords*/) {
  return raising([&]() -> PyObject* {
    const char* name = nullptr;
    if (PyArg_ParseTuple(arguments, "s:FuzzFunction", &name) == 0) return nullptr;
    const auto scorer = FuzzScorer::named(name);
    if (!scorer) throw nb::value_error(("no such scorer: " + std::string(name)).c_str());
    PyObject* const self = PyType_GenericAlloc(type, 0);
    if (self == nullptr) return nullptr;
    FunctionObject& function = function_of(self);
    function.call = call_function;
    new (&function.scorer) FuzzScorer(*scorer);
    function.known = arguments_of(*scorer);
    return self;
  });
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(function_of(self).attributes);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(function_of(self).attributes);
  return 0;
}

void deallocate(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (function_of(self).weak_references != nullptr) PyObject_ClearWeakRefs(self);
  clear(self);
  PyTypeObject* const type = Py_TYPE(self);
  const auto free = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  free(self);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

PyObject* repr_of(PyObject* self) {
  return raising([&] {
    const std::string text = "<function " + attribute_of(self, "__module__") + "." +
                             attribute_of(self, "__name__") + ">";
    return PyUnicode_FromString(text.c_str());
  });
}

// Copies, and what is unpickled, are the function of the module.
PyObject* reduce(PyObject* self, PyObject* /*none*/) {
  return PyObject_GetAttrString(self, "__qualname__");
}

PyObject* signature_of(PyObject* self, void* /*closure*/) {
  return raising([&] {
    const nb::object module = nb::module_::import_("hoist.rapidfuzz._scorers");
    return module.attr("signature_of")(nb::handle(self)).release().ptr();
  });
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weak_references), READONLY,
     nullptr},
    {}};
PyGetSetDef attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"__signature__", signature_of, nullptr, nullptr, nullptr},
    {}};
PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {}};

PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_function)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_repr, reinterpret_cast<void*>(repr_of)},
                       {Py_tp_members, members},
                       {Py_tp_getset, attributes},
                       {Py_tp_methods, methods},
                       {0, nullptr}};
PyType_Spec spec = {"hoist._native.FuzzFunction", sizeof(FunctionObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

}  // namespace

std::optional<double> cutoff_of(const FuzzScorer& scorer, nb::handle wanted) {
  if (!wanted.is_valid() || wanted.is_none()) return {};
  if (scorer.is_count() && PyLong_CheckExact(wanted.ptr())) {
    const long long number = PyLong_AsLongLong(wanted.ptr());
    if (number >= 0) return static_cast<double>(number);
    PyErr_Clear();  // of a larger one
  }
  const double number = PyFloat_AsDouble(wanted.ptr());
  if (number == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
  if (scorer.is_count()) {
    if (number < 0) {
      PyErr_SetString(PyExc_OverflowError, "can't convert negative value to uint64_t");
      throw nb::python_error();
    }
    if (!std::isfinite(number)) throw nb::value_error("a score_cutoff that is not finite");
    return std::trunc(number);
  }
  if (scorer.is_percent()) return std::isnan(number) ? 1e300 : number;  // nothing reaches it
  if (!(number >= 0 && number <= 1)) {
    throw nb::type_error("score_cutoff has to be in the range of 0.0 - 1.0");
  }
  return match::held_cutoff(number);
}

nb::object number_of(const FuzzScorer& scorer, double score) {
  if (scorer.is_count()) return nb::steal(PyLong_FromLongLong(static_cast<long long>(score)));
  return nb::steal(PyFloat_FromDouble(score));
}

void define_fuzz_function(nb::module_& module) {
  PyObject* const type = PyType_FromSpec(&spec);
  if (type == nullptr) throw nb::python_error();
  module.attr("FuzzFunction") = nb::steal(type);
}

}  // namespace hoist::python
