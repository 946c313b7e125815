#include "graph/circuit/canonical.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/test_seed.h"
#include "graph/circuit/exact_matrix_testing.h"
#include "graph/circuit/parser.h"

namespace hoist::graph::circuit {
namespace {

using Rules = std::vector<std::string>;

Canonical of(const std::string& text, const CanonicalOptions& options = {}) {
  return canonicalize(parse(text, options.grammar).value(), options);
}
std::string text_of(const std::string& text) { return of(text).text; }
std::string spec(const std::string& text) { return of(text, {.grammar = Grammar::spec}).text; }
std::string no_gates(const std::string& text) { return of(text, {.gates = false}).text; }

constexpr const char* kH = "copy@c05->c06 . mark@c21";

TEST(Canonical, ThePublishedExamples) {
  const Canonical x = of("mark@c21 . mark@c21");
  EXPECT_EQ(x.text, "mark@c00");
  EXPECT_EQ(x.rules, Rules{"X² = I"});
  EXPECT_EQ(x.before, 2u);
  EXPECT_EQ(x.after, 1u);
  EXPECT_EQ(x.group_element, GateGroup::identity());

  const std::string h = kH;
  EXPECT_EQ(of(h + " . " + h).rules, Rules{"H² = I"});
  EXPECT_EQ(text_of(h + " . " + h), "mark@c00");
  EXPECT_EQ(text_of(h + " . " + h + " . " + h + " . " + h), "mark@c00");
  EXPECT_EQ(of(h + " . mark@c21 . " + h).rules, Rules{"HXH = Z"});
  EXPECT_EQ(text_of(h + " . mark@c21 . " + h), "mark@c42");
  EXPECT_EQ(text_of("mark@c07 . mark@c07"), "mark@c42");
  EXPECT_EQ(text_of("mark@c00 . mark@c00"), "mark@c00");
  EXPECT_EQ(text_of(h), h);
  EXPECT_EQ(text_of("mark@c42"), "mark@c42");
  EXPECT_EQ(text_of(h + " . " + h + " || mark@c21 . mark@c21"), "mark@c00 || mark@c00");
  EXPECT_EQ(text_of("(mark@c21 . mark@c21)"), "mark@c00");
}

// What the reference's rules leave as it is.
TEST(Canonical, WhatTheReferenceMisses) {
  EXPECT_EQ(text_of("mark@c21 . mark@c00 . mark@c21"), "mark@c00");
  EXPECT_EQ(text_of("mark@c42 . mark@c21 . mark@c21 . mark@c42"), "mark@c00");
  EXPECT_EQ(text_of("mark@c21 . ((mark@c21))"), "mark@c00");
  EXPECT_EQ(of("mark@c07 . mark@c42 . mark@c07").rules, Rules{"equal matrices"});
  EXPECT_EQ(text_of("mark@c07 . mark@c42 . mark@c07"), "mark@c00");
}

TEST(Canonical, DestinationsOfGates) {
  EXPECT_EQ(text_of("copy@c05->c10"), "copy@c05->c06");
  EXPECT_EQ(of("copy@c05->c10").rules, Rules{"destination"});
  EXPECT_EQ(text_of("copy@c05->c10 . mark@c21 . copy@c05->c11 . mark@c21"), "mark@c00");
  // Where c06 is memory, another class.
  EXPECT_EQ(text_of("copy@c05->c10 . quote@c06"), "copy@c05->c00 . quote@c06");
}

TEST(Canonical, ACopyThatIsReadIsNoGate) {
  for (const char* text :
       {"copy@c05->c06 . mark@c21 . copy@c05->c06 . mark@c21 . copy@c06->c07",
        "copy@c05->c06 . quote@c06", "copy@c05->c06 || swap@c06<->c09",
        "copy@c05->c06 . merge@c01[c06,c02]", "mark@c21 . copy@c05->c06@3 . mark@c21",
        "copy@c05->c06 . mark@c[3..9]"}) {
    EXPECT_EQ(text_of(text), text);
  }
}

TEST(Canonical, AMarkThatIsReadIsNoGate) {
  for (const char* text : {"mark@c21 . mark@c21 . copy@c21->c30", "mark@c00 . merge@c00[c01,c02]",
                           "mark@c42 . mark@c42 || quote@c42"}) {
    EXPECT_EQ(text_of(text), text);
  }
  // Where mark@c00 is memory, what does nothing has another name.
  EXPECT_EQ(text_of("quote@c00 || mark@c42 . mark@c42"), "quote@c00 || copy@c00->c00");
  EXPECT_EQ(spec("quote@c00 || mark@c07 . mark@c42 . mark@c07"),
            "quote@c00 || mark@c21 . mark@c21");
  // Words have only what is a gate here: without S, another word.
  EXPECT_EQ(text_of("copy@c05->c06 . mark@c21 . mark@c42 . copy@c05->c06 . mark@c21 . mark@c42 . "
                    "copy@c05->c06 . quote@c07")
                .find("mark@c07"),
            std::string::npos);
}

TEST(Canonical, PagesAndTwistsAreNoGates) {
  for (const char* text :
       {"mark@c21@1 . mark@c21@2", "mark@c21@1 . mark@c21@1", "mark@c21 . mark@c21@0",
        "mark@c21^+0 . mark@c21^+0", "mark@c[21..22] . mark@c[21..22]"}) {
    EXPECT_EQ(text_of(text), text);
  }
  EXPECT_EQ(text_of("mark@c21 . mark@c21^+1"), "mark@c21 . mark@c22");
  EXPECT_EQ(text_of("mark@c20^+1 . mark@c21 . mark@c21"),
            "mark@c21^+0 . mark@c21^+0 . mark@c21^+0");
  EXPECT_EQ(no_gates("mark@c20^+1"), "mark@c21");
  EXPECT_EQ(text_of("copy@c05^+0->c06"), "copy@c05^+0->c06");
}

TEST(Canonical, Transforms) {
  EXPECT_EQ(text_of("R+1@ mark@c00"), "mark@c24");
  EXPECT_EQ(text_of("R+1 T-1 ~@ mark@c08^+2~ . quote@c01"), "mark@c33 . quote@c24");
  EXPECT_EQ(spec("R+1@ (copy@c05 . D+1@ evaluate@c21)"), "copy@c29 . evaluate@c29");
  EXPECT_EQ(of("R+1@ mark@c00").rules, Rules{"transforms"});
  EXPECT_EQ(spec("mark@c01 . R+1@ mark@c02 || mark@c03"), "mark@c01 . (mark@c26 || mark@c27)");
}

TEST(Canonical, Ranges) {
  EXPECT_EQ(text_of("mark@c[0..9]"), "mark@c[0..9]");
  EXPECT_EQ(text_of("R+1@ mark@c[0..9]"), "mark@c[24..33]");
  EXPECT_EQ(text_of("mark@c[0..9]^+1"), "mark@c[0..7] . mark@c[9..10]");
  EXPECT_EQ(text_of("mark@c[0..1]^+7"), "mark@c00^+0 . mark@c07^+0");
  EXPECT_EQ(text_of("merge@c[6..7]^+1"), "merge@c00[c00,c00] . merge@c07[c07,c07]");
  EXPECT_EQ(of("mark@c[0..7]^+3").rules, Rules{});
}

TEST(Canonical, Groups) {
  EXPECT_EQ(text_of("(mark@c01 || mark@c02) || mark@c03"), "mark@c01 || mark@c02 || mark@c03");
  EXPECT_EQ(text_of("(mark@c01 || mark@c02) . (mark@c03)"), "(mark@c01 || mark@c02) . mark@c03");
  EXPECT_EQ(text_of("mark@c21 . (mark@c21 || mark@c01) . mark@c21"),
            "mark@c21 . (mark@c21 || mark@c01) . mark@c21");
  EXPECT_EQ(text_of("mark@c00 . (mark@c01 || mark@c02)"), "mark@c01 || mark@c02");
}

TEST(Canonical, Effects) {
  EXPECT_EQ(text_of("swap@c02<->c01"), "swap@c01<->c02");
  EXPECT_EQ(text_of("swap@c01<->c02 . swap@c02<->c01"), "mark@c00");
  EXPECT_EQ(no_gates("swap@c01<->c02 . swap@c02<->c01"), "copy@c00->c00");
  EXPECT_EQ(text_of("swap@c01<->c02 . mark@c21 . mark@c21 . swap@c01<->c02"), "mark@c00");
  EXPECT_EQ(text_of("copy@c01->c02 . copy@c01->c02"), "copy@c01->c02");
  EXPECT_EQ(text_of("copy@c01->c02 . copy@c02->c01"), "copy@c01->c02");
  EXPECT_EQ(text_of("copy@c01->c02 . copy@c03->c02"), "copy@c03->c02");
  EXPECT_EQ(text_of("copy@c01->c02 . merge@c02[c03,c02]"), "copy@c01->c02 . merge@c02[c03,c02]");
  EXPECT_EQ(text_of("copy@c01->c01 . mark@c03"), "mark@c03");
  EXPECT_EQ(text_of("merge@c09[c01,c02]"), "merge@c01[c09,c02]");
  EXPECT_EQ(text_of("split@c09[c01,c02]"), "split@c09[c01,c02]");
  EXPECT_EQ(text_of("copy@c01->c02@3 . copy@c01->c02@4"), "copy@c01->c02@3 . copy@c01->c02@4");
  EXPECT_EQ(text_of("copy@c01->c02 . copy@c01->c03"), "copy@c01->c02 . copy@c01->c03");
  EXPECT_EQ(text_of("swap@c01<->c02@3 . swap@c01<->c02@3"), "swap@c01<->c02@3 . swap@c01<->c02@3");
  // Once the copy to itself is gone, nothing reads c10: the first copy is a gate.
  EXPECT_EQ(text_of("copy@c05->c10 . copy@c10->c10"), "copy@c05->c06");
  // One class says nothing about memory.
  EXPECT_EQ(spec("swap@c01 . swap@c01"), "swap@c01 . swap@c01");
}

TEST(Canonical, WithoutGates) {
  EXPECT_EQ(no_gates("mark@c21 . mark@c21"), "mark@c21 . mark@c21");
  EXPECT_EQ(no_gates("copy@c05->c06 . mark@c00"), "copy@c05->c06 . mark@c00");
  EXPECT_EQ(of("mark@c00", {.gates = false}).group_element, std::nullopt);
}

// The fragment of gates: all words of up to four letters, of the identity too, then random ones.
class GateWords : public testing::TestWithParam<Grammar> {
 protected:
  std::string text(const std::vector<Gate>& word) const {
    const std::string copy = GetParam() == Grammar::spec ? "copy@c05" : "copy@c05->c06";
    const std::map<Gate, std::string> letters = {{Gate::x, "mark@c21"},
                                                 {Gate::z, "mark@c42"},
                                                 {Gate::s, "mark@c07"},
                                                 {Gate::copy, copy},
                                                 {Gate::identity, "mark@c00"}};
    std::string all;
    for (const Gate gate : word) all += (all.empty() ? "" : " . ") + letters.at(gate);
    return all;
  }

