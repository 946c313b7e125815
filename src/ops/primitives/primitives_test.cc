// Each primitive on each device against the plain loop.
#include "ops/primitives/primitives.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "device/test_devices.h"

namespace hoist::primitives {
namespace {

// Around the vectors, the blocks and the tiles.
const std::vector<size_t> kSizes = {0,    1,    3,    4,    5,     255,   1023,  1024,  1025,
                                    2047, 2048, 2049, 4097, 16383, 16384, 16385, 70001, 300007};

class PrimitivesTest : public device::OnDevices {
 protected:
  void SetUp() override {
    OnDevices::SetUp();
    if (IsSkipped()) return;
    Result<Stream> stream = Stream::create(device());
    ASSERT_TRUE(stream) << stream.error().message;
    stream_.emplace(*std::move(stream));
  }

  template <typename T>
  device::Buffer buffer(const std::vector<T>& values) {
    const std::span<const T> all(values);
    // An empty buffer has no device.
    std::vector<std::byte> bytes(std::max<size_t>(all.size_bytes(), 16));
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), all.size_bytes());
    Result<device::Buffer> made = device::Buffer::copy_of(device(), bytes);
    EXPECT_TRUE(made);
    return *std::move(made);
  }
  template <typename T>
  static Span<T> view(const device::Buffer& of, size_t count) {
    return of.view<T>().subspan(0, count);
  }
  template <typename T>
  std::vector<T> read(const device::Buffer& from, size_t count) {
    const Status done = stream_->synchronize();
    EXPECT_TRUE(done) << done.error().message;
    std::vector<T> values(count);
    EXPECT_TRUE(from.download(std::as_writable_bytes(std::span(values))));
    return values;
  }

  std::optional<Stream> stream_;
};

std::vector<float> random_reals(size_t count, uint32_t seed, float low = -8, float high = 8) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(low, high);
  std::vector<float> made(count);
  for (float& value : made) value = values(random);
  return made;
}
std::vector<uint32_t> random_words(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint32_t> made(count);
  for (uint32_t& value : made) value = random();
  return made;
}

double expected(Unary operation, double x) {
  switch (operation) {
    case Unary::negate:
      return -x;
    case Unary::abs:
      return std::abs(x);
    case Unary::relu:
      return x < 0 ? 0 : x;
    case Unary::gelu:
      return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5)));
    case Unary::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Unary::tanh:
      return std::tanh(x);
    case Unary::exp:
      return std::exp(x);
    case Unary::log:
      return std::log(x);
    case Unary::sqrt:
      return std::sqrt(x);
  }
  return 0;
}

TEST_P(PrimitivesTest, UnaryFunctionsAreAccurate) {
  for (int32_t number = 0; number <= static_cast<int32_t>(Unary::sqrt); ++number) {
    const auto operation = static_cast<Unary>(number);
    const bool of_positive = operation == Unary::log || operation == Unary::sqrt;
    for (const size_t size : kSizes) {
      const std::vector<float> x = random_reals(size, 1, of_positive ? 0.01F : -8);
      const device::Buffer in = buffer(x);
      const device::Buffer out = buffer(std::vector<float>(size));
      ASSERT_TRUE(unary(*stream_, operation, view<const float>(in, size), view<float>(out, size)));
      const std::vector<float> got = read<float>(out, size);
      for (size_t i = 0; i < size; ++i) {
        const double want = expected(operation, x[i]);
        const double bound = (operation == Unary::gelu ? 5e-7 : 0) + std::abs(want) * 8 * 0x1p-23;
        ASSERT_NEAR(got[i], want, bound) << number << " of " << x[i];
      }
    }
  }
}

