// An array of plain numbers takes three passes: the first copies it away, counts the numbers of
// each bucket and finds what is no plain number; the second deals the copy out to the buckets, in
// the array itself; the third sorts each bucket, by its remaining digits, in a core's cache.
//
// Buckets are stretches of the range of a sample, so that no pass is needed to find the true range:
// what lies outside goes to the first or the last bucket.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <type_traits>
#include <utility>
#include <vector>

#include "ops/qsort/chunks.h"
#include "ops/qsort/radix.h"
#include "ops/qsort/sorter.h"

namespace hoist::qsort {
namespace {

template <typename Word>
constexpr Word kTopBit = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));

// A number's bits as an unsigned number of the same order, and back.
template <typename Word, bool kFloat>
struct Mapping {
  Word flip;  // 0, or all bits where the order is descending
  Word sign;  // the top bit where the number has a sign

  Word to_word(Word bits) const {
    if constexpr (kFloat) {
      bits = (bits & kTopBit<Word>) != 0 ? static_cast<Word>(~bits) : bits | kTopBit<Word>;
    } else {
      bits ^= sign;
    }
    return bits ^ flip;
  }
  Word from_word(Word word) const {
    word ^= flip;
    if constexpr (kFloat) {
      return (word & kTopBit<Word>) != 0 ? static_cast<Word>(word ^ kTopBit<Word>)
                                         : static_cast<Word>(~word);
    }
    return word ^ sign;
  }
};

constexpr size_t kMostBuckets = size_t{1} << 10;  // more streams than that thrash the first cache
constexpr size_t kFewestBuckets = size_t{1} << 8;
constexpr size_t kBucketWords = size_t{1} << 16;  // that fit a core's cache, with their scratch
constexpr size_t kSampled = 4096;

using Counts = std::array<size_t, kMostBuckets>;

// Which bucket a word belongs to.
template <typename Word>
struct Buckets {
  Word low;
  int shift;
  size_t last;

  size_t of(Word word) const {
    const auto distance = static_cast<Word>(static_cast<Word>(word - low) >> shift);
    return word < low ? 0 : static_cast<size_t>(std::min<Word>(distance, static_cast<Word>(last)));
  }
  Word start(size_t bucket) const {
    return static_cast<Word>(low + (static_cast<Word>(bucket) << shift));
  }
};

template <typename Word, bool kFloat>
class NumberSorter {
 public:
  NumberSorter(const Call& call, const Key& key, ThreadPool* pool)
      : array_(reinterpret_cast<Word*>(call.base)),
        count_(call.count),
        mapping_{key.descending ? static_cast<Word>(~Word{0}) : Word{0},
                 is_signed(key.type) ? kTopBit<Word> : Word{0}},
        pool_(pool),
        chunks_(chunks_for(pool)),
        buckets_(choose_buckets()),
        at_(chunks_) {}

  // Fills `copy`; the array stays as it is. What it holds that sort() cannot sort, or `sorted`.
  Numbers copy_and_count(Word* copy);
  // False where there is no memory: the array is as it was.
  bool sort(const Word* copy, Workspace& workspace);

 private:
  static bool is_signed(KeyType type) { return type == KeyType::i32 || type == KeyType::i64; }
  Buckets<Word> choose_buckets() const;
  void deal_out(const Word* copy);
  void sort_bucket(size_t bucket, Word* scratch);
  void sort_small_buckets(Word* scratch, size_t most);
  void sort_large_bucket(size_t bucket, Word* scratch);
  void map_back(Word* words, size_t count) const {
    for (size_t i = 0; i < count; ++i) words[i] = mapping_.from_word(words[i]);
  }
  size_t size_of(size_t bucket) const { return start_[bucket + 1] - start_[bucket]; }
  // Whether all that the bucket may hold is one number.
  bool is_one_number(size_t bucket) const {
    return buckets_.shift == 0 && bucket != 0 && bucket != buckets_.last;
  }

  Word* const array_;
  const size_t count_;
  const Mapping<Word, kFloat> mapping_;
  ThreadPool* const pool_;
  const size_t chunks_;
  const Buckets<Word> buckets_;
  std::vector<Counts> at_;  // of each chunk: how many, then where the next one goes
  std::array<size_t, kMostBuckets + 1> start_{};
};

template <typename Word, bool kFloat>
Buckets<Word> NumberSorter<Word, kFloat>::choose_buckets() const {
  const size_t sampled = std::min(count_, kSampled);
  Word low = static_cast<Word>(~Word{0});
  Word high = 0;
  for (size_t i = 0; i < sampled; ++i) {
    const Word word = mapping_.to_word(array_[count_ / sampled * i]);
    low = std::min(low, word);
    high = std::max(high, word);
  }
  const size_t buckets =
      std::clamp(std::bit_ceil(count_ / kBucketWords + 1), kFewestBuckets, kMostBuckets);
  const auto range = static_cast<Word>(high - low);
  const int shift =
      std::max(0, static_cast<int>(std::bit_width(range)) - std::countr_zero(buckets));
  return {low, shift, static_cast<size_t>(range >> shift)};
}

