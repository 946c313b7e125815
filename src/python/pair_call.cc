#include "python/pair_call.h"

#include <algorithm>

namespace nb = nanobind;

namespace hoist::python {
namespace {

constexpr std::array<const char*, kPairArguments> kNames = {
    "s1", "s2", "processor", "score_cutoff", "score_hint", "weights", "pad", "prefix_weight"};

// As the interpreter has them where a call is written out, so that most are known by their address.
struct Interned {
  Interned() {
    for (size_t i = 0; i < kPairArguments; ++i) names[i] = PyUnicode_InternFromString(kNames[i]);
  }
  std::array<PyObject*, kPairArguments> names;
};

size_t place_of(PyObject* name) {
  static const Interned interned;
  const auto found = std::find(interned.names.begin(), interned.names.end(), name);
  if (found != interned.names.end()) return static_cast<size_t>(found - interned.names.begin());
  size_t place = 0;
  while (place < kPairArguments && PyUnicode_CompareWithASCIIString(name, kNames[place]) != 0) {
    ++place;
  }
  return place;
}

[[noreturn]] void raise_type_error(const std::string& name, const std::string& what) {
  throw nb::type_error((name + "(): " + what).c_str());
}

bool is_known(PairArgumentSet known, size_t place) {
  return place < kPairArguments && (known >> place & 1) != 0;
}

}  // namespace

bool PairArguments::take_named(PairArgumentSet known, PyObject* const* values, PyObject* keywords) {
  const Py_ssize_t count = PyTuple_Size(keywords);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const size_t place = place_of(PyTuple_GetItem(keywords, i));
    if (!is_known(known, place) || values_[place] != nullptr) return false;
    values_[place] = values[i];
  }
  return true;
}

void PairArguments::refuse(PairArgumentSet known, PyObject* const* arguments, size_t count,
                           PyObject* keywords, const std::string& name) {
  if (count > 2)
    raise_type_error(name, "two sequences, and " + std::to_string(count) + " were given");
  values_ = {};
  for (size_t i = 0; i < count; ++i) values_[i] = arguments[i];
  const Py_ssize_t named = keywords != nullptr ? PyTuple_Size(keywords) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* const keyword = PyTuple_GetItem(keywords, i);
    const size_t place = place_of(keyword);
    const std::string text = nb::str(nb::handle(keyword)).c_str();
    if (!is_known(known, place)) raise_type_error(name, "an unknown argument: " + text);
    if (values_[place] != nullptr) raise_type_error(name, text + " is given twice");
    values_[place] = keyword;
  }
  raise_type_error(name, "two sequences are needed");
}

match::Sequence Pair::copied(nb::handle item, size_t side) {
  if (PyObject_Size(item.ptr()) < 0) throw nb::python_error();
  if (!numbers_) numbers_.emplace(true);
  std::vector<uint32_t>& wide = wide_[side];
  numbers_->append(item, wide);
  const bool is_narrow = PyUnicode_Check(item.ptr()) != 0 &&
                         std::all_of(wide.begin(), wide.end(), [](uint32_t c) { return c < 256; });
  if (!is_narrow) return sequence_of(wide.data(), wide.size());
  // With Python's stable ABI.
  std::vector<uint8_t>& narrow = narrow_[side];
  narrow.assign(wide.begin(), wide.end());
  return sequence_of(narrow.data(), narrow.size());
}

}  // namespace hoist::python
