// The fast loop of the decoder. What makes it fast, after libdeflate: a 64-bit bit buffer refilled
// with one unaligned load, which holds a whole match or three literals; table entries that say at
// once how many bits to drop, extra bits included; the next entry is loaded before the match is
// copied; matches are copied in words, past their end.
#include <emmintrin.h>

#include <cstring>

#include "ops/gunzip/inflate.h"

namespace hoist::gunzip {
namespace {

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

// Writes up to 31 bytes past the end.
inline void copy_match(uint8_t* to, size_t distance, size_t length) {
  const uint8_t* from = to - distance;
  uint8_t* const end = to + length;
  if (distance >= 16) {
    // Most matches are short: no branch on how short.
    copy16(to, from);
    copy16(to + 16, from + 16);
    while (to += 32, from += 32, to < end) {
      copy16(to, from);
      copy16(to + 16, from + 16);
    }
  } else if (distance == 1) {
    const uint64_t word = 0x0101010101010101u * *from;
    do {
      store64(to, word);
      to += 8;
    } while (to < end);
  } else {
    // Steps of the distance where it is shorter than a word: the first bytes of each are right.
    const size_t step = distance < 8 ? distance : 8;
    do {
      store64(to, load64(from));
      to += step;
      from += step;
    } while (to < end);
  }
}

// Input bytes that one turn of the loop may take or look at.
constexpr ptrdiff_t kInputMargin = 32;

}  // namespace

[[gnu::always_inline]] inline Inflater::FastStop Inflater::fast_symbols_body() {
  if (input_.end - input_.next <= kInputMargin) return FastStop::buffers;
  const uint8_t* in = input_.next;
  const uint8_t* const in_limit = input_.end - kInputMargin;
  uint8_t* out = output_.next;
  uint8_t* const out_limit = output_.limit;
  const uint8_t* const history_begin = out - output_.reach();
  const uint32_t* const literals = literals_.entries.data();
  const uint32_t* const distances = distances_.entries.data();
  uint64_t bits = bits_.bits;
  // Only the low 8 bits of `count` count: subtracting whole entries leaves rubbish above.
  uint32_t count = bits_.count;

  const auto refill = [&] {  // to at least 56 bits
    bits |= load64(in) << (count & 63);
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

  FastStop stop = FastStop::buffers;
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
        stop = entry & kEndOfBlock ? FastStop::end_of_block : FastStop::invalid;
        break;
      }
    }
    const uint32_t length = value_with_extra(entry, stream);

    // A distance takes up to 28 bits, and the entry behind it is looked up before the next refill.
    if ((count & 63) < 28 + LiteralTable::kTableBits) [[unlikely]] {
      refill();
    }
    entry = distances[bits & ((1u << DistanceTable::kTableBits) - 1)];
    if (entry & kSpecial) [[unlikely]] {
      if (entry & kLink) {
        drop(entry);
        entry = distances[linked_index(entry, bits)];
      }
      if (entry & kSpecial) {
        stop = FastStop::invalid;
        break;
      }
    }
    stream = bits;
    drop(entry);
    const uint32_t distance = value_with_extra(entry, stream);

    entry = next_literal_entry();
    refill();
    if (distance > static_cast<size_t>(out - history_begin)) [[unlikely]] {
      output_.next = out;
      output_.copy_from_before(distance, length);
    } else {
      copy_match(out, distance, length);
    }
    out += length;
  } while (in < in_limit && out < out_limit);

  // Whole bytes go back, so that the careful loop sees the input as if it had read it itself.
  count &= 0xff;
  in -= count / 8;
  bits_.count = count % 8;
  bits_.bits = bits & ((1u << bits_.count) - 1);
  input_.next = in;
  output_.next = out;
  return stop;
}

Inflater::FastStop Inflater::fast_symbols() { return fast_symbols_body(); }

[[gnu::target("bmi,bmi2")]] Inflater::FastStop Inflater::fast_symbols_bmi2() {
  return fast_symbols_body();
}

}  // namespace hoist::gunzip
