// Arrays of plain numbers, by more threads than the machine may have, against std::stable_sort().
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "ops/qsort/sorter.h"

namespace hoist::qsort {
namespace {

template <typename T>
constexpr KeyType kTypeOf = std::is_same_v<T, int32_t>    ? KeyType::i32
                            : std::is_same_v<T, uint32_t> ? KeyType::u32
                            : std::is_same_v<T, int64_t>  ? KeyType::i64
                            : std::is_same_v<T, uint64_t> ? KeyType::u64
                            : std::is_same_v<T, float>    ? KeyType::f32
                                                          : KeyType::f64;

class SortNumbersTest : public ::testing::Test {
 protected:
  SortNumbersTest()
      : seed_(std::random_device{}()), trace_(__FILE__, __LINE__, seed_), random_(seed_) {}

  template <typename T>
  Numbers sort(std::vector<T>& values, bool descending, ThreadPool* pool) {
    Workspace* const workspace = Workspace::take(__builtin_frame_address(0));
    const Call call = {reinterpret_cast<std::byte*>(values.data()), values.size(), sizeof(T),
                       nullptr, nullptr};
    const std::byte* input = nullptr;
    const Numbers done =
        sort_numbers(call, {kTypeOf<T>, descending, 0, sizeof(T)}, *workspace, pool, input);
    if (input != nullptr) {
      const auto* kept = reinterpret_cast<const T*>(input);
      input_kept_ = before_.empty() || std::memcmp(kept, before_.data(), before_.size()) == 0;
    }
    workspace->give_back();
    return done;
  }

  template <typename T>
  void expect_sorted(const std::vector<T>& values) {
    const auto* bytes = reinterpret_cast<const char*>(values.data());
    before_.assign(bytes, bytes + values.size() * sizeof(T));
    for (const bool descending : {false, true}) {
      std::vector<T> expected = values;
      std::sort(expected.begin(), expected.end());
      if (descending) std::reverse(expected.begin(), expected.end());
      for (ThreadPool* pool : {static_cast<ThreadPool*>(nullptr), &seven_}) {
        std::vector<T> ours = values;
        EXPECT_EQ(sort(ours, descending, pool), Numbers::sorted);
        EXPECT_TRUE(ours == expected) << values.size() << " numbers";
        EXPECT_TRUE(input_kept_);
      }
    }
  }

  template <typename T>
  T any() {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(static_cast<int64_t>(random_() >> 20) - (int64_t{1} << 43)) / 512 +
             T{1};
    } else {
      return static_cast<T>(random_());
    }
  }

  template <typename T>
  void sort_distributions() {
    for (const size_t count : {2, 3, 255, 4097, 70001}) {
      std::vector<T> values(count);
      for (T& value : values) value = any<T>();
      expect_sorted(values);
      std::sort(values.begin(), values.end());
      expect_sorted(values);
      for (T& value : values) value = static_cast<T>(random_() % 9 + 1);
      expect_sorted(values);
      values.assign(count, T{7});
      expect_sorted(values);
      // What the sample does not show: numbers far outside its range.
      for (T& value : values) value = static_cast<T>(random_() % 1000 + 100000);
      values[count / 2] = std::numeric_limits<T>::max();
      values[count / 3 + 1] = std::numeric_limits<T>::lowest();
      expect_sorted(values);
    }
  }

  const uint64_t seed_;
  ::testing::ScopedTrace trace_;
  std::mt19937_64 random_;
  ThreadPool seven_{7};
  std::vector<char> before_;
  bool input_kept_ = false;
};

TEST_F(SortNumbersTest, EveryTypeAndDistribution) {
  sort_distributions<int32_t>();
  sort_distributions<uint32_t>();
  sort_distributions<int64_t>();
  sort_distributions<uint64_t>();
  sort_distributions<float>();
  sort_distributions<double>();
}

// More than a thread's scratch holds fall into one bucket, which all threads sort together.
TEST_F(SortNumbersTest, OneBucketHoldsNearlyAll) {
  std::vector<uint32_t> values(400000);
  for (uint32_t& value : values) value = static_cast<uint32_t>(1000000 + random_() % 5000);
  for (size_t i = 0; i < values.size(); i += 50) values[i] = static_cast<uint32_t>(random_());
  expect_sorted(values);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i % 100 == 0 ? random_() % 9 : 5;
  expect_sorted(values);
}

TEST_F(SortNumbersTest, WhatIsNoPlainNumberIsLeftAlone) {
  std::vector<double> values(5000);
  for (double& value : values) value = any<double>();
  for (const auto& [odd, found] :
       {std::pair{-0.0, Numbers::negative_zero}, std::pair{std::nan(""), Numbers::nan},
        std::pair{-std::nan("7"), Numbers::nan}}) {
    std::vector<double> with_odd = values;
    with_odd[4321] = odd;
    const std::vector<double> copy = with_odd;
    EXPECT_EQ(sort(with_odd, false, &seven_), found);
    EXPECT_EQ(std::memcmp(with_odd.data(), copy.data(), copy.size() * sizeof(double)), 0);
  }
  std::vector<float> infinite = {1, -std::numeric_limits<float>::infinity(), 2, 0,
                                 std::numeric_limits<float>::infinity()};
  expect_sorted(infinite);
}

}  // namespace
}  // namespace hoist::qsort
