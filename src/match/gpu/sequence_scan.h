// One lane's part of the scan of anything: symbols of 16 or 32 bits, in tiles or contiguous, states
// of any length. A lane takes one pattern, one strip of the state (64 symbols) after the other. The
// same code runs on a GPU (scan.cu) and, lane by lane, on the CPU device.
#pragma once

#include <cstdint>

#include "match/gpu/bit_steps.h"
#include "match/gpu/scan_job.h"

namespace hoist::match {

inline constexpr uint32_t kStripSymbols = 64;

HOIST_HD constexpr uint32_t strips_of(uint32_t state_length) {
  return (state_length + kStripSymbols - 1) / kStripSymbols;
}

HOIST_HD inline uint32_t strip_slot(uint32_t id) {
  return id * 0x9E37'79B1u >> (32 - kStripSlotBits);
}

// At most a quarter of the slots are taken, so the search ends.
HOIST_HD inline uint64_t strip_mask(const Strip& strip, uint32_t id) {
  uint32_t slot = strip_slot(id);
  while (strip.keys[slot] != id) {
    if (strip.keys[slot] == kNoSymbol) return 0;
    slot = (slot + 1) % kStripSlots;
  }
  return strip.masks[slot];
}

// A pattern of a run: where its symbols begin, and how far apart they are.
struct SequencePlace {
  uint64_t begin;
  uint32_t stride;
};
HOIST_HD inline SequencePlace sequence_place(const ScanRun& run, uint32_t place) {
  if (run.is_tiled == 0) return {run.first_symbol + uint64_t{place} * run.length, 1};
  return {run.first_symbol + uint64_t{place / kLanes} * kLanes * run.length + place % kLanes,
          kLanes};
}

// Takes one strip; `raw` is the count so far. `carries` is this thread's byte of row 0; those of
// the other rows follow `threads` apart. A state of one strip needs none.
template <typename StripSteps, typename Symbol>
HOIST_HD void scan_strip(const Symbol* at, uint32_t stride, uint32_t length, const Strip& table,
                         uint32_t state_length, uint32_t strip, uint8_t* carries, uint32_t threads,
                         uint32_t& raw) {
  const uint32_t strips = strips_of(state_length);
  const bool is_last = strip + 1 == strips;
  const uint32_t strip_length = is_last ? state_length - strip * kStripSymbols : kStripSymbols;
  StripSteps steps(strip_length, is_last);
  for (uint32_t row = 0; row < length; ++row) {
    const uint64_t mask = strip_mask(table, at[uint64_t{row} * stride]);
    const uint64_t kept = uint64_t{row} * threads;
    const uint32_t carry = strip == 0 ? StripSteps::kFirstCarry : carries[kept];
    const uint32_t carried = steps.take(mask, carry);
    if (!is_last) carries[kept] = static_cast<uint8_t>(carried);
  }
  raw += steps.added();
}

}  // namespace hoist::match
