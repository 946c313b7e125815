// Tensors for the tests of transforms, and their quality measured without the code under test.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "tensors/encoded_tensor.h"
#include "tensors/tensor.h"
#include "tensors/transform/transform.h"

namespace hoist::tensors {

inline constexpr DType kTransformDTypes[] = {
    DType::f64, DType::f32, DType::f16, DType::bf16, DType::f8_e4m3, DType::f8_e5m2, DType::i8};

struct TestTensor {
  DType dtype;
  Shape shape;
  std::vector<std::byte> bytes;

  TensorView view() const { return {dtype, shape, bytes}; }
};

inline TestTensor tensor_of(DType dtype, const Shape& shape, std::span<const float> values) {
  TestTensor tensor = {dtype, shape, {}};
  tensor.bytes.resize(values.size() * properties(dtype).bytes);
  EXPECT_TRUE(from_f32(values, dtype, tensor.bytes));
  return tensor;
}

inline std::vector<float> normal_values(size_t count, std::mt19937_64& random,
                                        float deviation = 1) {
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

inline TestTensor normal_tensor(DType dtype, const Shape& shape, std::mt19937_64& random) {
  return tensor_of(dtype, shape,
                   normal_values(*element_count(shape), random, dtype == DType::i8 ? 20 : 1));
}

inline std::vector<double> doubles_of(DType dtype, std::span<const std::byte> bytes) {
  std::vector<double> values(bytes.size() / properties(dtype).bytes);
  if (dtype == DType::f64) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  std::vector<float> narrow(values.size());
  EXPECT_TRUE(to_f32(dtype, bytes, narrow));
  return {narrow.begin(), narrow.end()};
}

inline QualityPoint slow_quality(const TestTensor& tensor, std::span<const std::byte> decoded) {
  const std::vector<double> x = doubles_of(tensor.dtype, tensor.bytes);
  const std::vector<double> y = doubles_of(tensor.dtype, decoded);
  long double error = 0;
  long double xx = 0;
  long double yy = 0;
  long double xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) continue;
    const long double a = x[i];
    const long double b = y[i];
    error += (a - b) * (a - b);
    xx += a * a;
    yy += b * b;
    xy += a * b;
  }
  if (xx == 0) return {error == 0 ? 1.0 : 0.0, error == 0 ? 1.0 : 0.0};
  return {static_cast<double>(1 - error / xx),
          yy > 0 ? static_cast<double>(xy / std::sqrt(xx * yy)) : 0};
}

// Parts in the order given.
inline std::vector<std::byte> decode(const EncodedTensor& encoded, std::span<const size_t> parts,
                                     ThreadPool* pool = nullptr) {
  auto decoder = transform_decoder(encoded.description);
  EXPECT_TRUE(decoder.has_value());
  EXPECT_FALSE((*decoder)->can_reconstruct());
  EXPECT_EQ((*decoder)->quality(), 0);
  for (const size_t part : parts) EXPECT_TRUE((*decoder)->add(part, encoded.parts[part]));
  EXPECT_TRUE((*decoder)->can_reconstruct());
  std::vector<std::byte> out(*element_count(encoded.description.shape) *
                             properties(encoded.description.dtype).bytes);
  EXPECT_TRUE((*decoder)->reconstruct(out, pool));
  return out;
}

inline std::vector<size_t> all_parts(const EncodedTensor& encoded) {
  std::vector<size_t> parts(encoded.parts.size());
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = i;
  return parts;
}

inline EncodeOptions transform_options(HolographicEncoding encoding, uint32_t fragments,
                                       uint64_t seed,
                                       std::optional<DType> precision = std::nullopt) {
  EncodeOptions options;
  options.encoding = encoding;
  options.fragments = fragments;
  options.seed = seed;
  options.precision = precision;
  return options;
}

}  // namespace hoist::tensors
