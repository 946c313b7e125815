#include "codec/rans.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace hoist::codec {
namespace {

uint32_t load_word(const std::byte* at) {
  uint16_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

constexpr uint32_t kEscaped = 1u << 16;

// One step of all lanes: values[l] becomes the tag of lane l, or the escaped value with kEscaped.
// Gives where the next word is.
const std::byte* decode_step(const RansDecodeTable& table, const std::byte* at,
                             uint32_t (&states)[kRansLanes], uint32_t (&values)[kRansLanes]) {
  bool any_escaped = false;
  for (uint32_t lane = 0; lane < kRansLanes; ++lane) {
    const uint32_t entry = table.slots[rans_slot(states[lane])];
    const uint32_t state = rans_advance(states[lane], entry);
    // By arithmetic, because no branch predictor knows whether a word is wanted.
    const uint32_t wanted = rans_wants_word(state);
    const uint32_t mask = 0u - wanted;
    states[lane] = state << (kRansWordBits * wanted) | (load_word(at) & mask);
    at += 2 * wanted;
    values[lane] = rans_tag(entry);
    any_escaped |= rans_tag(entry) == table.escape;
  }
  if (!any_escaped) return at;
  for (uint32_t lane = 0; lane < kRansLanes; ++lane) {
    if (values[lane] != table.escape) continue;
    values[lane] = kEscaped | rans_literal(states[lane]);
    states[lane] = rans_replace_literal(states[lane], load_word(at));
    at += 2;
  }
  return at;
}

template <uint32_t kSymbolsPerCode>
RansProgress decode_groups(const RansDecodeTable& table, const std::byte* words, size_t limit,
                           uint32_t (&states)[kRansLanes], size_t groups, uint8_t* symbols) {
  const std::byte* at = words;
  const std::byte* const last = words + 2 * limit;
  size_t done = 0;
  for (; done < groups && at <= last; ++done) {
    uint8_t* const group = symbols + done * kRansGroupSymbols;
    for (uint32_t step = 0; step < 4; step += kSymbolsPerCode) {
      uint32_t values[kRansLanes];
      at = decode_step(table, at, states, values);
      for (uint32_t lane = 0; lane < kRansLanes; ++lane) {
        if constexpr (kSymbolsPerCode == 1) {
          group[lane * 4 + step] = static_cast<uint8_t>(values[lane]);
        } else {
          const uint16_t pair = (values[lane] & kEscaped) != 0 ? static_cast<uint16_t>(values[lane])
                                                               : table.pairs[values[lane]];
          group[lane * 4 + step] = static_cast<uint8_t>(pair);
          group[lane * 4 + step + 1] = static_cast<uint8_t>(pair >> 8);
        }
      }
    }
  }
  return {static_cast<size_t>(at - words) / 2, done};
}

// Backwards, so everything is in the opposite order of decode_step().
template <uint32_t kSymbolsPerCode>
uint16_t* encode_groups(std::span<const uint32_t> encode_table, const RansDecodeTable& table,
                        const uint8_t* symbols, size_t groups, uint32_t (&states)[kRansLanes],
                        uint16_t* floor, uint16_t* end) {
  uint16_t* at = end;
  for (size_t g = groups; g-- != 0;) {
    if (at - floor < static_cast<ptrdiff_t>(kRansMaxGroupWords)) return nullptr;
    const uint8_t* const group = symbols + g * kRansGroupSymbols;
    for (uint32_t step = 4; step != 0;) {
      step -= kSymbolsPerCode;
      uint32_t entries[kRansLanes];
      for (uint32_t lane = kRansLanes; lane-- != 0;) {
        const uint8_t* const from = group + lane * 4 + step;
        const uint32_t value = kSymbolsPerCode == 1 ? from[0] : from[0] | uint32_t{from[1]} << 8;
        entries[lane] = encode_table[value];
        if (rans_tag(entries[lane]) == table.escape) {
          *--at = static_cast<uint16_t>(states[lane]);
          states[lane] = rans_replace_literal(states[lane], value);
        }
      }
      for (uint32_t lane = kRansLanes; lane-- != 0;) {
        uint32_t state = states[lane];
        const uint32_t frequency = rans_frequency(entries[lane]);
        // Without a branch, as above. The word below `at` is scratch while it is not taken.
        const bool emitted = state >> (32 - kRansSlotBits) >= frequency;
        at[-1] = static_cast<uint16_t>(state);
        at -= emitted;
        state = emitted ? state >> kRansWordBits : state;
        states[lane] =
            (state / frequency << kRansSlotBits) + state % frequency + rans_offset(entries[lane]);
      }
    }
  }
  return at;
}

// Slowest first.
constexpr const RansImplementation* kImplementations[] = {&kRansPortable, &kRansAvx2, &kRansAvx512};

}  // namespace

constinit const RansImplementation kRansPortable = {"portable",
                                                    [] { return true; },
                                                    {decode_groups<1>, decode_groups<2>},
                                                    {encode_groups<1>, encode_groups<2>}};

std::span<const RansImplementation* const> rans_implementations() { return kImplementations; }

const RansImplementation& best_rans() {
  static const RansImplementation& best = **std::find_if(
      std::rbegin(kImplementations), std::rend(kImplementations),
      [](const RansImplementation* implementation) { return implementation->supported(); });
  return best;
}

}  // namespace hoist::codec
