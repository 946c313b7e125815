#include "ops/qsort/radix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "ops/qsort/chunks.h"

namespace hoist::qsort {
namespace {

constexpr size_t kInsertion = 24;
constexpr size_t kComparison = 256;     // fewer words are sorted by comparing them
constexpr size_t kFitsCache = 1 << 16;  // fewer words need not be dealt out to buckets first
constexpr int kDigitBits = 11;          // of a pass within a bucket, or
constexpr int kLongDigitBits = 12;      // where two passes then do all
constexpr int kTwoPasses = 2 * kLongDigitBits;
constexpr size_t kMostDigits = size_t{1} << kLongDigitBits;
constexpr int kFewestBucketBits = 8;
constexpr int kMostBucketBits = 10;
constexpr size_t kMostBuckets = size_t{1} << kMostBucketBits;

template <typename Word>
struct Range {
  Word low;
  Word high;

  int bits() const { return static_cast<int>(std::bit_width(static_cast<Word>(high - low))); }
};

// The range of the words without their `ascending_bits`.
template <typename Word>
Range<Word> range_of(const Word* words, size_t count, int ascending_bits) {
  Word low = words[0];
  Word high = words[0];
  for (size_t i = 1; i < count; ++i) {
    low = std::min(low, words[i]);
    high = std::max(high, words[i]);
  }
  return {static_cast<Word>(low >> ascending_bits), static_cast<Word>(high >> ascending_bits)};
}

template <typename Word>
void insertion_sort(Word* words, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    const Word word = words[i];
    size_t at = i;
    for (; at > 0 && word < words[at - 1]; --at) words[at] = words[at - 1];
    words[at] = word;
  }
}

// Equal words are alike, so that stability does not matter here.
template <typename Word>
void comparison_sort(Word* words, size_t count) {
  count <= kInsertion ? insertion_sort(words, count) : std::sort(words, words + count);
}

// Deals the words out by a digit of the distance from `low`, to `scratch`, and back by the next
// one. Both digits are counted in one pass.
template <typename Word>
void deal_twice(Word* words, Word* scratch, size_t count, Word low, int ascending_bits, int shift,
                int digit_bits) {
  std::array<uint32_t, kMostDigits> first;
  std::array<uint32_t, kMostDigits> second;
  const size_t digits = size_t{1} << digit_bits;
  std::fill_n(first.begin(), digits, 0);
  std::fill_n(second.begin(), digits, 0);
  const size_t mask = digits - 1;
  const auto distance = [=](Word word) {
    return static_cast<size_t>(static_cast<Word>((word >> ascending_bits) - low) >> shift);
  };
  for (size_t i = 0; i < count; ++i) {
    const size_t value = distance(words[i]);
    ++first[value & mask];
    ++second[value >> digit_bits & mask];
  }
  uint32_t before_first = 0;
  uint32_t before_second = 0;
  for (size_t digit = 0; digit < digits; ++digit) {
    before_first += std::exchange(first[digit], before_first);
    before_second += std::exchange(second[digit], before_second);
  }
  for (size_t i = 0; i < count; ++i) scratch[first[distance(words[i]) & mask]++] = words[i];
  for (size_t i = 0; i < count; ++i) {
    words[second[distance(scratch[i]) >> digit_bits & mask]++] = scratch[i];
  }
}

template <typename Word>
void sort_alone(Word* words, Word* scratch, size_t count, int ascending_bits);

// Sorts the runs of words that the digits from `shift` on leave equal.
template <typename Word>
void sort_runs(Word* words, Word* scratch, size_t count, Word low, int ascending_bits, int shift) {
  const auto digits = [=](Word word) {
    return static_cast<Word>((word >> ascending_bits) - low) >> shift;
  };
  for (size_t start = 0; start < count;) {
    const auto value = digits(words[start]);
    size_t end = start + 1;
    while (end < count && digits(words[end]) == value) ++end;
    if (end - start > 1) sort_alone(words + start, scratch + start, end - start, ascending_bits);
    start = end;
  }
}

// All words are at least `low`, by less than 2 to the power of `bits`.
template <typename Word>
void sort_by_digits(Word* words, Word* scratch, size_t count, Word low, int bits,
                    int ascending_bits) {
  if (bits == 0) return;
  if (bits <= kTwoPasses) {
    return deal_twice(words, scratch, count, low, ascending_bits, 0, (bits + 1) / 2);
  }
  const int shift = bits - 2 * kDigitBits;
  deal_twice(words, scratch, count, low, ascending_bits, shift, kDigitBits);
  sort_runs(words, scratch, count, low, ascending_bits, shift);
}

template <typename Word>
void sort_alone(Word* words, Word* scratch, size_t count, int ascending_bits) {
  if (count <= kComparison) return comparison_sort(words, count);
  const Range<Word> range = range_of(words, count, ascending_bits);
  sort_by_digits(words, scratch, count, range.low, range.bits(), ascending_bits);
}

// How the words of all chunks go into the buckets: at[chunk][bucket] is where the next one goes.
using Positions = std::vector<std::array<size_t, kMostBuckets>>;

// The sorted words are in `scratch` then.
template <typename Word>
void sort_in_buckets(Word* words, Word* scratch, size_t count, int ascending_bits,
                     ThreadPool* pool) {
  const size_t chunks = chunks_for(pool);
  std::vector<Range<Word>> ranges(chunks);
  for_chunks(count, chunks, pool, [&](size_t chunk, size_t start, size_t end) {
    ranges[chunk] = range_of(words + start, end - start, ascending_bits);
  });
  Range<Word> range = ranges[0];
  for (const Range<Word>& part : ranges) {
    range = {std::min(range.low, part.low), std::max(range.high, part.high)};
  }
  // A bucket and its scratch are to fit the cache of a core.
  const int bucket_bits = std::clamp(static_cast<int>(std::bit_width(count / kFitsCache)) + 1,
                                     kFewestBucketBits, kMostBucketBits);
  const size_t buckets = size_t{1} << bucket_bits;
  const int shift = std::max(0, range.bits() - bucket_bits);
  const auto bucket_of = [=](Word word) {
    return static_cast<size_t>(static_cast<Word>((word >> ascending_bits) - range.low) >> shift);
  };

  Positions at(chunks);
  for_chunks(count, chunks, pool, [&](size_t chunk, size_t start, size_t end) {
    for (size_t i = start; i < end; ++i) ++at[chunk][bucket_of(words[i])];
  });
  std::array<size_t, kMostBuckets + 1> bucket_start{};
  size_t sum = 0;
  for (size_t bucket = 0; bucket < buckets; ++bucket) {
    bucket_start[bucket] = sum;
    for (auto& chunk : at) sum += std::exchange(chunk[bucket], sum);
  }
  bucket_start[buckets] = count;
  for_chunks(count, chunks, pool, [&](size_t chunk, size_t start, size_t end) {
    std::array<size_t, kMostBuckets>& to = at[chunk];
    for (size_t i = start; i < end; ++i) scratch[to[bucket_of(words[i])]++] = words[i];
  });
  for_chunks(buckets, buckets, pool, [&](size_t bucket, size_t, size_t) {
    const size_t start = bucket_start[bucket];
    const size_t size = bucket_start[bucket + 1] - start;
    if (shift > kTwoPasses || size <= kComparison) {
      return sort_alone(scratch + start, words + start, size, ascending_bits);
    }
    // Two passes do all, whatever range the bucket really spans.
    const auto low = static_cast<Word>(range.low + (static_cast<Word>(bucket) << shift));
    sort_by_digits(scratch + start, words + start, size, low, shift, ascending_bits);
  });
}

}  // namespace

template <typename Word>
void radix_sort(Word* words, Word* scratch, size_t count, int ascending_bits, ThreadPool* pool) {
  if (count < kFitsCache) return sort_alone(words, scratch, count, ascending_bits);
  sort_in_buckets(words, scratch, count, ascending_bits, pool);
  for_chunks(count, chunks_for(pool), pool, [&](size_t, size_t start, size_t end) {
    std::memcpy(words + start, scratch + start, (end - start) * sizeof(Word));
  });
}

template <typename Word>
void radix_sort_within(Word* words, Word* scratch, size_t count, Word low, int bits) {
  if (bits > kTwoPasses || count <= kComparison) return sort_alone(words, scratch, count, 0);
  // Two passes do all, whatever range the words really span.
  sort_by_digits(words, scratch, count, low, bits, 0);
}

template void radix_sort(uint32_t*, uint32_t*, size_t, int, ThreadPool*);
template void radix_sort(uint64_t*, uint64_t*, size_t, int, ThreadPool*);
template void radix_sort_within(uint32_t*, uint32_t*, size_t, uint32_t, int);
template void radix_sort_within(uint64_t*, uint64_t*, size_t, uint64_t, int);

}  // namespace hoist::qsort