TEST_P(PrimitivesTest, SpecialValuesStaySo) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {nan, infinity, -infinity, -0.0F};
  const device::Buffer in = buffer(x);
  const device::Buffer out = buffer(std::vector<float>(4));
  ASSERT_TRUE(unary(*stream_, Unary::relu, view<const float>(in, 4), view<float>(out, 4)));
  std::vector<float> got = read<float>(out, 4);
  EXPECT_TRUE(std::isnan(got[0]));
  EXPECT_EQ(got[1], infinity);
  EXPECT_EQ(got[2], 0);
  ASSERT_TRUE(unary(*stream_, Unary::negate, view<const float>(in, 4), view<float>(out, 4)));
  got = read<float>(out, 4);
  EXPECT_EQ(std::bit_cast<uint32_t>(got[3]), 0U);
  ASSERT_TRUE(unary(*stream_, Unary::sigmoid, view<const float>(in, 4), view<float>(out, 4)));
  got = read<float>(out, 4);
  EXPECT_TRUE(std::isnan(got[0]));
  EXPECT_EQ(got[1], 1);
  EXPECT_EQ(got[2], 0);
}

TEST_P(PrimitivesTest, BinaryOperatorsAreExact) {
  for (int32_t number = 0; number <= static_cast<int32_t>(Binary::max); ++number) {
    for (const size_t size : kSizes) {
      const std::vector<float> x = random_reals(size, 2);
      const std::vector<float> y = random_reals(size, 3);
      const device::Buffer in_x = buffer(x);
      const device::Buffer in_y = buffer(y);
      const device::Buffer out = buffer(std::vector<float>(size));
      ASSERT_TRUE(binary(*stream_, static_cast<Binary>(number), view<const float>(in_x, size),
                         view<const float>(in_y, size), view<float>(out, size)));
      const std::vector<float> got = read<float>(out, size);
      for (size_t i = 0; i < size; ++i) {
        const std::array<float, 6> want = {x[i] + y[i], x[i] - y[i],          x[i] * y[i],
                                           x[i] / y[i], std::min(x[i], y[i]), std::max(x[i], y[i])};
        ASSERT_EQ(got[i], want[static_cast<size_t>(number)]) << number << " at " << i;
      }
    }
  }
}

TEST_P(PrimitivesTest, CopiesAndFills) {
  for (const size_t size : kSizes) {
    const std::vector<uint32_t> words = random_words(size, 4);
    const device::Buffer from = buffer(words);
    const device::Buffer to = buffer(std::vector<uint32_t>(size));
    ASSERT_TRUE(copy(*stream_, view<const uint32_t>(from, size), view<uint32_t>(to, size)));
    ASSERT_EQ(read<uint32_t>(to, size), words);
    // One element is left as it is.
    const size_t count = size == 0 ? 0 : size - 1;
    ASSERT_TRUE(fill(*stream_, view<uint32_t>(to, count), 0xdecafbad));
    const std::vector<uint32_t> filled = read<uint32_t>(to, size);
    ASSERT_EQ(std::ranges::count(filled.begin(), filled.begin() + static_cast<ptrdiff_t>(count),
                                 0xdecafbad),
              static_cast<ptrdiff_t>(count));
    if (size > 0) {
      ASSERT_EQ(filled.back(), words.back());
    }
  }
}

TEST_P(PrimitivesTest, SaxpyRoundsTheProduct) {
  for (const size_t size : kSizes) {
    const std::vector<float> x = random_reals(size, 5);
    const std::vector<float> y = random_reals(size, 6);
    const device::Buffer in = buffer(x);
    const device::Buffer inout = buffer(y);
    ASSERT_TRUE(saxpy(*stream_, 1.1F, view<const float>(in, size), view<float>(inout, size)));
    const std::vector<float> got = read<float>(inout, size);
    for (size_t i = 0; i < size; ++i) {
      const volatile float product = 1.1F * x[i];
      ASSERT_EQ(got[i], product + y[i]) << i;
    }
  }
}

