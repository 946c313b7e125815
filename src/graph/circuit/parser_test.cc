#include "graph/circuit/parser.h"

#include <gtest/gtest.h>

#include <string>

#include "graph/circuit/print.h"

namespace hoist::graph::circuit {
namespace {

std::string printed(const std::string& text, Grammar grammar) {
  const Result<Phrase> phrase = parse(text, grammar);
  return phrase ? print(*phrase) : phrase.error().message;
}

void expect_kept(const std::string& text, Grammar grammar) {
  EXPECT_EQ(printed(text, grammar), text);
  EXPECT_TRUE(parse(printed(text, grammar), grammar).value() == parse(text, grammar).value());
}

TEST(Parsing, WhatIsLaidOutIsKept) {
  for (const char* text : {"mark@c21",
                           "copy@c05->c06 . mark@c21",
                           "mark@c01 || mark@c02",
                           "R+1@ mark@c00",
                           "mark@c42^+3~",
                           "mark@c00@17",
                           "(mark@c01 || mark@c02) . mark@c03",
                           "R+2 T-3 ~@ mark@c00",
                           "swap@c00<->c01",
                           "merge@c00[c01,c02]",
                           "split@c00[c01,c02]",
                           "quote@c00",
                           "evaluate@c00",
                           "mark@c[0..9]",
                           "merge@c[5..14]^+1~",
                           "mark@c[0..95]",
                           "mark@c[0..1]",
                           "copy@c05^-3~@47->c06^+0@0",
                           "merge@c01^+1[c02~,c03@4]",
                           "(((mark@c01)))",
                           "~@ mark@c13"}) {
    expect_kept(text, Grammar::compiler);
  }
  for (const char* text :
       {"copy@c05", "evaluate@c21 . copy@c05 || swap@c72", "R+1@ (copy@c05 . evaluate@c21)",
        "mark@c42^+3~@17", "mark@c42^R+3", "mark@c42^D-1~", "R+1 D+2 T-3 ~@ mark@c00",
        "mark@c01 . R+1@ mark@c02 || mark@c03", "(R+1@ mark@c00) . D+1@ ~@ mark@c01"}) {
    expect_kept(text, Grammar::spec);
  }
}

TEST(Parsing, Spaces) {
  EXPECT_EQ(printed(" mark @\n c5 ^ + 3 ~ @ 7 // the end", Grammar::compiler), "mark@c05^+3~@7");
  EXPECT_EQ(printed("R+1T-2~@mark@c0.quote@c1||mark@c2", Grammar::compiler),
            "R+1 T-2 ~@ mark@c00 . quote@c01 || mark@c02");
  EXPECT_EQ(printed("mark@c42^T+3", Grammar::spec), "mark@c42^+3");
  EXPECT_EQ(printed("R-0@ mark@c1", Grammar::spec), "R+0@ mark@c01");
  EXPECT_EQ(printed("swap@ c1 <-> c2 . copy@c1 -> c2", Grammar::compiler),
            "swap@c01<->c02 . copy@c01->c02");
}

// What is wrong, and the column of the place.
std::string error(const std::string& text, Grammar grammar = Grammar::compiler) {
  const px::Source source("EXPR", text);
  px::Diagnostics diagnostics;
  EXPECT_FALSE(parse(source, grammar, diagnostics)) << text;
  const px::Diagnostic first = diagnostics.sorted().at(0);
  const px::Position at = source.position(first.span.begin);
  return std::to_string(at.column) + " " + first.what + ": " + first.mend;
}

TEST(Errors, ThoseOfTheReference) {
  EXPECT_EQ(error("mark@c96"), "6 no such class: classes are c00 to c95");
  EXPECT_EQ(error("mark@c00@48"), "10 no such page: pages are 0 to 47");
  EXPECT_EQ(error("mark@c00@-1"), "10 - where a page belongs: write a page as a number");
  EXPECT_EQ(error("mark@c[5..5]"),
            "8 a range that does not ascend: write the lower class first; one class alone is c05");
  EXPECT_EQ(error("mark@c[0..96]"), "11 no such class: classes are c00 to c95");
  EXPECT_EQ(error("mark@c-1"), "6 c where a class belongs: classes are c00 to c95");
  EXPECT_EQ(
      error("copy@c05"),
      "9 the end where -> belongs: write copy@c05->c06, or use --grammar spec, where it names "
      "one class");
  EXPECT_EQ(error("invalid syntax"),
            "1 invalid means nothing here: the generators are mark, copy, "
            "swap, merge, split, quote, evaluate");
  EXPECT_EQ(error("~~@ mark@c13"),
            "2 ~ where @ belongs: transforms stand in the order R T ~, each at most once");
  EXPECT_EQ(error("T+1 R+1@ mark@c00"),
            "5 R where @ belongs: transforms stand in the order R T ~, each at most once");
  EXPECT_EQ(error("(R+1@ mark@c00)"),
            "2 R where a generator or ( belongs: the compiler's grammar has transforms at the "
            "beginning alone: or use --grammar spec");
  for (const char* generator : {"copy", "swap", "split"}) {
    EXPECT_TRUE(error(std::string(generator) + "@c[0..5]").find(" takes no range") !=
                std::string::npos);
  }
  EXPECT_EQ(error("mark1@c00", Grammar::spec), "1 mark1 means nothing here: is it mark?");
  EXPECT_EQ(error("c42a", Grammar::spec).substr(0, 22), "1 c42a means nothing h");
  EXPECT_EQ(error("|", Grammar::spec), "1 | means nothing here: branches are parted by ||");
  EXPECT_EQ(error("$", Grammar::spec), "1 $ means nothing here: remove it");
}

TEST(Errors, WhatTheReferenceLetsPass) {
  EXPECT_EQ(
      error("mark@c00 mark@c01"),
      "10 mark where the end belongs: . parts operations that follow one another, || branches");
  EXPECT_EQ(error("T4@ mark@c00"), "1 T4 means nothing here: a transform has a sign: T+4");
  EXPECT_EQ(error("mark@c00^3"),
            "10 3 where a sign belongs: a transform has a sign: write +1 or -1");
  EXPECT_EQ(error("mark@c00^+99999999999"), "11 a number too large: amounts are below 1000000000");
  EXPECT_EQ(error("mark@c00000000000096"), "6 no such class: classes are c00 to c95");
  EXPECT_EQ(error("mark@c00 | mark@c01"), "10 | means nothing here: branches are parted by ||");
  EXPECT_EQ(error("mark@c[0..9]@3"), "13 a range has no page: remove the page");
  EXPECT_EQ(error(""),
            "1 the end where a generator or ( belongs: write an operation, as in mark@c21");
  EXPECT_EQ(error("(mark@c00"), "10 the end where ) belongs: close the parenthesis");
  EXPECT_EQ(error("mark@c00)").substr(0, 25), "9 ) where the end belongs");
}

TEST(Errors, OfTheOtherGrammar) {
  EXPECT_EQ(error("copy@c05->c06", Grammar::spec),
            "9 copy names one class: use --grammar compiler, where it names all its classes");
  EXPECT_EQ(error("mark@c[0..9]", Grammar::spec),
            "6 a range where a class belongs: use --grammar compiler, which has ranges");
  EXPECT_EQ(error("mark@c05->c06"), "9 mark names one class: write mark@c00");
  EXPECT_EQ(error("D+1@ mark@c00"), "1 the compiler's grammar has no D: use --grammar spec");
  EXPECT_EQ(
      error("mark@c00^R+1"),
      "10 R where a sign belongs: behind a class the compiler's grammar has twists only, as in "
      "^+3: or use --grammar spec");
}

TEST(Errors, WordsAndSignsOfOthers) {
  EXPECT_EQ(error("makr@c00"), "1 makr means nothing here: is it mark?");
  EXPECT_EQ(error("mark@C05"), "6 C05 means nothing here: is it c05?");
  EXPECT_EQ(error("mark@c0 ⊗ mark@c1"), "9 ⊗ means nothing here: branches are parted by ||");
  EXPECT_EQ(error("copy@c0→c1"), "8 → means nothing here: write ->");
  EXPECT_EQ(error(std::string("\x01", 1)), "1 byte 0x01 means nothing here: remove it");
  EXPECT_EQ(error("\xff"), "1 byte 0xff means nothing here: remove it");
}

TEST(Errors, LineCaretAndMend) {
  EXPECT_EQ(
      parse("mark@c21 .\n mark@c96 . mark@c0", Grammar::compiler, "k.circuit").error().message,
      "k.circuit:2:7: error: no such class\n"
      "     mark@c96 . mark@c0\n"
      "          ^~~\n"
      "mend: classes are c00 to c95");
}

TEST(Bounds, DepthAndLength) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '(') + "mark@c00" + std::string(depth, ')');
  };
  EXPECT_TRUE(parse(nested(kMostDepth), Grammar::compiler));
  EXPECT_EQ(error(nested(kMostDepth + 1)),
            "101 nested deeper than 100: remove parentheses or transforms");
  EXPECT_EQ(error(nested(200'000)), "101 nested deeper than 100: remove parentheses or transforms");
  std::string prefixes;
  for (int i = 0; i <= kMostDepth; ++i) prefixes += "R+1@ ";
  EXPECT_EQ(error(prefixes + "mark@c00", Grammar::spec).substr(0, 23), "501 nested deeper than ");
  EXPECT_EQ(error(std::string(kMostBytes + 1, ' ')), "1 longer than 1048576 bytes: split it");
}

}  // namespace
}  // namespace hoist::graph::circuit
