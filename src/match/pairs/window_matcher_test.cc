#include "match/pairs/window_matcher.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/test_seed.h"
#include "match/oracle/oracle.h"

namespace hoist::match {
namespace {

using Role = WindowMatcher::Role;
using Symbols = std::vector<uint32_t>;
using Window = BlockMatcher::Window;

Symbols random_symbols(std::mt19937_64& random, size_t length, uint32_t alphabet) {
  Symbols symbols(length);
  for (uint32_t& symbol : symbols) symbol = static_cast<uint32_t>(random() % alphabet);
  return symbols;
}

// Every run of plain elements that cannot be longer, in order of its begin; then the extensions.
Block slow_longest(const Symbols& a, const Symbols& b, const std::vector<Role>& roles,
                   const Window& w) {
  Block best = {w.a_begin, w.b_begin, 0};
  for (uint32_t i = w.a_begin; i < w.a_end; ++i) {
    for (uint32_t j = w.b_begin; j < w.b_end; ++j) {
      uint32_t size = 0;
      while (i + size < w.a_end && j + size < w.b_end && a[i + size] == b[j + size] &&
             roles[j + size] == Role::plain) {
        ++size;
      }
      if (size > best.size) best = {i, j, size};
    }
  }
  for (const bool junk : {false, true}) {
    const auto fits = [&](uint32_t i, uint32_t j) {
      return (roles[j] == Role::junk) == junk && a[i] == b[j];
    };
    while (best.a > w.a_begin && best.b > w.b_begin && fits(best.a - 1, best.b - 1)) {
      best = {best.a - 1, best.b - 1, best.size + 1};
    }
    while (best.a + best.size < w.a_end && best.b + best.size < w.b_end &&
           fits(best.a + best.size, best.b + best.size)) {
      ++best.size;
    }
  }
  return best;
}

TEST(WindowMatcher, FindsWhatEveryPairOfPositionsGives) {
  std::mt19937_64 random(test_seed());
  WindowMatcher::Scratch scratch;
  for (int i = 0; i < 3000; ++i) {
    const uint32_t alphabet = 1 + random() % 5;
    const Symbols a = random_symbols(random, random() % 30, alphabet);
    const Symbols b = random_symbols(random, random() % 30, alphabet);
    std::map<uint32_t, Role> role_of;
    for (const uint32_t symbol : b) {
      if (!role_of.contains(symbol)) role_of[symbol] = static_cast<Role>(random() % 3);
    }
    std::vector<Role> roles;
    for (const uint32_t symbol : b) roles.push_back(role_of[symbol]);
    const WindowMatcher matcher(b, roles);
    for (int w = 0; w < 4; ++w) {
      Window window;
      window.a_begin = static_cast<uint32_t>(random() % (a.size() + 1));
      window.a_end =
          window.a_begin + static_cast<uint32_t>(random() % (a.size() - window.a_begin + 1));
      window.b_begin = static_cast<uint32_t>(random() % (b.size() + 1));
      window.b_end =
          window.b_begin + static_cast<uint32_t>(random() % (b.size() - window.b_begin + 1));
      ASSERT_EQ(matcher.longest(a, window, scratch), slow_longest(a, b, roles, window));
    }
  }
}

TEST(WindowMatcher, BlocksAreThoseOfTheOracle) {
  std::mt19937_64 random(test_seed());
  WindowMatcher::Scratch scratch;
  std::vector<Block> blocks;
  for (int i = 0; i < 300; ++i) {
    const Symbols a = random_symbols(random, random() % 300, 2 + random() % 60);
    const Symbols b = random_symbols(random, random() % 300, 2 + random() % 60);
    for (const bool autojunk : {false, true}) {
      std::map<uint32_t, size_t> counts;
      for (const uint32_t symbol : b) ++counts[symbol];
      std::vector<Role> roles;
      for (const uint32_t symbol : b) {
        const bool popular = autojunk && b.size() >= 200 && counts[symbol] > b.size() / 100 + 1;
        roles.push_back(popular ? Role::popular : Role::plain);
      }
      WindowMatcher(b, roles).find(a, blocks, scratch);
      std::vector<Block> expected;
      for (const oracle::Block& block : oracle::matching_blocks(a, b, autojunk)) {
        expected.push_back({static_cast<uint32_t>(block.a), static_cast<uint32_t>(block.b),
                            static_cast<uint32_t>(block.size)});
      }
      ASSERT_EQ(blocks, expected);
    }
  }
}

}  // namespace
}  // namespace hoist::match
