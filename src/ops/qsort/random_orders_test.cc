// Random comparators on random arrays: strict weak orders give the C library's bytes, others a
// permutation. HOIST_QSORT_SEED and HOIST_QSORT_CASES run a case again, or more of them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "ops/qsort/qsort_testing.h"

namespace hoist::qsort::testing {
namespace {

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

Fields random_order(std::mt19937_64& random, size_t size) {
  Fields order;
  for (size_t i = 1 + random() % 3; i > 0; --i) {
    Field field;
    do {
      field.type = static_cast<FieldType>(random() % kFieldTypes);
    } while (width_of(field.type) > size);
    field.offset = random() % (size - width_of(field.type) + 1);
    if (random() % 4 != 0) field.offset -= field.offset % width_of(field.type);
    field.length = 1 + random() % (size - field.offset);
    field.descending = random() % 3 == 0;
    order.fields.push_back(field);
  }
  return order;
}

std::vector<char> random_array(std::mt19937_64& random, const Fields& order, size_t size) {
  constexpr size_t kCounts[] = {2, 3, 17, 100, 1000, 5000, 20000};
  size_t count = kCounts[random() % std::size(kCounts)];
  count += random() % count;
  std::vector<char> array(count * size);
  const unsigned range = random() % 2 == 0 ? 256 : 1 + random() % 4;
  for (char& byte : array) byte = static_cast<char>(random() % range);
  // Numbers of a usual magnitude where floats are compared: random bytes are seldom any.
  for (const Field& field : order.fields) {
    for (size_t at = field.offset; at < array.size(); at += size) {
      const double value = static_cast<double>(static_cast<int64_t>(random() % 2001) - 1000) / 8;
      const auto single = static_cast<float>(value);
      if (field.type == FieldType::f32) std::memcpy(&array[at], &single, sizeof single);
      if (field.type == FieldType::f64) std::memcpy(&array[at], &value, sizeof value);
    }
  }
  return array;
}

void check(uint64_t seed) {
  SCOPED_TRACE(::testing::Message() << "HOIST_QSORT_CASES=1 HOIST_QSORT_SEED=" << seed);
  std::mt19937_64 random(seed);
  const size_t size = random() % 2 == 0 ? 4 * (1 + random() % 8) : 1 + random() % 100;
  Fields order = random_order(random, size);
  const std::vector<char> input = random_array(random, order, size);
  std::vector<char> ours = input;
  const bool taken = sort_with_engine(ours, size, Fields::compare, &order);
  if (!taken) {
    ASSERT_TRUE(ours == input);
  } else if (has_nan(order, input, size)) {
    ASSERT_TRUE(as_multiset(ours, size) == as_multiset(input, size));
  } else {
    ASSERT_TRUE(ours == sorted_by_libc(input, size, Fields::compare, &order));
  }
}

// Answers that have nothing to do with an order.
struct Nonsense {
  std::mt19937_64 random;
  unsigned kind;

  static int compare(const void* a, const void* b, void* self) {
    Nonsense& nonsense = *static_cast<Nonsense*>(self);
    const int usual = compare_as<int16_t>(a, b);
    switch (nonsense.kind) {
      case 0:  // lies now and then
        return nonsense.random() % 1000 == 0 ? -usual : usual;
      case 1:  // any
        return static_cast<int>(nonsense.random() % 3) - 1;
      case 2:  // overflow
        return static_cast<int16_t>(*static_cast<const int16_t*>(a) -
                                    *static_cast<const int16_t*>(b));
      default:  // never equal
        return usual <= 0 ? -1 : 1;
    }
  }
};

TEST(RandomOrdersTest, SameBytesAsTheLibrary) {
  const uint64_t first = from_environment("HOIST_QSORT_SEED", std::random_device{}());
  const uint64_t cases = from_environment("HOIST_QSORT_CASES", 250);
  for (uint64_t i = 0; i < cases && !::testing::Test::HasFatalFailure(); ++i) check(first + i);
}

TEST(RandomOrdersTest, NonsenseGivesAPermutation) {
  const uint64_t seed = from_environment("HOIST_QSORT_SEED", std::random_device{}());
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (unsigned i = 0; i < 40; ++i) {
    std::vector<char> input(2 * (2 + random() % 20000));
    for (char& byte : input) byte = static_cast<char>(random());
    std::vector<char> ours = input;
    Nonsense nonsense = {std::mt19937_64(random()), i % 4};
    const bool taken = sort_with_engine(ours, 2, Nonsense::compare, &nonsense);
    if (!taken) {
      EXPECT_TRUE(ours == input);
    }
    EXPECT_TRUE(as_multiset(ours, 2) == as_multiset(input, 2));
  }
}

}  // namespace
}  // namespace hoist::qsort::testing
