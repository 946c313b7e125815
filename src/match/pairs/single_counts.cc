#include "match/pairs/single_counts.h"

#include <array>
#include <utility>

namespace hoist::match {
namespace {

// Without a call where the processor's instruction cannot be taken for granted.
uint32_t ones(uint64_t bits) {
  bits -= bits >> 1 & 0x5555555555555555u;
  bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
  bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
  return static_cast<uint32_t>(bits * 0x0101010101010101u >> 56);
}

// match/score/edit_distance.h says after whom; here the number of words is known.
template <size_t kWords, typename Symbol>
uint32_t lcs_of(const uint64_t* masks, size_t /*length*/, std::span<const Symbol> other) {
  uint64_t state[kWords];
  for (uint64_t& word : state) word = ~uint64_t{0};
  for (const Symbol symbol : other) {
    const uint64_t* const mask = masks + size_t{symbol} * kWords;
    uint64_t carry = 0;
    for (size_t w = 0; w < kWords; ++w) {
      const uint64_t matches = state[w] & mask[w];
      uint64_t sum = 0;
      const bool overflow = __builtin_add_overflow(state[w], matches, &sum);
      const bool carried = __builtin_add_overflow(sum, carry, &sum);
      state[w] = sum | (state[w] - matches);
      carry = static_cast<uint64_t>(overflow | carried);
    }
  }
  uint32_t length = 0;
  for (const uint64_t word : state) length += ones(~word);
  return length;
}

template <size_t kWords, typename Symbol>
uint32_t levenshtein_of(const uint64_t* masks, size_t length, std::span<const Symbol> other) {
  if (length == 0) return static_cast<uint32_t>(other.size());
  uint64_t up[kWords];
  uint64_t down[kWords];
  for (size_t w = 0; w < kWords; ++w) {
    up[w] = ~uint64_t{0};
    down[w] = 0;
  }
  const size_t last_bit = (length - 1) % 64;
  auto distance = static_cast<uint32_t>(length);
  for (const Symbol symbol : other) {
    const uint64_t* const mask = masks + size_t{symbol} * kWords;
    uint64_t carried_up = 1;
    uint64_t carried_down = 0;
    for (size_t w = 0; w < kWords; ++w) {
      const uint64_t matches = mask[w] | carried_down;
      const uint64_t diagonal = (((matches & up[w]) + up[w]) ^ up[w]) | matches | down[w];
      uint64_t right_up = down[w] | ~(diagonal | up[w]);
      uint64_t right_down = diagonal & up[w];
      if (w + 1 == kWords) {
        distance += static_cast<uint32_t>(right_up >> last_bit & 1);
        distance -= static_cast<uint32_t>(right_down >> last_bit & 1);
      }
      const uint64_t next_up = right_up >> 63;
      const uint64_t next_down = right_down >> 63;
      right_up = right_up << 1 | carried_up;
      right_down = right_down << 1 | carried_down;
      carried_up = next_up;
      carried_down = next_down;
      up[w] = right_down | ~(diagonal | right_up);
      down[w] = right_up & diagonal;
    }
  }
  return distance;
}

template <size_t... kWordsLessOne>
constexpr auto kernels_of(std::index_sequence<kWordsLessOne...> /*words*/) {
  using Kernels = SingleCounts::Kernels;
  return std::array{std::array{Kernels{&lcs_of<kWordsLessOne + 1, uint32_t>,
                                       &lcs_of<kWordsLessOne + 1, uint8_t>}...},
                    std::array{Kernels{&levenshtein_of<kWordsLessOne + 1, uint32_t>,
                                       &levenshtein_of<kWordsLessOne + 1, uint8_t>}...}};
}
constexpr auto kKernels = kernels_of(std::make_index_sequence<SingleCounts::kMostWords>());

}  // namespace

SingleCounts::SingleCounts(PairCount count, std::span<const uint32_t> sequence, uint32_t distinct)
    : length_(sequence.size()),
      masks_(words_of(sequence.size()) * distinct),
      kernels_(kKernels[static_cast<size_t>(count)][words_of(sequence.size()) - 1]) {
  const size_t words = words_of(length_);
  for (size_t i = 0; i < length_; ++i) {
    masks_[sequence[i] * words + i / 64] |= uint64_t{1} << (i % 64);
  }
}

}  // namespace hoist::match
