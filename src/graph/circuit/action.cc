#include "graph/circuit/action.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hoist::graph::circuit {
namespace {

// In the order of Gate.
constexpr uint8_t kClassOfGate[kGates] = {5, 21, 42, 7, 0};

bool overlap(const Place& a, const Place& b) {
  if (a.last < b.first || b.last < a.first) return false;
  return !a.page || !b.page || a.page == b.page;
}

// Writes its last operand, as a function of the others.
bool is_assignment(const Action& action) {
  return action.operands.size() > 1 && action.generator != Generator::swap;
}

bool reads_destination(const Action& action) {
  const Place& destination = action.operands.back();
  return std::any_of(action.operands.begin(), action.operands.end() - 1,
                     [&](const Place& source) { return overlap(source, destination); });
}

// All have pages, or none: else it is not said how much is written.
bool have_same_extent(const Action& a, const Action& b) {
  const bool has_page = a.operands.front().page.has_value();
  const auto is_alike = [&](const Place& place) { return place.page.has_value() == has_page; };
  return std::all_of(a.operands.begin(), a.operands.end(), is_alike) &&
         std::all_of(b.operands.begin(), b.operands.end(), is_alike);
}

Reduction reduce_swaps(const Action& first, const Action& second) {
  const auto& places = first.operands;
  const bool is_undone = first.operands == second.operands && have_same_extent(first, second) &&
                         !overlap(places[0], places[1]);
  return is_undone ? Reduction{Kept::none, "swap twice"} : Reduction{};
}

Reduction reduce_assignments(const Action& first, const Action& second) {
  const bool is_same = first.generator == second.generator && first.operands == second.operands;
  if (is_same && !reads_destination(first)) return {Kept::first, "done twice"};
  if (!have_same_extent(first, second)) return {};
  const bool is_back = first.generator == Generator::copy && second.generator == Generator::copy &&
                       first.operands[0] == second.operands[1] &&
                       first.operands[1] == second.operands[0];
  if (is_back && !reads_destination(first)) return {Kept::first, "copied back"};
  if (first.operands.back() == second.operands.back() && !reads_destination(second)) {
    return {Kept::second, "overwritten"};
  }
  return {};
}

}  // namespace

ClassSet classes_read(const Action& action) {
  ClassSet classes;
  const auto& operands = action.operands;
  const size_t count = is_assignment(action) ? operands.size() - 1 : operands.size();
  for (size_t i = 0; i < count; ++i) {
    for (size_t index = operands[i].first; index <= operands[i].last; ++index) classes.set(index);
  }
  return classes;
}

std::optional<uint8_t> class_written(const Action& action) {
  if (action.generator == Generator::mark) return action.operands.front().first;
  if (action.operands.size() == 2) return action.operands.back().first;
  return std::nullopt;
}

uint8_t class_of(Gate gate) { return kClassOfGate[static_cast<int>(gate)]; }

std::optional<Gate> possible_gate(const Action& action) {
  const bool is_single =
      std::all_of(action.operands.begin(), action.operands.end(),
                  [](const Place& place) { return place.first == place.last && !place.page; });
  if (!is_single) return std::nullopt;
  const uint8_t index = action.operands.front().first;
  const auto* const found = std::find(std::begin(kClassOfGate), std::end(kClassOfGate), index);
  if (found == std::end(kClassOfGate)) return std::nullopt;
  const auto gate = static_cast<Gate>(found - std::begin(kClassOfGate));
  if (gate != Gate::copy) {
    return action.generator == Generator::mark ? std::optional(gate) : std::nullopt;
  }
  const bool is_copy = action.generator == Generator::copy && class_written(action) != index;
  return is_copy ? std::optional(gate) : std::nullopt;
}

std::string_view no_effect(const Action& action) {
  const auto& places = action.operands;
  if (places.size() != 2 || places[0] != places[1]) return {};
  return action.generator == Generator::copy ? "copy to itself" : "swap with itself";
}

bool order_operands(Action& action) {
  const bool is_symmetric = (action.generator == Generator::swap && action.operands.size() == 2) ||
                            (action.generator == Generator::merge && action.operands.size() == 3);
  if (!is_symmetric || !have_same_extent(action, action)) return false;
  if (action.operands[0] <= action.operands[1]) return false;
  std::swap(action.operands[0], action.operands[1]);
  return true;
}

Reduction reduce(const Action& first, const Action& second) {
  if (is_assignment(first) && is_assignment(second)) return reduce_assignments(first, second);
  const bool are_swaps = first.operands.size() == 2 && first.generator == Generator::swap &&
                         second.generator == Generator::swap;
  return are_swaps ? reduce_swaps(first, second) : Reduction{};
}

}  // namespace hoist::graph::circuit
