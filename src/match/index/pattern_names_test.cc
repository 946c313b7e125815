#include "match/index/pattern_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/test_seed.h"

namespace hoist::match {
namespace {

// Evenly spread, or with most of them close together.
NameDigest random_digest(std::mt19937_64& random, bool clustered) {
  NameDigest digest;
  for (uint8_t& byte : digest) byte = static_cast<uint8_t>(random());
  if (clustered && random() % 8 != 0) {
    std::fill(digest.begin(), digest.begin() + random() % 12, static_cast<uint8_t>(random() % 2));
  }
  return digest;
}

TEST(PatternNames, FindsEachNameAndNoOther) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 60; ++round) {
    const bool clustered = round % 2 != 0;
    const size_t most = size_t{1} << (random() % 13);
    std::set<std::string> texts;
    while (texts.size() < most) texts.insert(digest_text(random_digest(random, clustered)));
    if (round % 5 == 0) {
      for (int i = 0; i < 20; ++i) texts.insert("own " + std::to_string(random() % 1000));
    }
    PatternNames names(texts.size());
    size_t at = 0;
    for (const std::string& text : texts) names.set(at++, NameKey(text));
    at = 0;
    const size_t begin = random() % texts.size();
    const size_t end = begin + random() % (texts.size() - begin + 1);
    for (const std::string& text : texts) {
      ASSERT_EQ(names.text(at), text);
      const auto found = names.find(NameKey(text), begin, end);
      ASSERT_EQ(found.has_value(), at >= begin && at < end) << at;
      if (found) {
        ASSERT_EQ(*found, at);
      }
      ++at;
    }
    for (int i = 0; i < 200; ++i) {
      const NameDigest digest = random_digest(random, clustered);
      const bool there = texts.count(digest_text(digest)) != 0;
      ASSERT_EQ(names.find(NameKey({}, digest), 0, texts.size()).has_value(), there);
    }
  }
}

}  // namespace
}  // namespace hoist::match
