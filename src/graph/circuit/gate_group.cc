#include "graph/circuit/gate_group.h"

#include <algorithm>
#include <map>
#include <utility>

namespace hoist::graph::circuit {
namespace {

constexpr Gate gate_at(int i) { return static_cast<Gate>(i); }

constexpr std::array kLetters = {Gate::copy, Gate::x, Gate::z, Gate::s};

bool is_better(const std::vector<Gate>& word, const std::vector<Gate>& than) {
  const auto rank = [](const std::vector<Gate>& of) {
    return std::pair(of.size(), std::count(of.begin(), of.end(), Gate::copy));
  };
  return rank(word) != rank(than) ? rank(word) < rank(than) : word < than;
}

}  // namespace

GateGroup::GateGroup() {
  find_elements();
  for (int set = 0; set <= kAllGates; ++set) {
    words_[set] = find_words(static_cast<GateSet>(set));
  }
}

void GateGroup::find_elements() {
  std::map<GateMatrix, GateElement> numbers = {{GateMatrix(), identity()}};
  matrices_ = {GateMatrix()};
  for (size_t at = 0; at < matrices_.size(); ++at) {
    for (int i = 0; i < kGates; ++i) {
      const GateMatrix product = matrices_[at] * matrix_of(gate_at(i));
      const auto next = static_cast<GateElement>(matrices_.size());
      const auto [found, is_new] = numbers.emplace(product, next);
      if (is_new) matrices_.push_back(product);
      products_[at][i] = found->second;
    }
  }
}

// Level by level: the best word of an element ends with a gate behind the best word of another.
GateGroup::Words GateGroup::find_words(GateSet at_hand) const {
  Words words;
  const bool has_identity = (at_hand & set_of(Gate::identity)) != 0;
  if (has_identity) words[identity()] = {Gate::identity};
  std::vector<GateElement> level = {identity()};
  for (size_t length = 1; !level.empty(); ++length) {
    std::vector<GateElement> next_level;
    for (const GateElement element : level) {
      for (const Gate gate : kLetters) {
        if ((at_hand & set_of(gate)) == 0) continue;
        std::vector<Gate> word = length == 1 ? std::vector<Gate>() : words[element];
        word.push_back(gate);
        const GateElement next = times(element, gate);
        std::vector<Gate>& known = words[next];
        const bool is_new = known.empty();
        if (!is_new && !is_better(word, known)) continue;
        known = std::move(word);
        if (is_new && next != identity()) next_level.push_back(next);
      }
    }
    level = std::move(next_level);
  }
  return words;
}

int GateGroup::order(GateElement element) const {
  int order = 1;
  const GateMatrix& matrix = matrices_[element];
  for (GateMatrix power = matrix; power != GateMatrix(); power = power * matrix) ++order;
  return order;
}

const GateGroup& gate_group() {
  static const GateGroup kGroup;
  return kGroup;
}

}  // namespace hoist::graph::circuit
