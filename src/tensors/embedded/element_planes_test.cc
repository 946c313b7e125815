// Every implementation against the definition, one bit at a time.
#include "tensors/embedded/element_planes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/test_seed.h"

namespace hoist::tensors {
namespace {

constexpr size_t kGuard = 8;
constexpr std::byte kFill{0xa5};

uint64_t element_at(const std::vector<std::byte>& bytes, size_t width, size_t i) {
  uint64_t element = 0;
  std::memcpy(&element, bytes.data() + i * width, width);
  return element;
}

struct Case {
  size_t width;
  size_t count;
  uint32_t symbol_count;
  std::vector<uint32_t> bits;  // a plane each
};

Case random_case(std::mt19937_64& random) {
  Case one;
  one.width = size_t{1} << random() % 4;
  one.count = random() % 4 == 0 ? random() % 20 : random() % 700;
  one.symbol_count = static_cast<uint32_t>(1 + random() % 256);
  for (uint32_t bit = 0; bit < 8 * one.width && one.bits.size() < kMostPlanes; ++bit) {
    if (random() % 3 != 0) one.bits.push_back(bit);
  }
  std::shuffle(one.bits.begin(), one.bits.end(), random);
  return one;
}

template <typename Byte, typename Planes>
std::vector<BitPlane<Byte>> pointers(const Case& one, Planes& planes) {
  std::vector<BitPlane<Byte>> list;
  for (size_t p = 0; p < one.bits.size(); ++p) list.push_back({planes[p].data(), one.bits[p]});
  return list;
}

void check_split(const Case& one, const ElementPlanes& with, std::mt19937_64& random) {
  std::vector<std::byte> elements(one.width * one.count);
  for (std::byte& byte : elements) byte = static_cast<std::byte>(random());
  const size_t plane_bytes = (one.count + 7) / 8;
  std::vector<std::vector<std::byte>> planes(one.bits.size(),
                                             std::vector<std::byte>(plane_bytes + kGuard, kFill));
  split_elements(elements.data(), one.width, one.count, pointers<std::byte>(one, planes), with);
  for (size_t p = 0; p < planes.size(); ++p) {
    for (size_t i = 0; i < 8 * plane_bytes; ++i) {
      const bool expected =
          i < one.count && (element_at(elements, one.width, i) >> one.bits[p] & 1) != 0;
      const bool got = (std::to_integer<int>(planes[p][i / 8]) >> (i % 8) & 1) != 0;
      ASSERT_EQ(got, expected) << with.name << " element " << i << " bit " << one.bits[p];
    }
    for (size_t i = plane_bytes; i < planes[p].size(); ++i) ASSERT_EQ(planes[p][i], kFill);
  }
}

void check_merge(const Case& one, const ElementPlanes& with, std::mt19937_64& random) {
  std::array<uint64_t, 256> bases{};
  for (uint64_t& base : bases) base = random();
  const MergeTables tables(bases, one.symbol_count);
  std::vector<uint8_t> symbols(one.count);
  for (uint8_t& symbol : symbols) symbol = static_cast<uint8_t>(random() % one.symbol_count);
  std::vector<std::vector<std::byte>> planes(one.bits.size(),
                                             std::vector<std::byte>((one.count + 7) / 8));
  for (auto& plane : planes) {
    for (std::byte& byte : plane) byte = static_cast<std::byte>(random());
  }
  std::vector<std::byte> elements(one.width * one.count + kGuard, kFill);
  merge_elements(tables, symbols.data(), one.width, one.count,
                 pointers<const std::byte>(one, planes), elements.data(), with);
  for (size_t i = 0; i < one.count; ++i) {
    uint64_t expected = bases[symbols[i]];
    for (size_t p = 0; p < planes.size(); ++p) {
      expected |= (std::to_integer<uint64_t>(planes[p][i / 8]) >> (i % 8) & 1) << one.bits[p];
    }
    if (one.width < 8) expected &= (uint64_t{1} << (8 * one.width)) - 1;
    ASSERT_EQ(element_at(elements, one.width, i), expected) << with.name << " element " << i;
  }
  for (size_t i = one.width * one.count; i < elements.size(); ++i) ASSERT_EQ(elements[i], kFill);
}

class ElementPlanesTest : public testing::TestWithParam<const ElementPlanes*> {};

TEST_P(ElementPlanesTest, SplitsAndMergesAsDefined) {
  if (!GetParam()->supported()) GTEST_SKIP() << "not on this processor";
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 400; ++i) {
    const Case one = random_case(random);
    SCOPED_TRACE(testing::Message() << "width " << one.width << " count " << one.count);
    check_split(one, *GetParam(), random);
    check_merge(one, *GetParam(), random);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ElementPlanesTest,
                         testing::ValuesIn(element_planes_implementations().begin(),
                                           element_planes_implementations().end()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace hoist::tensors
