#include "graph/classes/classes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "graph/classes/transform.h"

namespace hoist::graph {
namespace {

std::vector<uint8_t> all_classes() {
  std::vector<uint8_t> list(kByteClasses);
  for (int i = 0; i < kByteClasses; ++i) list[i] = static_cast<uint8_t>(i);
  return list;
}

TEST(Classes, TheByteOfEachAndBack) {
  for (const uint8_t index : all_classes()) {
    EXPECT_EQ(class_of(representative(index)), index);
    EXPECT_EQ(class_of(components(index)), index);
  }
  EXPECT_EQ(representative(21), 0x2a);
  EXPECT_EQ(representative(72), 0xc0);
  EXPECT_EQ(representative(95), 0xee);
  EXPECT_EQ(representative(5), 0x0a);
  EXPECT_EQ(representative(13), 0x1a);
  EXPECT_EQ(bytes_of(0), (std::vector<uint8_t>{0x00, 0x01, 0x30, 0x31}));
}

// Two bytes are of one class where a product over their set bits is the same, in which bit 0 counts
// nothing, and bits 4 and 5 cancel out: another way to say which bytes belong together.
TEST(Classes, TheSamePartitionAsTheProductOfBits) {
  std::map<std::pair<int, int>, std::set<int>> by_product;
  for (int byte = 0; byte < 256; ++byte) {
    const std::bitset<8> bits(static_cast<unsigned>(byte));
    by_product[{byte & 0xce, bits[4] - bits[5]}].insert(byte);
  }
  std::set<std::set<int>> products;
  for (const auto& [product, bytes] : by_product) products.insert(bytes);
  std::set<std::set<int>> classes;
  for (const uint8_t index : all_classes()) {
    const std::vector<uint8_t> bytes = bytes_of(index);
    classes.insert({bytes.begin(), bytes.end()});
  }
  EXPECT_EQ(classes.size(), 96u);
  EXPECT_EQ(classes, products);
}

TEST(Classes, TwoOrFourBytesEach) {
  int of_two = 0;
  for (const uint8_t index : all_classes()) {
    const std::vector<uint8_t> bytes = bytes_of(index);
    EXPECT_EQ(bytes.size(), components(index).modality == 0 ? 4u : 2u);
    EXPECT_EQ(representative(index), bytes.front());
    of_two += bytes.size() == 2;
  }
  EXPECT_EQ(of_two, 64);
}

std::vector<Transform> all_transforms() {
  std::vector<Transform> list;
  for (int i = 0; i < 192; ++i) list.push_back({i & 3, i / 4 % 3, i / 12 % 8, i / 96 == 1});
  return list;
}

using Images = std::array<uint8_t, kByteClasses>;
Images images(const Transform& transform) {
  Images list;
  for (const uint8_t index : all_classes()) list[index] = apply(transform, index);
  return list;
}

TEST(Transforms, AreAGroupOf192) {
  std::set<Images> known;
  for (const Transform& transform : all_transforms()) known.insert(images(transform));
  EXPECT_EQ(known.size(), 192u);
  for (const Transform& first : all_transforms()) {
    for (const Transform& second : all_transforms()) {
      const Images both = images(compose(first, second));
      const Images behind = images(second);
      for (const uint8_t index : all_classes()) {
        ASSERT_EQ(both[index], behind[apply(first, index)]);
      }
    }
  }
}

TEST(Transforms, AmountsCountModuloTheirOrder) {
  for (const uint8_t index : all_classes()) {
    EXPECT_EQ(apply({.rotate = 4, .triality = -3, .twist = 8}, index), index);
    EXPECT_EQ(apply({.rotate = -1}, index), apply({.rotate = 3}, index));
    EXPECT_EQ(apply({.twist = -999'999'999}, index), apply({.twist = 1}, index));
    EXPECT_EQ(apply({.mirror = true}, apply({.mirror = true}, index)), index);
  }
}

TEST(Transforms, TheMirrorTurnsTrialityAround) {
  const Transform mirror{.mirror = true};
  for (const uint8_t index : all_classes()) {
    EXPECT_EQ(apply(mirror, apply({.triality = 1}, apply(mirror, index))),
              apply({.triality = -1}, index));
  }
  EXPECT_EQ(apply(mirror, 13), 21);
  EXPECT_EQ(apply({.triality = 1}, 21), 5);
  EXPECT_EQ(apply({.triality = 2}, 21), 13);
}

}  // namespace
}  // namespace hoist::graph
