// The 192 products of gates, and the one word that stands for each.
//
//   GateElement element = gate_group().identity();
//   element = gate_group().times(element, Gate::x);
//   std::vector<Gate> word = gate_group().word(element, kAllGates);
//
// The word of an element is the shortest product of the gates at hand that is it; of those the one
// with the fewest copies, and of those the first, where gates are ordered copy, X, Z, S. Found by a
// breadth-first search over the group.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "graph/circuit/gate_matrix.h"

namespace hoist::graph::circuit {

// A number from 0, in the order in which the search with all gates finds them: the identity is 0.
using GateElement = uint8_t;
inline constexpr int kGateElements = 192;

// Bit `gate` is set for each gate at hand.
using GateSet = uint8_t;
inline constexpr GateSet kAllGates = (1 << kGates) - 1;
constexpr GateSet set_of(Gate gate) { return static_cast<GateSet>(1 << static_cast<int>(gate)); }

class GateGroup {
 public:
  GateGroup();

  static constexpr GateElement identity() { return 0; }
  GateElement times(GateElement element, Gate gate) const {
    return products_[element][static_cast<int>(gate)];
  }
  const GateMatrix& matrix(GateElement element) const { return matrices_[element]; }
  // How often it is multiplied with itself until that is the identity.
  int order(GateElement element) const;

  // `element` is a product of the gates in `at_hand`. The word of the identity has one letter
  // where mark@c00 is at hand; else it is the best of the words that are not empty.
  const std::vector<Gate>& word(GateElement element, GateSet at_hand) const {
    return words_[at_hand][element];
  }

 private:
  using Words = std::array<std::vector<Gate>, kGateElements>;
  void find_elements();
  Words find_words(GateSet at_hand) const;

  std::vector<GateMatrix> matrices_;
  std::array<std::array<GateElement, kGates>, kGateElements> products_{};
  std::array<Words, kAllGates + 1> words_;
};

const GateGroup& gate_group();

}  // namespace hoist::graph::circuit
