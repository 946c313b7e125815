// The any-subset encodings against slow calculations of what they are defined to be.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/test_seed.h"
#include "tensors/transform/cosine_transform.h"
#include "tensors/transform/dealing.h"
#include "tensors/transform/format.h"
#include "tensors/transform/random_projection.h"
#include "tensors/transform/spectral.h"
#include "tensors/transform/transform_testing.h"

namespace hoist::tensors {
namespace {

using enum HolographicEncoding;
using Doubles = std::vector<double>;

float float_at(std::span<const std::byte> bytes, uint64_t offset) {
  float value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// One place of the orthonormal cosine transform of type II.
double cosine(uint64_t n, uint64_t k, uint64_t length) {
  const double scale = std::sqrt((k == 0 ? 1.0 : 2.0) / static_cast<double>(length));
  return scale * std::cos(std::numbers::pi * static_cast<double>((2 * n + 1) * k) /
                          (2.0 * static_cast<double>(length)));
}

Doubles slow_dct(const Doubles& x, MatrixShape shape) {
  Doubles half(x.size());
  Doubles result(x.size());
  for (uint64_t i = 0; i < shape.rows; ++i) {
    for (uint64_t k = 0; k < shape.columns; ++k) {
      for (uint64_t j = 0; j < shape.columns; ++j) {
        half[i * shape.columns + k] += x[i * shape.columns + j] * cosine(j, k, shape.columns);
      }
    }
  }
  for (uint64_t k = 0; k < shape.rows; ++k) {
    for (uint64_t i = 0; i < shape.rows; ++i) {
      for (uint64_t j = 0; j < shape.columns; ++j) {
        result[k * shape.columns + j] += half[i * shape.columns + j] * cosine(i, k, shape.rows);
      }
    }
  }
  return result;
}

class TransformOracleTest : public ::testing::Test {
 protected:
  EncodedTensor encode(const TestTensor& tensor, const EncodeOptions& options) {
    Result<EncodedTensor> encoded = transform_encode(tensor.view(), options);
    EXPECT_TRUE(encoded.has_value()) << encoded.error().message;
    return std::move(*encoded);
  }

  std::mt19937_64 random_{test_seed()};
};

TEST_F(TransformOracleTest, CosineTransforms) {
  ThreadPool pool(2);
  for (const MatrixShape shape : {MatrixShape{1, 1}, {1, 40}, {40, 1}, {9, 14}, {31, 17}}) {
    const std::vector<float> x = normal_values(shape.rows * shape.columns, random_);
    std::vector<float> values = x;
    ASSERT_TRUE(dct_2d(values, shape, &pool));
    const Doubles expected = slow_dct({x.begin(), x.end()}, shape);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(values[i], expected[i], 1e-5);
    ASSERT_TRUE(idct_2d(values, shape));
    for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(values[i], x[i], 1e-5);
  }
  std::vector<float> values(12);
  EXPECT_EQ(dct_2d({}, {0, 0}).error().code, ErrorCode::invalid_argument);
  for (const MatrixShape shape : {MatrixShape{0, 12}, {12, 0}, {3, 5}, {5, 2}, {24, 1}}) {
    EXPECT_EQ(dct_2d(values, shape).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(idct_2d(values, shape).error().code, ErrorCode::invalid_argument);
  }
}

// Fragments read by hand, as format.h and spectral.h say.
TEST_F(TransformOracleTest, SpectralFragmentsHoldTheCosineTransform) {
  for (const MatrixShape shape : {MatrixShape{1, 1}, {1, 30}, {30, 1}, {12, 20}, {17, 13}}) {
    for (const uint32_t n : {1u, 3u, 8u}) {
      const TestTensor tensor = normal_tensor(DType::f32, {shape.rows, shape.columns}, random_);
      EncodeOptions options = transform_options(spectral, n, random_());
      options.essential_share = 0.1;
      const EncodedTensor encoded = encode(tensor, options);
      const TransformLayout layout = *transform_layout(encoded.description);
      EXPECT_EQ(layout.common, essential_count(layout.elements, 0.1, n));
      const EssentialRegion region(shape, layout.common);
      const Dealing dealing(n, options.seed);
      const Doubles expected = slow_dct(doubles_of(DType::f32, tensor.bytes), shape);

      // Numbers of essential coefficients and of items, row by row.
      uint64_t essential = 0;
      uint64_t item = 0;
      for (uint64_t i = 0; i < shape.rows; ++i) {
        for (uint64_t j = 0; j < shape.columns; ++j) {
          const double wanted = std::ldexp(expected[i * shape.columns + j], layout.scale);
          if (j < region.length(i)) {
            for (const auto& part : encoded.parts) {
              ASSERT_NEAR(float_at(part, layout.common_offset() + 4 * essential), wanted, 1e-5);
            }
            ++essential;
          } else {
            const auto& part = encoded.parts[dealing.fragment(item)];
            ASSERT_NEAR(float_at(part, layout.dealt_offset() + 4 * (item / n)), wanted, 1e-5);
            ++item;
          }
        }
      }
      EXPECT_EQ(essential, layout.common);
      EXPECT_EQ(item, layout.groups * n);
    }
  }
}

TEST_F(TransformOracleTest, AConstantIsInEverySpectralFragment) {
  const TestTensor tensor = tensor_of(DType::f32, {40, 50}, std::vector<float>(2000, 1.5f));
  const EncodedTensor encoded = encode(tensor, transform_options(spectral, 7, random_()));
  for (const size_t part : all_parts(encoded)) {
    EXPECT_GT(slow_quality(tensor, decode(encoded, std::span(&part, 1))).quality, 1 - 1e-10);
  }
}

// Whichever is lost, it is 1/N of what is not essential; within six standard deviations of what
// random places give coefficients of these energies.
TEST_F(TransformOracleTest, EverySpectralFragmentMattersAlike) {
  const MatrixShape shape = {96, 80};
  const uint64_t elements = shape.rows * shape.columns;
  for (const uint32_t n : {2u, 4u, 16u}) {
    for (const bool periodic : {false, true}) {
      Doubles coefficients(elements);
      std::normal_distribution<double> normal;
      for (uint64_t i = 0; i < elements; ++i) {
        // A pattern that dealing in turn would give to one fragment.
        coefficients[i] = periodic ? (i % n == 1 ? 1.0 : 0.0) : normal(random_);
      }
      std::vector<float> values(elements);
      for (uint64_t r = 0; r < shape.rows; ++r) {
        Doubles column(shape.columns);
        for (uint64_t k = 0; k < shape.rows; ++k) {
          for (uint64_t c = 0; c < shape.columns; ++c) {
            column[c] += coefficients[k * shape.columns + c] * cosine(r, k, shape.rows);
          }
        }
        for (uint64_t c = 0; c < shape.columns; ++c) {
          double sum = 0;
          for (uint64_t k = 0; k < shape.columns; ++k)
            sum += column[k] * cosine(c, k, shape.columns);
          values[r * shape.columns + c] = static_cast<float>(sum);
        }
      }
      const TestTensor tensor = tensor_of(DType::f32, {shape.rows, shape.columns}, values);
      const EncodedTensor encoded = encode(tensor, transform_options(spectral, n, random_()));
      const QualityCurve& curve = encoded.description.curve;
      double energy = 0;
      double fourth = 0;
      for (const double c : coefficients) {
        energy += c * c;
        fourth += c * c * c * c;
      }
      const double detail = std::accumulate(curve.energies.begin(), curve.energies.end(), 0.0);
      EXPECT_NEAR(detail + curve.common, 1, 1e-5);
      const double deviation = std::sqrt(fourth / n) / energy;
      for (const double share : curve.energies) {
        EXPECT_NEAR(share, detail / n, 6 * deviation) << n << ", " << periodic;
      }
    }
  }
}

// Rows of the projection that fragments hold, each of the length of the tensor.
std::vector<Doubles> projection_rows(uint64_t elements, const EncodeOptions& options,
                                     std::span<const size_t> parts) {
  std::vector<Doubles> columns;
  for (uint64_t i = 0; i < elements; ++i) {
    std::vector<float> unit(elements);
    unit[i] = 1;
    project(unit, options.seed);
    columns.emplace_back(unit.begin(), unit.end());
  }
  const Dealing dealing(options.fragments, options.seed);
  const uint64_t dealt = elements / options.fragments * options.fragments;
  std::vector<Doubles> rows;
  for (uint64_t k = 0; k < elements; ++k) {
    const bool there =
        k >= dealt || std::find(parts.begin(), parts.end(), dealing.fragment(k)) != parts.end();
    if (!there) continue;
    Doubles row(elements);
    for (uint64_t i = 0; i < elements; ++i) row[i] = columns[i][k];
    rows.push_back(std::move(row));
  }
  return rows;
}

// The shortest x with rows * x = y: x = rows^T (rows rows^T)^-1 y, by Gauss's elimination.
Doubles least_squares(const std::vector<Doubles>& rows, const Doubles& y) {
  const size_t count = rows.size();
  std::vector<Doubles> system(count, Doubles(count + 1));
  for (size_t a = 0; a < count; ++a) {
    for (size_t b = 0; b < count; ++b) {
      system[a][b] = std::inner_product(rows[a].begin(), rows[a].end(), rows[b].begin(), 0.0);
    }
    system[a][count] = y[a];
  }
  for (size_t p = 0; p < count; ++p) {
    size_t best = p;
    for (size_t a = p; a < count; ++a) {
      if (std::abs(system[a][p]) > std::abs(system[best][p])) best = a;
    }
    std::swap(system[p], system[best]);
    for (size_t a = 0; a < count; ++a) {
      if (a == p) continue;
      const double factor = system[a][p] / system[p][p];
      for (size_t b = p; b <= count; ++b) system[a][b] -= factor * system[p][b];
    }
  }
  Doubles x(rows.empty() ? 0 : rows[0].size());
  for (size_t a = 0; a < count; ++a) {
    for (size_t i = 0; i < x.size(); ++i) x[i] += rows[a][i] * system[a][count] / system[a][a];
  }
  return x;
}

TEST_F(TransformOracleTest, ProjectionsGiveTheLeastSquaresSolution) {
  for (const uint64_t elements : {1, 5, 16, 29, 61}) {
    const EncodeOptions options =
        transform_options(random_projection, 1 + static_cast<uint32_t>(random_() % 6), random_());
    const TestTensor tensor = normal_tensor(DType::f32, {elements}, random_);
    const EncodedTensor encoded = encode(tensor, options);
    std::vector<size_t> parts = all_parts(encoded);
    std::shuffle(parts.begin(), parts.end(), random_);
    parts.resize(1 + random_() % parts.size());

    const Doubles x = doubles_of(DType::f32, tensor.bytes);
    const std::vector<Doubles> rows = projection_rows(elements, options, parts);
    const uint64_t tail = elements % options.fragments;
    EXPECT_EQ(rows.size(), elements / options.fragments * parts.size() + tail);
    Doubles y;
    for (const Doubles& row : rows) {
      y.push_back(std::inner_product(row.begin(), row.end(), x.begin(), 0.0));
    }
    const Doubles expected = least_squares(rows, y);
    const Doubles decoded = doubles_of(DType::f32, decode(encoded, parts));
    for (uint64_t i = 0; i < elements; ++i) EXPECT_NEAR(decoded[i], expected[i], 2e-5) << elements;
  }
}

// k of N fragments: P with P P = P, x - P x orthogonal to P x, and k / N of the energy.
TEST_F(TransformOracleTest, SubsetsOfAProjectionProject) {
  constexpr uint64_t kElements = 40'000;
  constexpr uint32_t kFragments = 8;
  const EncodeOptions options = transform_options(random_projection, kFragments, random_());
  std::vector<float> spike(kElements);
  for (size_t i = 0; i < 3000; ++i) spike[i] = static_cast<float>(i % 7) - 3;
  for (const TestTensor& tensor : {normal_tensor(DType::f32, {200, 200}, random_),
                                   tensor_of(DType::f32, {kElements}, spike)}) {
    const EncodedTensor encoded = encode(tensor, options);
    for (const std::vector<size_t>& parts :
         {std::vector<size_t>{3}, {0, 1}, {7, 2, 5}, {6, 5, 4, 3, 2, 1, 0}}) {
      TestTensor once = tensor;
      once.bytes = decode(encoded, parts);
      const auto twice = decode(encode(once, options), parts);
      EXPECT_NEAR(slow_quality(once, twice).quality, 1, 1e-9);

      const Doubles x = doubles_of(DType::f32, tensor.bytes);
      const Doubles p = doubles_of(DType::f32, once.bytes);
      double along = 0;
      double energy = 0;
      double kept = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        along += (x[i] - p[i]) * p[i];
        energy += x[i] * x[i];
        kept += p[i] * p[i];
      }
      EXPECT_NEAR(along / energy, 0, 1e-6);
      // A sum of kElements * k / N squares of nearly normal coefficients.
      const double share = static_cast<double>(parts.size()) / kFragments;
      EXPECT_NEAR(kept / energy, share, 8 * share * std::sqrt(2 / (share * kElements)));
    }
  }
}

}  // namespace
}  // namespace hoist::tensors