template <typename Word, bool kFloat>
Numbers NumberSorter<Word, kFloat>::copy_and_count(Word* copy) {
  // The smallest bits that say "NaN" once the sign is gone.
  constexpr auto kInfinity = static_cast<Word>(sizeof(Word) == 8 ? 0x7ff0000000000000 : 0x7f800000);
  std::atomic<bool> nan = false;
  std::atomic<bool> negative_zero = false;
  for_chunks(count_, chunks_, pool_, [&](size_t chunk, size_t start, size_t end) {
    Counts& counts = at_[chunk];
    bool chunk_nan = false;
    bool chunk_zero = false;
    for (size_t i = start; i < end; ++i) {
      const Word bits = array_[i];
      copy[i] = bits;
      if constexpr (kFloat) {
        chunk_nan |= static_cast<Word>(bits & ~kTopBit<Word>) > kInfinity;
        chunk_zero |= bits == kTopBit<Word>;
      }
      ++counts[buckets_.of(mapping_.to_word(bits))];
    }
    if (chunk_nan) nan = true;
    if (chunk_zero) negative_zero = true;
  });
  return nan ? Numbers::nan : negative_zero ? Numbers::negative_zero : Numbers::sorted;
}

template <typename Word, bool kFloat>
void NumberSorter<Word, kFloat>::deal_out(const Word* copy) {
  size_t sum = 0;
  for (size_t bucket = 0; bucket <= buckets_.last; ++bucket) {
    start_[bucket] = sum;
    for (Counts& counts : at_) sum += std::exchange(counts[bucket], sum);
  }
  start_[buckets_.last + 1] = sum;
  for_chunks(count_, chunks_, pool_, [&](size_t chunk, size_t start, size_t end) {
    Counts& to = at_[chunk];
    for (size_t i = start; i < end; ++i) {
      const Word word = mapping_.to_word(copy[i]);
      array_[to[buckets_.of(word)]++] = word;
    }
  });
}

template <typename Word, bool kFloat>
void NumberSorter<Word, kFloat>::sort_bucket(size_t bucket, Word* scratch) {
  Word* const words = array_ + start_[bucket];
  const size_t size = size_of(bucket);
  if (bucket == 0 || bucket == buckets_.last) {  // of any range
    radix_sort(words, scratch, size, 0, static_cast<ThreadPool*>(nullptr));
  } else {
    radix_sort_within(words, scratch, size, buckets_.start(bucket), buckets_.shift);
  }
  map_back(words, size);
}

// All buckets of up to `most` words, by all threads, each of which has so many words of `scratch`.
template <typename Word, bool kFloat>
void NumberSorter<Word, kFloat>::sort_small_buckets(Word* scratch, size_t most) {
  std::atomic<size_t> next = 0;
  const size_t threads = pool_ != nullptr ? static_cast<size_t>(pool_->size()) : 1;
  for_chunks(threads, threads, pool_, [&](size_t thread, size_t, size_t) {
    for (size_t bucket = next++; bucket <= buckets_.last; bucket = next++) {
      if (size_of(bucket) <= most) sort_bucket(bucket, scratch + thread * most);
    }
  });
}

// By all threads together.
template <typename Word, bool kFloat>
void NumberSorter<Word, kFloat>::sort_large_bucket(size_t bucket, Word* scratch) {
  Word* const words = array_ + start_[bucket];
  const size_t size = size_of(bucket);
  if (!is_one_number(bucket)) radix_sort(words, scratch, size, 0, pool_);
  for_chunks(size, chunks_, pool_,
             [&](size_t, size_t start, size_t end) { map_back(words + start, end - start); });
}

template <typename Word, bool kFloat>
bool NumberSorter<Word, kFloat>::sort(const Word* copy, Workspace& workspace) {
  const size_t threads = pool_ != nullptr ? static_cast<size_t>(pool_->size()) : 1;
  // Where numbers cluster, a bucket may hold any number of them.
  const size_t most = 4 * std::max(kBucketWords, count_ / kMostBuckets);
  size_t largest = 0;
  for (size_t bucket = 0; bucket <= buckets_.last; ++bucket) {
    size_t size = 0;
    for (const Counts& counts : at_) size += counts[bucket];
    largest = std::max(largest, size);
  }
  const size_t small = std::min(most, largest);
  const size_t words = std::max(threads * small, largest > most ? largest : 0);
  auto* const scratch = reinterpret_cast<Word*>(workspace.buffer(1, words * sizeof(Word)));
  if (scratch == nullptr) return false;
  deal_out(copy);
  sort_small_buckets(scratch, small);
  for (size_t bucket = 0; bucket <= buckets_.last; ++bucket) {
    if (size_of(bucket) > small) sort_large_bucket(bucket, scratch);
  }
  return true;
}

template <typename Word, bool kFloat>
Numbers sort(const Call& call, const Key& key, Workspace& workspace, ThreadPool* pool,
             const std::byte*& input) {
  std::byte* const buffer = workspace.buffer(0, call.count * call.size);
  if (buffer == nullptr) return Numbers::no_memory;
  auto* const copy = reinterpret_cast<Word*>(buffer);
  NumberSorter<Word, kFloat> sorter(call, key, pool);
  const Numbers found = sorter.copy_and_count(copy);
  input = buffer;
  if (found != Numbers::sorted) return found;
  return sorter.sort(copy, workspace) ? Numbers::sorted : Numbers::no_memory;
}

}  // namespace

Numbers sort_numbers(const Call& call, const Key& key, Workspace& workspace, ThreadPool* pool,
                     const std::byte*& input) {
  if (key.type == KeyType::f64) return sort<uint64_t, true>(call, key, workspace, pool, input);
  if (key.type == KeyType::f32) return sort<uint32_t, true>(call, key, workspace, pool, input);
  if (key.length == 8) return sort<uint64_t, false>(call, key, workspace, pool, input);
  return sort<uint32_t, false>(call, key, workspace, pool, input);
}

}  // namespace hoist::qsort
