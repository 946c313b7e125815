// Dictionaries, runs and the choice among them: round trips, exact sizes, damaged streams.
#include "codec/integer_column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "base/test_seed.h"
#include "codec/bitpack.h"
#include "codec/bitpack_test_columns.h"
#include "codec/dictionary.h"
#include "codec/numbering.h"
#include "codec/run_length.h"

namespace hoist::codec {
namespace {

using Bytes = std::vector<std::byte>;

class IntegerColumn : public testing::Test {
 protected:
  IntegerColumn() : seed_(test_seed()), random_(seed_) {}

  template <typename T>
  IntegerCoding round_trip(const std::vector<T>& column) {
    SCOPED_TRACE(testing::Message() << "seed " << seed_ << ", " << 8 * sizeof(T) << " bits, "
                                    << column.size() << " values");
    const std::span<const T> values(column);
    const Result<Bytes> stream = encode_integers<T>(values);
    EXPECT_TRUE(stream);
    EXPECT_LE(stream->size(), bitpack_size<T>(values) + 16);
    const Result<IntegerColumnInfo> info = inspect_integers(*stream);
    EXPECT_TRUE(info);
    EXPECT_EQ(info->count, column.size());
    EXPECT_EQ(info->value_bytes, sizeof(T));
    std::vector<T> decoded(column.size());
    EXPECT_TRUE(decode_integers<T>(*stream, decoded));
    EXPECT_EQ(decoded, column);
    return info->coding;
  }

  template <typename T>
  void dictionary_and_runs(const std::vector<T>& column) {
    SCOPED_TRACE(testing::Message() << "seed " << seed_ << ", " << 8 * sizeof(T) << " bits");
    const auto dictionary = make_dictionary<T>(column, SIZE_MAX);
    ASSERT_TRUE(dictionary);
    EXPECT_TRUE(std::is_sorted(dictionary->entries.begin(), dictionary->entries.end()));
    const Result<Bytes> with_dictionary = encode_dictionary(*dictionary);
    EXPECT_EQ(with_dictionary->size(), dictionary_size(*dictionary));
    std::vector<T> decoded(column.size());
    EXPECT_TRUE(decode_dictionary<T>(*with_dictionary, decoded));
    EXPECT_EQ(decoded, column);
    const Runs<T> runs = find_runs<T>(column);
    const Result<Bytes> with_runs = encode_runs(runs);
    EXPECT_EQ(with_runs->size(), run_length_size(runs));
    decoded.assign(column.size(), 0);
    EXPECT_TRUE(decode_runs<T>(*with_runs, decoded));
    EXPECT_EQ(decoded, column);
  }

  template <typename T>
  void every_column() {
    for (const size_t count : {0, 1, 2, 1023, 1024, 1025, 5000}) {
      for (const Shape shape : kShapes) {
        const std::vector<T> column = make_column<T>(shape, 5, count, random_);
        round_trip(column);
        dictionary_and_runs(column);
      }
      round_trip(few_values<T>(7, count, random_));
      dictionary_and_runs(few_values<T>(7, count, random_));
      round_trip(long_runs<T>(300, count, random_));
      dictionary_and_runs(long_runs<T>(300, count, random_));
    }
  }

