#include "graph/circuit/evaluate.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/circuit/parser.h"
#include "graph/classes/classes.h"

namespace hoist::graph::circuit {
namespace {

using Bytes = std::vector<uint8_t>;
using Addresses = std::vector<uint16_t>;

Evaluation spec(const std::string& text) { return evaluate(parse(text, Grammar::spec).value()); }
Evaluation compiler(const std::string& text) {
  return evaluate(parse(text, Grammar::compiler).value());
}

std::string words(const Evaluation& evaluation) {
  std::string text;
  for (const std::string& word : evaluation.words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// The vectors that the specification's package publishes.
TEST(Bytes, PublishedVectors) {
  EXPECT_EQ(spec("mark@c21").bytes, Bytes{0x2a});
  EXPECT_EQ(spec("evaluate@c21 . copy@c05 || swap@c72").bytes, (Bytes{0x2a, 0x0a, 0xc0}));
  EXPECT_EQ(spec("R+1@ (copy@c05 . evaluate@c21)").bytes, (Bytes{0x4a, 0x6a}));
  EXPECT_EQ(spec("mark@c42^+3~@17").bytes, Bytes{0x5a});
  EXPECT_EQ(spec("mark@c42^+3~@17").addresses, Addresses{4442});
  EXPECT_EQ(spec("T+4@mark@c00").bytes, Bytes{0x08});
  EXPECT_EQ(spec("~@mark@c13").bytes, Bytes{0x2a});
  EXPECT_EQ(spec("R+2 T+3@mark@c07").bytes, Bytes{0x84});
  EXPECT_EQ(spec("R+1@ (T-1 ~@ mark@c00)").bytes, Bytes{representative(31)});
  EXPECT_EQ(spec("~@(~@mark@c13)").bytes, Bytes{representative(13)});
}

TEST(Words, PublishedVectors) {
  EXPECT_EQ(words(spec("mark@c00")), "mark");
  EXPECT_EQ(words(spec("copy@c05")), "copy[d=0]");
  EXPECT_EQ(words(spec("swap@c72")), "swap");
  EXPECT_EQ(words(spec("merge@c13")), "merge[d=1]");
  EXPECT_EQ(words(spec("split@c20")), "split[ℓ=4]");
  EXPECT_EQ(words(spec("quote@c30")), "quote[ℓ=6]");
  EXPECT_EQ(words(spec("evaluate@c21")), "phase[h₂=0] evaluate");
  EXPECT_EQ(words(spec("copy@c05 . evaluate@c40")), "phase[h₂=1] evaluate copy[d=0]");
  EXPECT_EQ(words(spec("mark@c01 || mark@c02")), "⊗_begin mark ⊗_sep mark ⊗_end");
  EXPECT_EQ(words(spec("R+1@mark@c00")), "→ρ[1] mark ←ρ[1]");
}

TEST(Words, Transforms) {
  EXPECT_EQ(words(spec("R-5 D-1 T+9 ~@ copy@c08")),
            "→ρ[-5] →δ[2] →τ[9] →μ copy[d=0] ←ρ[-5] ←δ[2] ←τ[9] ←μ");
  EXPECT_EQ(words(spec("R+0@ mark@c00")), "mark");
  EXPECT_EQ(words(spec("D+3@ mark@c00")), "→δ[0] mark ←δ[0]");
  // What is in force within, with what is around it.
  EXPECT_EQ(words(spec("R+1@ (R+1@ mark@c00)")), "→ρ[1] →ρ[2] mark ←ρ[2] ←ρ[1]");
  EXPECT_EQ(words(spec("copy@c00 . (mark@c01 . quote@c02)")), "quote[ℓ=2] mark copy[d=0]");
}

// D, then the mirror around it: 0 to 1 to 2. A sum of both would be 0 to 1 to 2 as well, but with
// the mirror within, 1 to 2 to 0, where a sum says 1 to 2 to 1.
TEST(Bytes, NestedTransformsAreFunctions) {
  EXPECT_EQ(spec("~@ (D+1@ mark@c00)").bytes, Bytes{representative(16)});
  EXPECT_EQ(spec("D+1@ (~@ mark@c08)").bytes, Bytes{representative(0)});
  EXPECT_EQ(spec("D+1@ mark@c08~").bytes, Bytes{representative(0)});
  EXPECT_EQ(words(spec("D+1@ (~@ mark@c08)")), "→δ[1] →δ[2] →μ mark ←δ[2] ←μ ←δ[1]");
}

TEST(Bytes, ANestedTransformCoversTheRest) {
  EXPECT_EQ(spec("mark@c00 . R+1@ mark@c00 || mark@c00").bytes, (Bytes{0x00, 0x40, 0x40}));
}

TEST(Compiler, AllClassesInTheOrderOfTheText) {
  EXPECT_EQ(compiler("copy@c05->c06@17 . merge@c01[c02,c03]").bytes,
            (Bytes{0x0a, 0x0c, 0x02, 0x04, 0x06}));
  EXPECT_EQ(compiler("copy@c05->c06@17").addresses, Addresses{17 * 256 + 0x0c});
  EXPECT_EQ(words(compiler("copy@c08->c06 . merge@c16[c02,c03]")), "merge[d=2] copy[d=1]");
}

// The reference moves the ends of a range alone.
TEST(Compiler, ARangeMovesAsAWhole) {
  EXPECT_EQ(compiler("mark@c[6..9]^+1").bytes,
            (Bytes{representative(7), representative(0), representative(9), representative(10)}));
  EXPECT_EQ(words(compiler("evaluate@c[23..24]")), "phase[h₂=0] evaluate phase[h₂=1] evaluate");
}

}  // namespace
}  // namespace hoist::graph::circuit