TEST_P(PrimitivesTest, SumsArePairwise) {
  std::vector<size_t> sizes = kSizes;
  sizes.push_back(size_t{16384} * 3 + 1);
  sizes.push_back((size_t{1} << 24) + 12345);
  for (const size_t size : sizes) {
    const std::vector<float> values = random_reals(size, 7, 0, 1);
    double want = 0;
    for (const float value : values) want += value;
    const device::Buffer in = buffer(values);
    const device::Buffer result = buffer(std::vector<float>(1, -1));
    const size_t needed = sum_scratch(size);
    const device::Buffer scratch = buffer(std::vector<float>(needed));
    ASSERT_TRUE(sum(*stream_, view<const float>(in, size), view<float>(result, 1),
                    view<float>(scratch, needed)));
    // A plain loop over 2^24 such values in f32 is wrong in the fourth digit.
    ASSERT_NEAR(read<float>(result, 1)[0], want, want * 1e-6) << size;
  }
}

TEST_P(PrimitivesTest, TransposesAnyShape) {
  for (const auto& [width, height] : std::vector<std::pair<size_t, size_t>>{
           {1, 1}, {32, 32}, {31, 33}, {1, 1000}, {1000, 1}, {257, 129}, {640, 480}, {0, 5}}) {
    const std::vector<uint32_t> words = random_words(width * height, 8);
    const device::Buffer from = buffer(words);
    const device::Buffer to = buffer(std::vector<uint32_t>(words.size()));
    ASSERT_TRUE(transpose(*stream_, view<const uint32_t>(from, words.size()),
                          view<uint32_t>(to, words.size()), width, height));
    const std::vector<uint32_t> got = read<uint32_t>(to, words.size());
    for (size_t row = 0; row < height; ++row) {
      for (size_t column = 0; column < width; ++column) {
        ASSERT_EQ(got[column * height + row], words[row * width + column]);
      }
    }
  }
}

TEST_P(PrimitivesTest, CountsBytes) {
  for (const size_t size : kSizes) {
    const std::vector<std::byte> bytes = device::random_bytes(size);
    std::vector<uint64_t> want(256);
    for (const std::byte byte : bytes) ++want[static_cast<size_t>(byte)];
    const device::Buffer data = buffer(bytes);
    const device::Buffer counts = buffer(std::vector<uint64_t>(256, 99));
    ASSERT_TRUE(
        histogram(*stream_, view<const std::byte>(data, size), view<uint64_t>(counts, 256)));
    ASSERT_EQ(read<uint64_t>(counts, 256), want) << size;
  }
}

TEST_P(PrimitivesTest, SortsAnyLength) {
  for (const size_t size : kSizes) {
    for (const uint32_t mask : {0xffffffffU, 7U}) {
      std::vector<uint32_t> keys = random_words(size, 9);
      for (uint32_t& key : keys) key &= mask;
      if (size > 2) keys[size / 2] = 0xffffffff;
      const device::Buffer data = buffer(keys);
      ASSERT_TRUE(bitonic_sort(*stream_, view<uint32_t>(data, size)));
      std::ranges::sort(keys);
      ASSERT_EQ(read<uint32_t>(data, size), keys) << size;
    }
  }
}

TEST_P(PrimitivesTest, RefusesWhatDoesNotFit) {
  const device::Buffer data = buffer(std::vector<float>(1024));
  const auto all = data.view<float>();
  const auto is_refused = [](const Status& status) {
    return !status && status.error().code == ErrorCode::invalid_argument;
  };
  EXPECT_TRUE(is_refused(saxpy(*stream_, 1, all.subspan(0, 8), all.subspan(16, 9))));
  EXPECT_TRUE(is_refused(saxpy(*stream_, 1, all.subspan(0, 8), all.subspan(4, 8))));
  EXPECT_TRUE(is_refused(saxpy(*stream_, 1, all.subspan(1, 8), all.subspan(16, 8))));
  EXPECT_TRUE(is_refused(sum(*stream_, all.subspan(0, 8), all.subspan(16, 2), {})));
  const device::Buffer words = buffer(std::vector<uint32_t>(1024));
  EXPECT_TRUE(is_refused(transpose(*stream_, words.view<uint32_t>().subspan(0, 16),
                                   words.view<uint32_t>().subspan(16, 16), 5, 3)));
}

INSTANTIATE_TEST_SUITE_P(Devices, PrimitivesTest, device::kTestDevices, device::device_name);

}  // namespace
}  // namespace hoist::primitives