  const uint64_t seed_;
  std::mt19937_64 random_;
};

TEST_F(IntegerColumn, EveryColumn) {
  every_column<uint8_t>();
  every_column<uint16_t>();
  every_column<uint32_t>();
  every_column<uint64_t>();
}

TEST_F(IntegerColumn, TheSmallestIsChosen) {
  EXPECT_EQ(round_trip(std::vector<uint64_t>(100000, 7)), IntegerCoding::constant);
  EXPECT_EQ(round_trip(std::vector<uint64_t>()), IntegerCoding::constant);
  EXPECT_EQ(round_trip(make_column<uint32_t>(Shape::sorted, 9, 20000, random_)),
            IntegerCoding::bitpack);
  EXPECT_EQ(round_trip(few_values<uint64_t>(30, 20000, random_)), IntegerCoding::dictionary);
  EXPECT_EQ(round_trip(long_runs<uint32_t>(500, 20000, random_)), IntegerCoding::run_length);
}

TEST_F(IntegerColumn, DictionaryIsGivenUp) {
  const std::vector<uint32_t> column = {1, 2, 3, 2, 1};
  EXPECT_TRUE(make_dictionary<uint32_t>(column, 3));
  EXPECT_FALSE(make_dictionary<uint32_t>(column, 2));
  const std::vector<std::string_view> strings = {"a", "b", "a"};
  EXPECT_TRUE(make_string_dictionary(strings, 2));
  EXPECT_FALSE(make_string_dictionary(strings, 1));
}

TEST_F(IntegerColumn, Strings) {
  for (const size_t count : {0, 1, 3, 1024, 5000}) {
    std::vector<std::string> owned(count);
    for (std::string& text : owned) text = std::string(random_() % 9, static_cast<char>(random_()));
    const std::vector<std::string_view> column(owned.begin(), owned.end());
    const auto dictionary = make_string_dictionary(column, SIZE_MAX);
    ASSERT_TRUE(dictionary);
    const Result<Bytes> stream = encode_string_dictionary(*dictionary);
    ASSERT_TRUE(stream);
    EXPECT_EQ(stream->size(), string_dictionary_size(*dictionary));
    const Result<StringDictionaryView> view = StringDictionaryView::open(*stream);
    ASSERT_TRUE(view) << view.error().message;
    EXPECT_EQ(view->count(), count);
    EXPECT_EQ(view->entries().empty(), count == 0);
    std::vector<std::string_view> decoded(count);
    ASSERT_TRUE(view->decode(decoded));
    EXPECT_EQ(decoded, column) << "seed " << seed_;
    std::vector<std::string_view> longer(count + 1);
    EXPECT_EQ(view->decode(longer).error().code, ErrorCode::corrupt);
  }
}

// The inverse of hash_of(): each number's value hashes to it.
uint64_t value_that_hashes_to(uint64_t hash) {
  const auto inverse = [](uint64_t odd) {  // Newton's iteration modulo 2^64
    uint64_t x = odd;
    for (int i = 0; i < 5; ++i) x *= 2 - odd * x;
    return x;
  };
  hash ^= hash >> 31 ^ hash >> 62;
  hash *= inverse(0x94d049bb133111eb);
  hash ^= hash >> 27 ^ hash >> 54;
  hash *= inverse(0xbf58476d1ce4e5b9);
  hash ^= hash >> 30 ^ hash >> 60;
  return hash - 0x9e3779b97f4a7c15;
}

TEST_F(IntegerColumn, CollidingValuesAreGivenUp) {
  std::vector<uint64_t> column(30000);
  for (size_t i = 0; i < column.size(); ++i) {
    column[i] = value_that_hashes_to(uint64_t{i / 2} << 40);
    ASSERT_EQ(hash_of(column[i]), uint64_t{i / 2} << 40);
  }
  EXPECT_FALSE(make_dictionary<uint64_t>(column, SIZE_MAX));
  EXPECT_NE(round_trip(column), IntegerCoding::dictionary);
  column.resize(400);
  EXPECT_TRUE(make_dictionary<uint64_t>(column, SIZE_MAX));
}

TEST_F(IntegerColumn, RunsAreCounted) {
  for (const size_t count : {0, 1, 2, 1000}) {
    const std::vector<uint16_t> column = long_runs<uint16_t>(7, count, random_);
    EXPECT_EQ(count_runs<uint16_t>(column), find_runs<uint16_t>(column).values.size());
  }
}

// A tile of 32 bytes may claim 1024 entries; without text, they are not allocated.
TEST_F(IntegerColumn, StringEntriesAreBoundedByTheirText) {
  const auto with_lengths = [](const std::vector<uint32_t>& lengths, std::string_view text) {
    const Bytes packed = *encode_bitpack<uint32_t>(lengths);
    const Bytes codes = *encode_bitpack<uint32_t>(std::vector<uint32_t>(5000));
    return join_parts(kStringDictionaryMagic, 1,
                      {5000, packed, codes, std::as_bytes(std::span(text))});
  };
  EXPECT_TRUE(StringDictionaryView::open(with_lengths({1, 0, 1}, "ab")));
  EXPECT_EQ(StringDictionaryView::open(with_lengths({1, 0, 1, 0}, "ab")).error().code,
            ErrorCode::corrupt);
  EXPECT_EQ(StringDictionaryView::open(with_lengths(std::vector<uint32_t>(5000), "")).error().code,
            ErrorCode::corrupt);
}

// Flipped bits and cut ends: an answer, never a crash.
TEST_F(IntegerColumn, DamagedStreams) {
  for (int round = 0; round < 3000; ++round) {
    const size_t count = 2 + random_() % 3000;
    const std::vector<uint32_t> column = round % 2 ? few_values<uint32_t>(9, count, random_)
                                                   : long_runs<uint32_t>(80, count, random_);
    Bytes stream = *encode_integers<uint32_t>(column);
    for (int flips = 1 + static_cast<int>(random_() % 3); flips > 0; --flips) {
      stream[random_() % std::min<size_t>(stream.size(), random_() % 2 ? SIZE_MAX : 160)] ^=
          static_cast<std::byte>(1u << random_() % 8);
    }
    if (random_() % 4 == 0) stream.resize(random_() % stream.size());
    const std::unique_ptr<std::byte[]> exact(new std::byte[stream.size()]);
    std::memcpy(exact.get(), stream.data(), stream.size());
    std::vector<uint32_t> out(count);
    (void)decode_integers<uint32_t>({exact.get(), stream.size()}, out);
  }
}

TEST_F(IntegerColumn, DamageThatIsSeen) {
  std::vector<uint32_t> out(1000);
  const auto is_corrupt = [](const Status& status) {
    return !status && status.error().code == ErrorCode::corrupt;
  };
  // A dictionary without the entry that a code names.
  Dictionary<uint32_t> dictionary =
      *make_dictionary<uint32_t>(few_values<uint32_t>(9, 1000, random_), 9);
  dictionary.entries.pop_back();
  EXPECT_TRUE(is_corrupt(decode_dictionary<uint32_t>(*encode_dictionary(dictionary), out)));
  // Runs beyond the end, before it, of no length, backwards.
  for (const std::vector<uint64_t>& ends :
       {std::vector<uint64_t>{400, 1001}, {400, 999}, {1000, 1000}, {0, 1000}, {1000, 900}}) {
    const Runs<uint32_t> runs{{1, 2}, ends};
    Bytes stream = *encode_runs(runs);
    const uint64_t count = 1000;
    std::memcpy(stream.data() + 8, &count, sizeof count);
    EXPECT_TRUE(is_corrupt(decode_runs<uint32_t>(stream, out)));
  }
  Bytes stream = *encode_integers<uint32_t>(std::vector<uint32_t>(1000, 7));
  EXPECT_TRUE(is_corrupt(decode_integers<uint32_t>(std::span(stream).first(31), out)));
  stream[20] = std::byte{1};
  EXPECT_TRUE(is_corrupt(decode_integers<uint32_t>(stream, out)));
  stream[3] = std::byte{4};
  EXPECT_FALSE(inspect_integers(stream));
}

}  // namespace
}  // namespace hoist::codec
