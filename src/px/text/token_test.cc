#include "px/text/token.h"

#include <gtest/gtest.h>

#include <string>

#include "px/text/keywords.h"

namespace hoist::px {
namespace {

// The tokens' texts, ends of lines as "/".
std::string tokens(const std::string& text) {
  const Source source("k.px", text);
  Diagnostics diagnostics;
  std::string list;
  for (const Token& token : tokenize(source, diagnostics)) {
    if (token.kind == TokenKind::end_of_file) continue;
    list += list.empty() ? "" : " ";
    list += token.kind == TokenKind::end_of_line ? "/" : std::string(token.text);
  }
  return list;
}

std::string errors(const std::string& text) {
  const Source source("k.px", text);
  Diagnostics diagnostics;
  (void)tokenize(source, diagnostics);
  std::string list;
  for (const Diagnostic& diagnostic : diagnostics.sorted()) list += diagnostic.what + "\n";
  return list;
}

TEST(Tokens, NumbersWordsAndSigns) {
  EXPECT_EQ(tokens("LOAD a[i*4+1]->x # c"), "LOAD a [ i * 4 + 1 ] -> x # c /");
  EXPECT_EQ(tokens("1e-5 1.5e3 0xFFu 0b10 1_000 7.e 7."), "1e-5 1.5e3 0xFFu 0b10 1_000 7.e 7. /");
  EXPECT_EQ(tokens("a<=b<<c<d>>e>=f!=g==h"), "a <= b << c < d >> e >= f != g == h /");
  EXPECT_EQ(tokens(""), "");
}

TEST(Tokens, LinesThatGoOn) {
  EXPECT_EQ(tokens("a = 1 + # c\n  2,\n 3\nb"), "a = 1 + # c 2 , 3 / b /");
  EXPECT_EQ(tokens("f(\n1\n)"), "f ( 1 / ) /");
  EXPECT_EQ(tokens("a MOD\nb\nNOT\nc"), "a MOD b / NOT / c /");
  EXPECT_EQ(tokens("GPU_PARAM a float*\nx *\ny"), "GPU_PARAM a float * / x * y /");
}

TEST(Tokens, WhatMeansNothing) {
  EXPECT_EQ(errors("a && b"), "&& means nothing here\n");
  EXPECT_EQ(errors("a // b ! c"), "// means nothing here\n");
  EXPECT_EQ(errors("\xc3\xa9"), "\xc3\xa9 means nothing here\n");
  EXPECT_EQ(errors(std::string("\x01\xff")),
            "byte 0x01 means nothing here\nbyte 0xff means nothing here\n");
  EXPECT_EQ(errors("12x"), "12x is no number\n");
}

TEST(Words, InAnyCaseAndByNearness) {
  EXPECT_EQ(find_word("gpu_End"), Word::GPU_END);
  EXPECT_EQ(find_word("GPU_ENDS"), std::nullopt);
  EXPECT_TRUE(is_operator_word("rotl"));
  EXPECT_FALSE(is_operator_word("LOAD"));
  EXPECT_EQ(mend_of_unknown_word("stor"), "is it STORE? It is written STORE value → place");
  EXPECT_EQ(mend_of_unknown_word("elif"), "write ELSE IF condition:");
}

TEST(Source, PositionsCountCharacters) {
  const Source source("k.px", "a → b\r\n\tc");
  EXPECT_EQ(source.line(1), "a → b");
  EXPECT_EQ(source.line(3), "");
  const Position b = source.position(6);
  EXPECT_EQ(b.line, 1u);
  EXPECT_EQ(b.column, 5u);
  EXPECT_EQ(source.text(source.word_at({2, 2})), "c");
  EXPECT_EQ(source.text(source.word_at({9, 9})), "");
}

TEST(Diagnostics, CaretStandsBelowTabsAndCharacters) {
  const Source source("k.px", "\t→ wrong\x01\n");
  EXPECT_EQ(render(source, {Severity::error, {5, 10}, "no", "yes"}),
            "k.px:1:4: error: no\n    \t→ wrong?\n    \t  ^~~~~\nmend: yes\n");
}

TEST(Diagnostics, LongLinesAreCut) {
  const std::string before(1000, 'a');
  const Source source("k.px", before + "→ wrong" + std::string(1000, 'b'));
  EXPECT_EQ(render(source, {Severity::warning, {1004, 1009}, "no", "yes"}),
            "k.px:1:1003: warning: no\n    …" + std::string(98, 'a') + "→ wrong" +
                std::string(55, 'b') + "…\n    " + std::string(101, ' ') + "^~~~~\nmend: yes\n");
}

}  // namespace
}  // namespace hoist::px
