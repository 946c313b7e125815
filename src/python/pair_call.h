// What the scorers of a pair share, hoist.match's and hoist.rapidfuzz's: their arguments, taken
// without a call through Python, the sequences where they lie, and exceptions.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "match/pairs/sequence_list.h"
#include "python/match_collection.h"
#include "python/match_elements.h"
#include "python/raising.h"

namespace hoist::python {

enum class PairArgument : uint8_t {
  s1,
  s2,
  processor,
  score_cutoff,
  score_hint,  // not needed
  weights,
  pad,
  prefix_weight,
};
inline constexpr size_t kPairArguments = 8;

using PairArgumentSet = uint32_t;
constexpr PairArgumentSet set_of(PairArgument argument) {
  return uint32_t{1} << static_cast<uint32_t>(argument);
}
template <typename... More>
constexpr PairArgumentSet set_of(PairArgument first, More... more) {
  return set_of(first) | set_of(more...);
}
// What every scorer takes.
inline constexpr PairArgumentSet kEveryPairArgument =
    set_of(PairArgument::s1, PairArgument::s2, PairArgument::processor, PairArgument::score_cutoff,
           PairArgument::score_hint);

// The arguments of a vector call, borrowed: two by place or by name, the others by name.
class PairArguments {
 public:
  // Throws TypeError for one that is not among those that are `known`, for one twice, and for fewer
  // than two sequences; `name` is the function's.
  template <typename Name>
  PairArguments(PairArgumentSet known, PyObject* const* arguments, size_t count, PyObject* keywords,
                const Name& name) {
    for (size_t i = 0; i < count && i < 2; ++i) values_[i] = arguments[i];
    if (count <= 2 && (keywords == nullptr || take_named(known, arguments + count, keywords)) &&
        values_[0] != nullptr && values_[1] != nullptr) {
      return;
    }
    refuse(known, arguments, count, keywords, name());
  }

  nanobind::handle operator[](PairArgument argument) const {
    return values_[static_cast<size_t>(argument)];
  }
  // Whether it is given, and not None.
  bool has(PairArgument argument) const {
    const nanobind::handle value = (*this)[argument];
    return value.is_valid() && !value.is_none();
  }

 private:
  bool take_named(PairArgumentSet known, PyObject* const* values, PyObject* keywords);
  [[noreturn]] void refuse(PairArgumentSet known, PyObject* const* arguments, size_t count,
                           PyObject* keywords, const std::string& name);

  std::array<PyObject*, kPairArguments> values_ = {};
};

// The two sequences of a pair, read where they lie where that can be. The objects must outlive it.
class Pair {
 public:
  // Throws TypeError for what is no sequence.
  Pair(nanobind::handle a, nanobind::handle b) : first(take(a, 0)), second(take(b, 1)) {}

  uint64_t cells() const { return uint64_t{first.length} * second.length; }

 private:
  match::Sequence take(nanobind::handle item, size_t side) {
    if (const auto in_place = symbols_in_place(item)) return *in_place;
    return copied(item, side);
  }
  match::Sequence copied(nanobind::handle item, size_t side);

  std::optional<ElementNumbers> numbers_;
  std::array<std::vector<uint32_t>, 2> wide_;
  std::array<std::vector<uint8_t>, 2> narrow_;

 public:
  match::Sequence first;
  match::Sequence second;
};

}  // namespace hoist::python
