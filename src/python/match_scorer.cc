#include "python/match_scorer.h"

#include <structmember.h>

#include <cstddef>
#include <new>
#include <string>

#include "python/errors.h"
#include "python/interruptible.h"
#include "python/module.h"
#include "python/pair_call.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

// Steps of 64 cells. With fewer it takes a tenth of a millisecond at most, within which no other
// thread would get the interpreter's lock. With more than the latter it takes hundredths of a
// second, against which starting a thread is nothing.
constexpr uint64_t kSmallSteps = uint64_t{1} << 16;
constexpr uint64_t kLongSteps = uint64_t{1} << 23;

struct ScorerObject {
  PyObject_HEAD vectorcallfunc call;
  match::PairScorer scorer;
};

PyTypeObject* scorer_type = nullptr;

const match::PairScorer& scorer_in(PyObject* self) {
  return reinterpret_cast<const ScorerObject*>(self)->scorer;
}

double score_of(const match::PairScorer& scorer, const PairArguments& arguments) {
  const std::optional<double> cutoff = cutoff_of(scorer, arguments[PairArgument::score_cutoff]);
  const nb::handle a = arguments[PairArgument::s1];
  const nb::handle b = arguments[PairArgument::s2];
  if (is_missing(a) || is_missing(b)) {
    if (scorer.is_integer()) refuse_missing(scorer);
    return scorer.worst();
  }
  nb::object x = nb::borrow(a);
  nb::object y = nb::borrow(b);
  if (arguments.has(PairArgument::processor)) {
    x = arguments[PairArgument::processor](x);
    y = arguments[PairArgument::processor](y);
  }
  const Pair pair(x, y);
  const match::Sequence& p = pair.first;
  const match::Sequence& q = pair.second;
  if (pair.cells() <= 32 * kSmallSteps) return pair_score(scorer, p, q, cutoff);
  const uint64_t steps = pair_score_steps(scorer, p, q, cutoff);
  if (steps <= kSmallSteps) return pair_score(scorer, p, q, cutoff);
  return interruptible(steps >= kLongSteps, [&](const std::stop_token& stop) {
    return pair_score(scorer, p, q, cutoff, stop);
  });
}

PyObject* call_scorer(PyObject* self, PyObject* const* arguments, size_t flags,
                      PyObject* keywords) {
  return raising([&] {
    const match::PairScorer& scorer = scorer_in(self);
    const auto count = static_cast<size_t>(PyVectorcall_NARGS(flags));
    const PairArguments given(kEveryPairArgument, arguments, count, keywords,
                              [&] { return scorer.name(); });
    const double score = score_of(scorer, given);
    return scorer.is_integer() ? PyLong_FromLongLong(static_cast<long long>(score))
                               : PyFloat_FromDouble(score);
  });
}

PyObject* new_scorer(PyTypeObject* type, PyObject* arguments, PyObject* /*keywords*/) {
  return raising([&]() -> PyObject* {
    const char* name = nullptr;
    if (PyArg_ParseTuple(arguments, "s:Scorer", &name) == 0) return nullptr;
    const match::PairScorer scorer = scorer_of(nb::str(name));
    PyObject* const self = PyType_GenericAlloc(type, 0);
    if (self == nullptr) return nullptr;
    auto* const object = reinterpret_cast<ScorerObject*>(self);
    object->call = call_scorer;
    new (&object->scorer) match::PairScorer(scorer);
    return self;
  });
}

PyObject* name_of(PyObject* self, void* /*closure*/) {
  return PyUnicode_FromString(scorer_in(self).name().c_str());
}

PyObject* is_count(PyObject* self, void* /*closure*/) {
  return PyBool_FromLong(static_cast<long>(scorer_in(self).is_integer()));
}

PyObject* repr_of(PyObject* self) {
  return PyUnicode_FromString(("hoist.match." + scorer_in(self).name()).c_str());
}

// Copies, and what is unpickled, are the scorer itself.
PyObject* reduce(PyObject* self, PyObject* /*none*/) {
  return raising([&] {
    const nb::object named = nb::module_::import_("hoist._match_pairs").attr("_scorer_named");
    const nb::str name(scorer_in(self).name().c_str());
    return nb::make_tuple(named, nb::make_tuple(name)).release().ptr();
  });
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ScorerObject, call), READONLY, nullptr}, {}};
PyGetSetDef attributes[] = {
    {"name", name_of, nullptr, "As in RapidFuzz: \"Indel.distance\"; \"ratio\".", nullptr},
    {"is_count", is_count, nullptr, "Whether scores are whole numbers.", nullptr},
    {}};
PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {}};
constexpr const char* kDoc =
    "How alike two sequences are, as the function of RapidFuzz with the same name has it.\n\n"
    "    scorer(s1, s2, *, processor=None, score_cutoff=None, score_hint=None)\n\n"
    "Beyond the cut-off the score is 0, for normalized distances 1, for distances one more than "
    "the\n"
    "cut-off; the nearer the cut-off is to equal sequences, the less time it takes. Cut-offs of\n"
    "normalized scores and percents are rounded to 32 bits, as RapidFuzz rounds them, here as in\n"
    "`cdist`. None, NaN and pandas.NA have the worst normalized score. score_hint is not "
    "needed.\n\n"
    "Raises InvalidArgument for a cut-off that no score has and for None where scores are counts,\n"
    "TypeError for what is no sequence of hashables.";

PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_scorer)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_repr, reinterpret_cast<void*>(repr_of)},
                       {Py_tp_members, members},
                       {Py_tp_getset, attributes},
                       {Py_tp_methods, methods},
                       {Py_tp_doc, const_cast<char*>(kDoc)},
                       {0, nullptr}};
PyType_Spec spec = {"hoist.match.Scorer", sizeof(ScorerObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};

}  // namespace

match::PairScorer scorer_of(nb::handle scorer) {
  if (scorer_type != nullptr && Py_TYPE(scorer.ptr()) == scorer_type) {
    return scorer_in(scorer.ptr());
  }
  std::string name;
  if (PyUnicode_Check(scorer.ptr())) {
    name = nb::cast<std::string>(scorer);
    if (const auto named = match::PairScorer::named(name)) return *named;
  } else {
    name = nb::repr(scorer).c_str();
  }
  std::string known;
  for (const std::string& one : match::PairScorer::names()) {
    known += (known.empty() ? "" : ", ") + one;
  }
  raise({ErrorCode::unsupported, "no such scorer: " + name + " (" + known + ")"});
}

std::optional<double> cutoff_of(const match::PairScorer& scorer, nb::handle wanted) {
  if (!wanted.is_valid() || wanted.is_none()) return {};
  const double number = PyFloat_AsDouble(wanted.ptr());
  if (number == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return value(scorer.cutoff(number));
}

void refuse_missing(const match::PairScorer& scorer) {
  raise({ErrorCode::invalid_argument,
         scorer.name() + ": None or NaN as a sequence: distances and similarities that are counts "
                         "have no value for it; take a normalized one"});
}

void define_match_scorer(nb::module_& module) {
  PyObject* const type = PyType_FromSpec(&spec);
  if (type == nullptr) throw nb::python_error();
  scorer_type = reinterpret_cast<PyTypeObject*>(type);
  module.attr("Scorer") = nb::handle(type);
}

}  // namespace hoist::python
