#include "tensors/transform/patches.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/test_seed.h"

namespace hoist::tensors {
namespace {

struct Element {
  uint64_t index;
  uint64_t bits;
};

std::vector<std::byte> write(const std::vector<Element>& elements, DType dtype) {
  PatchWriter writer(properties(dtype).bytes);
  for (const Element& element : elements) writer.add(element.index, element.bits);
  EXPECT_FALSE(writer.too_many());
  return writer.finish();
}

// Applied to zeros in pieces of `step` elements.
std::vector<std::byte> apply(std::span<const PatchRun> runs, DType dtype, uint64_t elements,
                             uint64_t step) {
  const size_t size = properties(dtype).bytes;
  std::vector<std::byte> out(elements * size);
  for (uint64_t first = 0; first < elements; first += step) {
    const uint64_t count = std::min(step, elements - first);
    apply_patches(runs, dtype, first, std::span(out).subspan(first * size, count * size));
  }
  return out;
}

TEST(Patches, ComeBackInAnyPieces) {
  std::mt19937_64 random(test_seed());
  for (const DType dtype : {DType::i8, DType::f16, DType::f32, DType::f64}) {
    const size_t size = properties(dtype).bytes;
    for (int round = 0; round < 50; ++round) {
      const uint64_t elements = 1 + random() % 2000;
      std::vector<std::byte> expected(elements * size);
      std::vector<Element> patched;
      for (uint64_t i = random() % 5; i < elements; i += 1 + random() % (1 + random() % 300)) {
        const uint64_t bits = random() % 3 + (random() % 2 << (8 * size - 1));
        std::memcpy(expected.data() + i * size, &bits, size);
        patched.push_back({i, bits});
      }
      const std::vector<std::byte> bytes = write(patched, dtype);
      const auto runs = read_patches(bytes, dtype, elements);
      ASSERT_TRUE(runs.has_value());
      for (const uint64_t step : {uint64_t{1}, uint64_t{7}, elements}) {
        ASSERT_EQ(apply(*runs, dtype, elements, step), expected) << elements << ", " << step;
      }
    }
  }
}

TEST(Patches, EqualNeighboursAreOneRun) {
  std::vector<Element> mask;
  for (uint64_t i = 1000; i < 100'000; ++i) mask.push_back({i, 0xff800000});
  EXPECT_LE(write(mask, DType::f32).size(), 9u);
}

TEST(Patches, NoneAreNoBytes) { EXPECT_TRUE(write({}, DType::f32).empty()); }

TEST(Patches, TooManyAreNoticed) {
  PatchWriter writer(4);
  for (uint64_t i = 0; i < 2 * kMaxPatchBytes; i += 2) writer.add(i, 0x7f800000);
  EXPECT_TRUE(writer.too_many());
  EXPECT_LT(writer.finish().size(), kMaxPatchBytes + 64);
}

TEST(Patches, DamageIsNeverReadBeyond) {
  std::mt19937_64 random(test_seed());
  const auto good = write({{3, 1}, {4, 1}, {200, 2}, {70'000, 3}}, DType::bf16);
  constexpr uint64_t kElements = 70'001;
  ASSERT_TRUE(read_patches(good, DType::bf16, kElements).has_value());
  EXPECT_EQ(read_patches(good, DType::bf16, kElements - 1).error().code, ErrorCode::corrupt);
  for (size_t size = 1; size < good.size(); ++size) {
    const auto runs = read_patches(std::span(good).first(size), DType::bf16, kElements);
    EXPECT_LT(runs ? runs->size() : 0, 3u) << size;
  }
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes = good;
    for (size_t flips = 1 + random() % 4; flips > 0; --flips) {
      bytes[random() % bytes.size()] = std::byte(random());
    }
    const auto runs = read_patches(bytes, DType::bf16, kElements);
    if (!runs) continue;
    uint64_t done = 0;
    for (const PatchRun& run : *runs) {
      ASSERT_GE(run.first, done);
      ASSERT_GT(run.length, 0u);
      ASSERT_LE(run.length, kElements - run.first);
      done = run.first + run.length;
    }
  }
}

}  // namespace
}  // namespace hoist::tensors
