#include "cli/help/terminal_page.h"

#include <gtest/gtest.h>

#include <string>

#include "cli/help/terminal_text.h"

namespace hoist::cli {
namespace {

std::string plain(std::string_view markdown, size_t width = 30) {
  PageStyle style;
  style.width = width;
  return terminal_page(markdown, style).value();
}

TEST(TerminalPage, WrapsTextBelowItsHeading) {
  EXPECT_EQ(plain("# A guide\n\nOne two three\nfour five six seven eight.\n"),
            "A guide\n\n  One two three four five six\n  seven eight.\n");
}

TEST(TerminalPage, KeepsCodeAsItIs) {
  EXPECT_EQ(
      plain("Try:\n\n```sh\na  very long line of code that no one may break\n\n  b | c\n```\n"),
      "  Try:\n\n      a  very long line of code that no one may break\n\n        b | c\n");
}

TEST(TerminalPage, LeavesCommentsOut) {
  EXPECT_EQ(plain("<!-- needs: cc -->\n```sh\nmake\n```\n\na <!-- b --> c\n"),
            "      make\n\n  a c\n");
}

TEST(TerminalPage, ListsHangTheirLines) {
  EXPECT_EQ(plain("- one two three four five six seven\n- eight\n\n1. a\n2. b\n"),
            "  - one two three four five\n    six seven\n  - eight\n"
            "\n  1. a\n  2. b\n");
}

TEST(TerminalPage, NumbersAListFromItsFirst) {
  EXPECT_EQ(plain("0. a\n1. b\n"), "  0. a\n  1. b\n");
  EXPECT_EQ(plain("7. a\n8. b\n"), "  7. a\n  8. b\n");
}

TEST(TerminalPage, EntitiesAreTheirCharacters) {
  EXPECT_EQ(plain("a &lt; b &amp;&amp; c &gt; d, &quot;e&quot;\n"), "  a < b && c > d, \"e\"\n");
  EXPECT_EQ(plain("`&lt;` &unknown;\n"), "  `&lt;` &unknown;\n");
}

TEST(TerminalPage, TablesKeepToTheWidth) {
  EXPECT_EQ(plain("| word | meaning |\n|---|---|\n| `a` | one two three four five |\n| b… | x |\n"),
            "  word  meaning\n  ----  ----------------------\n"
            "  `a`   one two three four\n        five\n  b…    x\n");
}

TEST(TerminalPage, LinksAreTextAndListedOnce) {
  EXPECT_EQ(plain("See [this `x`](y.md), [this `x`](y.md) and [that](z.md#part).\n", 60),
            "  See this `x`, this `x` and that.\n\nLinks\n\n  this x  y.md\n  that    z.md#part\n");
}

TEST(TerminalPage, StylesTakeNoColumns) {
  PageStyle style;
  style.width = 30;
  style.has_bold = true;
  const std::string page =
      terminal_page("## Run a program\n\nWrite `hoist run` here\n", style).value();
  EXPECT_EQ(page,
            "\033[1mRun\033[0m \033[1ma\033[0m \033[1mprogram\033[0m\n\n"
            "  Write \033[1mhoist\033[0m \033[1mrun\033[0m here\n");
  EXPECT_EQ(columns_of("\033[1mhoist\033[0m …"), 7u);
}

TEST(TerminalPage, ANarrowTerminalStillHasWords) {
  EXPECT_EQ(plain("one two three four five six seven\n", 1),
            "  one two three four\n  five six seven\n");
}

}  // namespace
}  // namespace hoist::cli