  // Equal matrices have equal texts, and different ones different texts.
  void check(const std::vector<Gate>& word) {
    const ExactMatrix matrix = exact_product(word);
    const Canonical canonical = of(text(word), {.grammar = GetParam()});
    const auto [by_matrix, is_new_matrix] = texts_.emplace(matrix, canonical.text);
    ASSERT_EQ(by_matrix->second, canonical.text) << text(word);
    const auto [by_text, is_new_text] = matrices_.emplace(canonical.text, matrix);
    ASSERT_EQ(by_text->second, matrix) << text(word);
    ASSERT_EQ(of(canonical.text, {.grammar = GetParam()}).text, canonical.text);
    ASSERT_TRUE(canonical.group_element);
    ASSERT_EQ(exact_of(gate_group().matrix(*canonical.group_element)), matrix);
    ASSERT_LE(canonical.after, canonical.before);
  }

  std::map<ExactMatrix, std::string> texts_;
  std::map<std::string, ExactMatrix> matrices_;
};

TEST_P(GateWords, EqualMatricesHaveEqualTexts) {
  std::vector<std::vector<Gate>> words;
  for (int i = 0; i < kGates; ++i) words.push_back({static_cast<Gate>(i)});
  for (size_t at = 0; at < words.size(); ++at) {
    check(words[at]);
    if (words[at].size() == 5) continue;
    for (int i = 0; i < kGates; ++i) {
      std::vector<Gate> longer = words[at];
      longer.push_back(static_cast<Gate>(i));
      words.push_back(std::move(longer));
    }
  }
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 3000; ++i) {
    std::vector<Gate> word(1 + random() % 40);
    for (Gate& gate : word) gate = static_cast<Gate>(random() % kGates);
    check(word);
  }
  // Each word of the group, too.
  for (int number = 0; number < kGateElements; ++number) {
    check(gate_group().word(static_cast<GateElement>(number), kAllGates));
  }
  EXPECT_EQ(texts_.size(), 192u);
  EXPECT_EQ(matrices_.size(), 192u);
}

INSTANTIATE_TEST_SUITE_P(Both, GateWords, testing::Values(Grammar::compiler, Grammar::spec),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(Canonical, LongOnesTakeNoLongerThanTheyAre) {
  std::string gates = "mark@c42";
  while (gates.size() + 20 < kMostBytes) gates += " . mark@c21";
  EXPECT_LE(of(gates).after, 2u);
  // Each copy that becomes a gate makes one more possible.
  std::string chain;
  for (int index = 95; index > 6; --index) {
    chain += "copy@c05->c" + std::to_string(index) + " . copy@c" + std::to_string(index) + "->c" +
             std::to_string(index) + " . ";
  }
  while (chain.size() + 40 < kMostBytes) chain += "swap@c01<->c02 . mark@c21 . mark@c21 . ";
  const Canonical canonical = of(chain + "mark@c00");
  EXPECT_EQ(canonical.rules.back(), "destination");
  EXPECT_LE(canonical.after, 12u);
}

}  // namespace
}  // namespace hoist::graph::circuit
