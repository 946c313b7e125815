#include "ops/hash/file_name.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <random>

#include "ops/hash/messages.h"

namespace hoist::hash {
namespace {

TEST(FileName, EscapesAndUnescapes) {
  EXPECT_FALSE(needs_escape("plain name"));
  EXPECT_TRUE(needs_escape("a\\b"));
  EXPECT_TRUE(needs_escape("a\nb"));
  EXPECT_TRUE(needs_escape("a\rb"));
  EXPECT_EQ(escape_name("a\\b\nc\rd"), "a\\\\b\\nc\\rd");
  std::mt19937 random(3);
  for (int run = 0; run < 500; ++run) {
    std::string name;
    for (size_t i = random() % 12; i > 0; --i) name += "ab\\\n\r nrx"[random() % 9];
    EXPECT_EQ(unescape_name(escape_name(name)), name);
  }
}

TEST(FileName, RefusesUnknownEscapes) {
  EXPECT_EQ(unescape_name("a\\x"), std::nullopt);
  EXPECT_EQ(unescape_name("a\\"), std::nullopt);
  EXPECT_EQ(unescape_name(std::string_view("a\0b", 3)), std::nullopt);
}

// The black-box test compares thousands of names with the real programs.
TEST(FileName, QuotesForMessages) {
  setenv("LC_ALL", "C", 1);
  const struct {
    const char* name;
    const char* quoted;
  } cases[] = {{"plain", "plain"},
               {"", "''"},
               {"a b", "'a b'"},
               {"a:b", "'a:b'"},
               {"it's", "\"it's\""},
               {"it's!", "'it'\\''s!'"},
               {"~home", "'~home'"},
               {"home~", "home~"},
               {"{", "'{'"},
               {"{a", "{a"},
               {"a\nb", "'a'$'\\n''b'"},
               {"\001", "''$'\\001'"},
               {"\xc3\xa9", "''$'\\303\\251'"},
               {"it's\001", "'''it'\\''s'$'\\001'"}};
  for (const auto& [name, quoted] : cases) EXPECT_EQ(quote_name(name), quoted) << name;
}

}  // namespace
}  // namespace hoist::hash
