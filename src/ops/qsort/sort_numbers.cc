#include <bit>
#include <type_traits>

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

template <typename Word, bool kFloat>
bool sort(const Call& call, const Key& key, Workspace& workspace, ThreadPool* pool) {
  auto* const array = reinterpret_cast<Word*>(call.base);
  auto* const words = reinterpret_cast<Word*>(workspace.buffer(1, call.count * sizeof(Word)));
  if (words == nullptr) return false;
  const bool is_signed = key.type == KeyType::i32 || key.type == KeyType::i64;
  const Mapping<Word, kFloat> mapping = {
      key.descending ? static_cast<Word>(~Word{0}) : Word{0},
      is_signed ? kTopBit<Word> : Word{0},
  };
  const size_t chunks = chunks_for(pool);
  for_chunks(call.count, chunks, pool, [&](size_t, size_t start, size_t end) {
    for (size_t i = start; i < end; ++i) words[i] = mapping.to_word(array[i]);
  });
  // The array itself is the scratch.
  const Word* const sorted = radix_sort_to_either(words, array, call.count, 0, pool);
  for_chunks(call.count, chunks, pool, [&](size_t, size_t start, size_t end) {
    for (size_t i = start; i < end; ++i) array[i] = mapping.from_word(sorted[i]);
  });
  return true;
}

}  // namespace

bool sort_numbers(const Call& call, const Key& key, Workspace& workspace, ThreadPool* pool) {
  if (key.type == KeyType::f64) return sort<uint64_t, true>(call, key, workspace, pool);
  if (key.type == KeyType::f32) return sort<uint32_t, true>(call, key, workspace, pool);
  if (key.length == 8) return sort<uint64_t, false>(call, key, workspace, pool);
  return sort<uint32_t, false>(call, key, workspace, pool);
}

}  // namespace hoist::qsort
