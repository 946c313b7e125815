// Matrices for tests of the packed form.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/test_seed.h"
#include "tensors/packed/pack.h"

namespace hoist::tensors::packed {

struct TestMatrix {
  std::string name;
  uint32_t rows;
  uint32_t columns;
  std::vector<uint16_t> weights;

  PlainMatrix plain() const { return {weights.data(), rows, columns, columns}; }
};

inline std::vector<uint16_t> gaussian(size_t count, std::mt19937_64& random, float sigma = 0.02F) {
  std::normal_distribution<float> values(0, sigma);
  std::vector<uint16_t> weights(count);
  for (uint16_t& weight : weights) {
    weight = static_cast<uint16_t>(std::bit_cast<uint32_t>(values(random)) >> 16);
  }
  return weights;
}

inline std::vector<uint16_t> any_bits(size_t count, std::mt19937_64& random) {
  std::vector<uint16_t> weights(count);
  for (uint16_t& weight : weights) weight = static_cast<uint16_t>(random());
  return weights;
}

// Every shape that padding makes awkward, of usual weights, of any bits, and of what is special.
inline std::vector<TestMatrix> test_matrices() {
  std::mt19937_64 random(test_seed());
  std::vector<TestMatrix> all;
  const std::pair<uint32_t, uint32_t> shapes[] = {
      {0, 0},   {0, 64},  {5, 0},    {1, 1},  {1, 64},   {1, 300},   {16, 64},
      {17, 65}, {15, 63}, {33, 129}, {64, 1}, {48, 640}, {100, 1000}};
  for (const auto& [rows, columns] : shapes) {
    const size_t count = size_t{rows} * columns;
    const std::string shape = std::to_string(rows) + "x" + std::to_string(columns);
    all.push_back({"gaussian " + shape, rows, columns, gaussian(count, random)});
    all.push_back({"any bits " + shape, rows, columns, any_bits(count, random)});
  }
  const auto same = [&](const char* name, uint16_t bits) {
    all.push_back({name, 20, 200, std::vector<uint16_t>(4000, bits)});
  };
  same("+0", 0x0000);
  same("-0", 0x8000);
  same("one", 0x3f80);
  same("infinity", 0x7f80);
  same("-infinity", 0xff80);
  same("NaN", 0x7fc1);
  same("subnormal", 0x8001);
  same("largest", 0x7f7f);
  // Escapes among usual weights: tiny, large, and in two rows an infinity and a NaN.
  const uint16_t escapes[] = {0x0001, 0x8005, 0x1000, 0x9234, 0x5001, 0xc800};
  for (const uint32_t columns : {60, 645}) {
    const size_t count = size_t{50} * columns;
    TestMatrix mixed = {"some escapes, 50x" + std::to_string(columns), 50, columns,
                        gaussian(count, random)};
    for (size_t i = 0; i < count; i += 83) mixed.weights[i] = escapes[i % 6];
    mixed.weights[size_t{7} * columns + 50] = 0x7f80;
    mixed.weights[size_t{20} * columns + columns - 1] = 0xffaa;
    all.push_back(std::move(mixed));
  }
  // Each row's exponents spread over the whole range: most weights are escapes.
  TestMatrix spread = {"spread exponents", 32, 512, std::vector<uint16_t>(32 * 512)};
  for (size_t i = 0; i < spread.weights.size(); ++i) {
    spread.weights[i] = static_cast<uint16_t>((i * 37 & 0xff) << 7 | (i & 0x7f));
  }
  all.push_back(std::move(spread));
  return all;
}

inline std::vector<std::byte> packed_bytes(const TestMatrix& matrix, Shape& shape) {
  const Result<Plan> plan = plan_packing(matrix.plain());
  EXPECT_TRUE(plan) << matrix.name;
  shape = plan->shape;
  std::vector<std::byte> bytes(shape.bytes(), std::byte{0xa5});
  const Status packed = pack(matrix.plain(), *plan, bytes);
  EXPECT_TRUE(packed) << matrix.name << ": " << packed.error().message;
  return bytes;
}

}  // namespace hoist::tensors::packed
