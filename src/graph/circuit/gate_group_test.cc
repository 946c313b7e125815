#include "graph/circuit/gate_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "graph/circuit/exact_matrix_testing.h"
#include "graph/circuit/gate_rules.h"

namespace hoist::graph::circuit {
namespace {

constexpr std::array kOfWords = {Gate::copy, Gate::x, Gate::z, Gate::s};

TEST(GateGroup, TheMatricesAreWhatTheExactNumbersSay) {
  for (int number = 0; number < kGateElements; ++number) {
    const auto element = static_cast<GateElement>(number);
    const ExactMatrix exact = exact_product(gate_group().word(element, kAllGates));
    EXPECT_EQ(exact_of(gate_group().matrix(element)), exact);
    for (const Gate gate : kOfWords) {
      EXPECT_EQ(exact_of(gate_group().matrix(gate_group().times(element, gate))),
                exact * exact_matrix(gate));
    }
  }
}

TEST(GateGroup, Has192ElementsAnd24UpToPhase) {
  std::set<ExactMatrix> known;
  std::set<std::array<int, 5>> up_to_phase;
  for (int number = 0; number < kGateElements; ++number) {
    const GateMatrix& matrix = gate_group().matrix(static_cast<GateElement>(number));
    known.insert(exact_of(matrix));
    std::array<int, 5> relative{};
    const int first = *std::find_if(matrix.powers.begin(), matrix.powers.end(),
                                    [](int power) { return power != GateMatrix::kZero; });
    for (int at = 0; at < 4; ++at) {
      const int power = matrix.powers[at];
      relative[at] = power == GateMatrix::kZero ? -1 : (power - first) & 7;
    }
    up_to_phase.insert(relative);
  }
  EXPECT_EQ(known.size(), 192u);
  EXPECT_EQ(up_to_phase.size(), 24u);
}

// All words up to the longest one: of those with a matrix, the shortest, with the fewest copies,
// the first in the order of the letters.
TEST(GateGroup, WordsAreTheBest) {
  const auto rank = [](const std::vector<Gate>& word) {
    const auto copies = std::count(word.begin(), word.end(), Gate::copy);
    return std::tuple(word.size(), copies, word);
  };
  std::map<ExactMatrix, std::vector<Gate>> best;
  std::vector<std::vector<Gate>> words = {{}};
  std::vector<ExactMatrix> matrices = {exact_matrix(Gate::identity)};
  for (size_t at = 0; at < words.size(); ++at) {
    const std::vector<Gate> word = words[at];
    const auto [found, is_new] = best.emplace(matrices[at], word);
    if (rank(word) < rank(found->second)) found->second = word;
    // Words longer than a shortest one of their matrix lead to none that is best.
    if (word.size() > found->second.size()) continue;
    for (const Gate gate : kOfWords) {
      words.push_back(word);
      words.back().push_back(gate);
      matrices.push_back(matrices[at] * exact_matrix(gate));
    }
  }
  ASSERT_EQ(best.size(), 192u);
  size_t longest = 0;
  for (int number = 1; number < kGateElements; ++number) {
    const auto element = static_cast<GateElement>(number);
    const std::vector<Gate>& word = gate_group().word(element, kAllGates);
    EXPECT_EQ(best.at(exact_of(gate_group().matrix(element))), word);
    longest = std::max(longest, word.size());
  }
  EXPECT_EQ(longest, 9u);
  EXPECT_EQ(gate_group().word(0, kAllGates), std::vector<Gate>{Gate::identity});
}

// Whatever gates are at hand, their words are products of them, and say the same element.
TEST(GateGroup, WordsOfFewerGates) {
  for (int set = 0; set <= kAllGates; ++set) {
    size_t known = 0;
    for (int number = 0; number < kGateElements; ++number) {
      const auto element = static_cast<GateElement>(number);
      const std::vector<Gate>& word = gate_group().word(element, static_cast<GateSet>(set));
      if (word.empty()) continue;
      ++known;
      EXPECT_TRUE(std::all_of(word.begin(), word.end(),
                              [&](Gate gate) { return (set & set_of(gate)) != 0; }));
      EXPECT_EQ(exact_product(word), exact_of(gate_group().matrix(element)));
    }
    EXPECT_EQ(known == 0, set == 0);
  }
}

TEST(GateGroup, Orders) {
  const auto order_of = [](std::initializer_list<Gate> gates) {
    GateElement element = GateGroup::identity();
    for (const Gate gate : gates) element = gate_group().times(element, gate);
    return gate_group().order(element);
  };
  EXPECT_EQ(order_of({}), 1);
  EXPECT_EQ(order_of({Gate::x}), 2);
  EXPECT_EQ(order_of({Gate::s}), 4);
  EXPECT_EQ(order_of({Gate::copy, Gate::x}), 2);
  EXPECT_EQ(order_of({Gate::copy}), 8);
}

TEST(GateMatrices, Text) {
  const auto text = [](const GateMatrix& matrix) {
    std::string all;
    for (int at = 0; at < 4; ++at) all += entry_text(matrix, at) + " ";
    return all;
  };
  EXPECT_EQ(text(matrix_of(Gate::s)), "1 0 0 i ");
  EXPECT_EQ(text(matrix_of(Gate::copy) * matrix_of(Gate::x)), "1/√2 1/√2 1/√2 -1/√2 ");
}

TEST(GateRules, OfTheReference) {
  using enum Gate;
  const auto rules = [](std::vector<Gate> word) { return shorten(std::move(word)).rules; };
  using Rules = std::vector<std::string_view>;
  EXPECT_EQ(rules({copy, x, x, copy, x}), Rules{"HXH = Z"});
  EXPECT_EQ(rules({copy, x, copy, x}), Rules{"H² = I"});
  EXPECT_EQ(rules({x, x}), Rules{"X² = I"});
  EXPECT_EQ(rules({s, s, s, s}), (Rules{"S² = Z", "Z² = I"}));
  EXPECT_EQ(rules({copy, x, copy, x, copy, x, copy, x}), (Rules{"H² = I", "I.I = I"}));
  EXPECT_EQ(rules({x, identity, x}), (Rules{"I.A = A", "X² = I"}));
  EXPECT_EQ(rules({z, x, x, z}), (Rules{"X² = I", "I.A = A", "Z² = I"}));
  EXPECT_EQ(shorten({s, x, s}).rules, Rules{});
  EXPECT_EQ(shorten({s, x, s}).word, (std::vector<Gate>{s, x, s}));
}

// Each rule of the reference is true of the matrices.
TEST(GateRules, KeepTheMatrix) {
  for (int number = 0; number < 4 * 4 * 4 * 4 * 4; ++number) {
    std::vector<Gate> word;
    for (int i = 0, rest = number; i < 5; ++i, rest /= 4) word.push_back(kOfWords[rest % 4]);
    EXPECT_EQ(exact_product(shorten(word).word), exact_product(word));
  }
}

}  // namespace
}  // namespace hoist::graph::circuit
