// The fast loop of our DEFLATE decoders (RFC 1951): symbols of one block, far from the ends of the
// input and of the room for output. What is near an end, and everything between blocks, is each
// decoder's own, since there they differ (src/ops/gunzip, src/ops/inflate).
//
// What makes it fast, after libdeflate: a 64-bit bit buffer refilled with one unaligned load, which
// holds a whole match or three literals; table entries that say at once how many bits to drop,
// extra bits included; the next entry is loaded before the match is copied; matches are copied in
// words, past their end.
#pragma once

#include <emmintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "codec/deflate_codes.h"

namespace hoist::codec::deflate {

// Input bytes that one turn of the loop may take or look at.
inline constexpr ptrdiff_t kInputMargin = 32;
// Bytes that it may write behind `out_limit`: two literals, a match, and what a copy in words
// writes past its end.
inline constexpr ptrdiff_t kOutputMargin = 2 + 258 + 31;

struct LoopState {
  const uint8_t* in;  // the next byte that is not in `bits`
  const uint8_t* in_end;
  uint8_t* out;
  uint8_t* out_limit;            // with kOutputMargin bytes behind it
  const uint8_t* history_begin;  // how far back in the memory before `out` a match may reach
  uint64_t bits;                 // taken and not yet used, the next one lowest; zeros above `count`
  uint32_t count;                // at most 63
};

enum class LoopStop {
  buffers,  // an end is near
  end_of_block,
  invalid_symbol,    // of the literals and lengths; its code has been dropped
  invalid_distance,  // likewise
  too_far,           // copy_from_before() refused; the match has been dropped
};

namespace loop_detail {

inline uint64_t load64(const uint8_t* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

inline void store64(uint8_t* to, uint64_t word) { std::memcpy(to, &word, sizeof word); }

inline void copy16(uint8_t* to, const uint8_t* from) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                   _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

}  // namespace loop_detail

// A match within the memory before `to`; writes up to 31 bytes past the end.
inline void copy_match(uint8_t* to, size_t distance, size_t length) {
  const uint8_t* from = to - distance;
  uint8_t* const end = to + length;
  if (distance >= 16) {
    loop_detail::copy16(to, from);
    loop_detail::copy16(to + 16, from + 16);
    while (to += 32, from += 32, to < end) {
      loop_detail::copy16(to, from);
      loop_detail::copy16(to + 16, from + 16);
    }
  } else if (distance == 1) {
    const uint64_t word = 0x0101010101010101u * *from;
    do {
      loop_detail::store64(to, word);
      to += 8;
    } while (to < end);
  } else {
    // Steps of the distance where it is shorter than a word: the first bytes of each are right.
    const size_t step = distance < 8 ? distance : 8;
    do {
      loop_detail::store64(to, loop_detail::load64(from));
      to += step;
      from += step;
    } while (to < end);
  }
}

// Decodes until something of LoopStop happens. Matches that reach back beyond `history_begin` are
// left to copy_from_before(out, distance, length), which writes them and says whether it did; it
// may write 31 bytes more.
template <typename CopyFromBefore>
[[gnu::always_inline]] inline LoopStop decode_symbols(LoopState& state,
                                                      const LiteralTable& literal_table,
                                                      const DistanceTable& distance_table,
                                                      CopyFromBefore&& copy_from_before) {
  if (state.in_end - state.in <= kInputMargin || state.out >= state.out_limit) {
    return LoopStop::buffers;
  }
  const uint8_t* in = state.in;
  const uint8_t* const in_limit = state.in_end - kInputMargin;
  uint8_t* out = state.out;
  uint8_t* const out_limit = state.out_limit;
  const uint8_t* const history_begin = state.history_begin;
  const uint32_t* const literals = literal_table.entries.data();
  const uint32_t* const distances = distance_table.entries.data();
  uint64_t bits = state.bits;
  // Only the low 8 bits of `count` count: subtracting whole entries leaves rubbish above.
  uint32_t count = state.count;

  const auto refill = [&] {  // to at least 56 bits
    bits |= loop_detail::load64(in) << (count & 63);
    in += 7 - ((count >> 3) & 7);
    count |= 56;
  };
  const auto drop = [&](uint32_t entry) {
    bits >>= entry & 63;
    count -= entry;
  };
  const auto next_literal_entry = [&] {
    return literals[bits & ((1u << LiteralTable::kTableBits) - 1)];
  };
  const auto value_with_extra = [](uint32_t entry, uint64_t stream) {
    const uint64_t kept = stream & ((uint64_t{1} << (entry & 63)) - 1);
    return (entry >> 16) + static_cast<uint32_t>(kept >> entry_code_length(entry));
  };

  LoopStop stop = LoopStop::buffers;
  refill();
  uint32_t entry = next_literal_entry();
  do {
    uint64_t stream = bits;
    drop(entry);
    if (entry & kLiteral) {
      *out++ = static_cast<uint8_t>(entry >> 16);
      entry = next_literal_entry();
      stream = bits;
      drop(entry);
      if (entry & kLiteral) {
        *out++ = static_cast<uint8_t>(entry >> 16);
        entry = next_literal_entry();
        stream = bits;
        drop(entry);
        if (entry & kLiteral) {
          *out++ = static_cast<uint8_t>(entry >> 16);
          refill();
          entry = next_literal_entry();
          continue;
        }
      }
    }
    if (entry & kSpecial) [[unlikely]] {
      if (entry & kLink) {
        entry = literals[linked_index(entry, bits)];
        stream = bits;
        drop(entry);
        if (entry & kLiteral) {
          *out++ = static_cast<uint8_t>(entry >> 16);
          refill();
          entry = next_literal_entry();
          continue;
        }
      }
      if (entry & kSpecial) {
        stop = entry & kEndOfBlock ? LoopStop::end_of_block : LoopStop::invalid_symbol;
        break;
      }
    }
    const uint32_t length = value_with_extra(entry, stream);

    // A distance takes up to 28 bits, and the entry behind it is looked up before the next refill.
    if ((count & 63) < 28 + LiteralTable::kTableBits) [[unlikely]] {
      refill();
    }
    entry = distances[bits & ((1u << DistanceTable::kTableBits) - 1)];
    if (entry & kLink) [[unlikely]] {
      drop(entry);
      entry = distances[linked_index(entry, bits)];
    }
    stream = bits;
    drop(entry);
    if (entry & kSpecial) [[unlikely]] {
      stop = LoopStop::invalid_distance;
      break;
    }
    const uint32_t distance = value_with_extra(entry, stream);
    if (distance > static_cast<size_t>(out - history_begin)) [[unlikely]] {
      if (!copy_from_before(out, distance, length)) {
        stop = LoopStop::too_far;
        break;
      }
      entry = next_literal_entry();
      refill();
    } else {
      entry = next_literal_entry();
      refill();
      copy_match(out, distance, length);
    }
    out += length;
  } while (in < in_limit && out < out_limit);

  // Whole bytes go back, so that what follows sees the input as if it had been read byte by byte.
  count &= 0xff;
  const size_t unused = std::min<size_t>(count / 8, static_cast<size_t>(in - state.in));
  count -= static_cast<uint32_t>(8 * unused);
  state.in = in - unused;
  state.bits = bits & ((uint64_t{1} << count) - 1);
  state.count = count;
  state.out = out;
  return stop;
}

}  // namespace hoist::codec::deflate
