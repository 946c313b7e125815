#include "match/gpu/scan_plan.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "match/gpu/sequence_scan.h"
#include "match/gpu/slot_table.h"
#include "match/scan/query_tables.h"
#include "match/segment_view.h"

namespace hoist::match {
namespace {

static_assert(kLanes == kTileWidth);
static_assert(kNoSymbol == kAbsentId && kNoKey == QueryTables::kNoKey);

// Longer patterns are scanned apart: their carries leave room for fewer threads.
constexpr uint32_t kLongRun = 1024;
constexpr uint64_t kMostThreads = 1 << 18;  // more than any GPU runs at once
constexpr uint32_t kTableAlignment = 8;

int32_t most_distance(uint32_t n, uint32_t m, double threshold) {
  const auto enough = [&](uint32_t distance) {
    return reaches(Scorer::levenshtein, distance, n, m, threshold);
  };
  // Every operation rounds monotonically, so `enough` is monotone.
  uint32_t low = 0;
  uint32_t high = std::max(n, m);
  if (!enough(low)) return kNoDistance;
  while (low < high) {
    const uint32_t middle = low + (high - low + 1) / 2;
    if (enough(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return static_cast<int32_t>(low);
}

SlotWidth width_of(size_t length) {
  if (length <= NarrowTable<1>::kSymbols) return SlotWidth::narrow;
  return length <= MediumTable<1>::kSymbols ? SlotWidth::medium : SlotWidth::wide;
}

void fill_strip(std::span<const uint32_t> ids, Strip& strip) {
  std::fill(std::begin(strip.keys), std::end(strip.keys), kNoSymbol);
  std::fill(std::begin(strip.masks), std::end(strip.masks), 0);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == kAbsentId) continue;
    uint32_t slot = strip_slot(ids[i]);
    while (strip.keys[slot] != ids[i] && strip.keys[slot] != kNoSymbol) {
      slot = (slot + 1) % kStripSlots;
    }
    strip.keys[slot] = ids[i];
    strip.masks[slot] |= uint64_t{1} << i;
  }
}

// A table of one copy (slot_table.h) whose slots hold key and mask in one word.
template <typename Table>
void fill_keyed(std::span<const uint32_t> ids, uint32_t multiplier, uint32_t bits,
                std::byte* table) {
  using Word = typename Table::Word;
  constexpr uint32_t kKeyAt = Table::kSymbols;
  std::vector<Word> slots(size_t{1} << bits, Word{kNoKey} << kKeyAt);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == kAbsentId) continue;
    Word& slot = slots[slot_of(ids[i], multiplier, bits)];
    slot = (slot & Table::kMask) | Word{ids[i]} << kKeyAt | Word{1} << i;
  }
  std::memcpy(table, slots.data(), slots.size() * sizeof(Word));
}

void fill_wide(std::span<const uint32_t> ids, uint32_t multiplier, uint32_t bits,
               std::byte* table) {
  std::vector<uint64_t> masks(size_t{1} << bits);
  std::vector<uint32_t> keys(size_t{1} << bits, kNoKey << 16);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == kAbsentId) continue;
    const uint32_t slot = slot_of(ids[i], multiplier, bits);
    keys[slot] = ids[i] << 16;
    masks[slot] |= uint64_t{1} << i;
  }
  std::memcpy(table, masks.data(), masks.size() * sizeof(uint64_t));
  std::memcpy(table + masks.size() * sizeof(uint64_t), keys.data(), keys.size() * sizeof(uint32_t));
}

uint32_t slot_bytes(SlotWidth width) {
  switch (width) {
    case SlotWidth::narrow:
      return NarrowTable<1>::kSlotBytes;
    case SlotWidth::medium:
      return MediumTable<1>::kSlotBytes;
    case SlotWidth::wide:
      break;
  }
  return WideTable<1>::kSlotBytes;
}

void fill_slots(SlotWidth width, std::span<const uint32_t> ids, uint32_t multiplier, uint32_t bits,
                std::byte* table) {
  switch (width) {
    case SlotWidth::narrow:
      return fill_keyed<NarrowTable<1>>(ids, multiplier, bits, table);
    case SlotWidth::medium:
      return fill_keyed<MediumTable<1>>(ids, multiplier, bits, table);
    case SlotWidth::wide:
      return fill_wide(ids, multiplier, bits, table);
  }
}

}  // namespace

Count count_of(Scorer scorer) {
  return scorer == Scorer::levenshtein ? Count::distance : Count::lcs;
}

Base base_of(Scorer scorer) {
  return scorer == Scorer::lcs || scorer == Scorer::levenshtein ? Base::longer : Base::both;
}

int32_t limit_of(Scorer scorer, uint32_t n, uint32_t m, double threshold) {
  if (scorer == Scorer::levenshtein) return most_distance(n, m, threshold);
  const auto least = least_lcs(scorer, n, m, threshold);
  return least ? static_cast<int32_t>(*least) : kNoLcs;
}

// A state with its perfect hash, which holds for more bits as well.
struct ScanPlan::SlotTables {
  uint32_t state;
  uint32_t multiplier;
  uint32_t bits;
};

ScanPlan::ScanPlan(std::span<const ScanRun> runs, bool is_wide, std::span<const ScanState> states,
                   Scorer scorer)
    : runs_(runs), states_(states), scorer_(scorer), is_wide_(is_wide) {
  std::vector<SlotTables> slots[3];  // by width
  std::vector<uint32_t> in_slots;
  std::vector<uint32_t> in_strips;
  QueryTables tables;
  for (uint32_t s = 0; s < states.size(); ++s) {
    const std::vector<uint32_t>& ids = states[s].ids;
    if (!is_wide && ids.size() <= WideTable<1>::kSymbols) fill_tables(ids, tables);
    if (is_wide || ids.size() > WideTable<1>::kSymbols || tables.slot_bits == 0) {
      in_strips.push_back(s);
      continue;
    }
    slots[static_cast<size_t>(width_of(ids.size()))].push_back(
        {s, tables.multiplier, tables.slot_bits});
    in_slots.push_back(s);
  }
  for (const SlotWidth width : {SlotWidth::narrow, SlotWidth::medium, SlotWidth::wide}) {
    plan_tiles(slots[static_cast<size_t>(width)], width);
  }
  plan_sequences([](const ScanRun& run) { return run.is_tiled == 0; }, in_slots);
  plan_sequences([](const ScanRun& run) { return run.length <= kLongRun; }, in_strips);
  plan_sequences([](const ScanRun& run) { return run.length > kLongRun; }, in_strips);
}

template <typename T>
uint64_t ScanPlan::place(std::span<const T> values) {
  const uint64_t at = (bytes_.size() + kTableAlignment - 1) / kTableAlignment * kTableAlignment;
  bytes_.resize(at + values.size_bytes());
  if (!values.empty()) std::memcpy(bytes_.data() + at, values.data(), values.size_bytes());
  return at;
}

const std::vector<int32_t>& ScanPlan::limits(const ScanState& state) {
  auto& limits = limits_[{state.ids.size(), state.threshold}];
  if (limits.size() == runs_.size()) return limits;
  const auto m = static_cast<uint32_t>(state.ids.size());
  for (const ScanRun& run : runs_) {
    limits.push_back(limit_of(scorer_, run.length, m, state.threshold));
  }
  return limits;
}

// The runs that some of the states may match.
template <typename Filter>
ScanPlan::PlacedRuns ScanPlan::place_runs(const Filter& filter, std::span<const uint32_t> states,
                                          uint32_t patterns_of_group) {
  const Count count = count_of(scorer_);
  std::vector<uint32_t> wanted;
  for (uint32_t r = 0; r < runs_.size(); ++r) {
    if (!filter(runs_[r])) continue;
    const bool is_wanted = std::any_of(states.begin(), states.end(), [&](uint32_t s) {
      return !none_matches(count, limits(states_[s])[r]);
    });
    if (is_wanted) wanted.push_back(r);
  }
  PlacedRuns placed;
  std::vector<ScanRun> runs;
  for (const uint32_t r : wanted) {
    ScanRun& run = runs.emplace_back(runs_[r]);
    run.first_group = placed.groups;
    placed.groups +=
        static_cast<uint32_t>((uint64_t{run.count} + patterns_of_group - 1) / patterns_of_group);
  }
  std::vector<int32_t> all_limits;
  for (const uint32_t s : states) {
    for (const uint32_t r : wanted) all_limits.push_back(limits(states_[s])[r]);
  }
  placed.count = static_cast<uint32_t>(runs.size());
  placed.runs = place<ScanRun>(runs);
  placed.limits = place<int32_t>(all_limits);
  return placed;
}

void ScanPlan::plan_tiles(std::span<const SlotTables> tables, SlotWidth width) {
  if (tables.empty()) return;
  std::vector<uint32_t> numbers;
  uint32_t bits = 0;
  for (const SlotTables& table : tables) {
    numbers.push_back(table.state);
    bits = std::max(bits, table.bits);
  }
  TileScan scan;
  scan.runs = place_runs([](const ScanRun& run) { return run.is_tiled != 0; }, numbers,
                         kGroupTiles * kLanes);
  if (scan.runs.groups == 0) return;
  const uint32_t table_bytes = slot_bytes(width) << bits;
  std::vector<SlotState> states;
  std::vector<std::byte> filled(tables.size() * size_t{table_bytes});
  for (uint32_t i = 0; i < tables.size(); ++i) {
    const std::vector<uint32_t>& ids = states_[tables[i].state].ids;
    states.push_back({tables[i].state, static_cast<uint32_t>(ids.size()), tables[i].multiplier,
                      i * table_bytes});
    fill_slots(width, ids, tables[i].multiplier, bits, filled.data() + size_t{i} * table_bytes);
  }
  scan.states = place<SlotState>(states);
  scan.state_count = static_cast<uint32_t>(states.size());
  scan.width = width;
  scan.slot_bits = bits;
  scan.tables = place<std::byte>(filled);
  tile_scans_.push_back(scan);
}

template <typename Filter>
void ScanPlan::plan_sequences(const Filter& filter, std::span<const uint32_t> states) {
  if (states.empty()) return;
  SequenceScan scan;
  scan.runs = place_runs(filter, states, kLanes);
  if (scan.runs.groups == 0) return;
  std::vector<StripState> placed;
  std::vector<Strip> strips;
  bool has_several = false;
  for (const uint32_t s : states) {
    const std::span<const uint32_t> ids = states_[s].ids;
    placed.push_back({s, static_cast<uint32_t>(ids.size()), static_cast<uint32_t>(strips.size())});
    for (size_t at = 0; at < ids.size(); at += kStripSymbols) {
      fill_strip(ids.subspan(at, std::min<size_t>(kStripSymbols, ids.size() - at)),
                 strips.emplace_back());
    }
    has_several = has_several || ids.size() > kStripSymbols;
  }
  scan.states = place<StripState>(placed);
  scan.state_count = static_cast<uint32_t>(placed.size());
  scan.strips = place<Strip>(strips);
  scan.carry_rows = 0;
  if (has_several) {
    for (const ScanRun& run : runs_) {
      if (filter(run)) scan.carry_rows = std::max(scan.carry_rows, run.length);
    }
  }
  sequence_scans_.push_back(scan);
}

uint32_t ScanPlan::threads_of(const SequenceScan& scan, uint64_t carry_bytes) {
  const uint64_t items = uint64_t{scan.runs.groups} * kLanes * scan.state_count;
  const uint64_t threads =
      std::min({kMostThreads, items, carry_bytes / std::max(1u, scan.carry_rows)});
  return static_cast<uint32_t>(std::max<uint64_t>(1, threads / kSequenceThreads)) *
         kSequenceThreads;
}

uint64_t ScanPlan::carry_bytes(uint64_t most) const {
  uint64_t bytes = 0;
  for (const SequenceScan& scan : sequence_scans_) {
    bytes = std::max(bytes, uint64_t{scan.carry_rows} * threads_of(scan, most));
  }
  return bytes;
}

ScanRuns ScanPlan::bind(const PlacedRuns& runs, const std::byte* base) const {
  return {reinterpret_cast<const ScanRun*>(base + runs.runs), runs.count, runs.groups,
          reinterpret_cast<const int32_t*>(base + runs.limits)};
}

std::vector<TileScanJob> ScanPlan::tile_jobs(const std::byte* base, const void* symbols,
                                             const ScanOutput& output) const {
  std::vector<TileScanJob> jobs;
  for (const TileScan& scan : tile_scans_) {
    jobs.push_back({static_cast<const uint16_t*>(symbols), bind(scan.runs, base),
                    reinterpret_cast<const SlotState*>(base + scan.states), scan.state_count,
                    scan.width, scan.slot_bits,
                    reinterpret_cast<const unsigned char*>(base + scan.tables), count_of(scorer_),
                    output});
  }
  return jobs;
}

std::vector<SequenceScanJob> ScanPlan::sequence_jobs(const std::byte* base, const void* symbols,
                                                     const ScanOutput& output,
                                                     std::span<uint8_t> carries) const {
  std::vector<SequenceScanJob> jobs;
  for (const SequenceScan& scan : sequence_scans_) {
    jobs.push_back({symbols, is_wide_ ? 1u : 0u, bind(scan.runs, base),
                    reinterpret_cast<const StripState*>(base + scan.states), scan.state_count,
                    reinterpret_cast<const Strip*>(base + scan.strips),
                    scan.carry_rows != 0 ? carries.data() : nullptr,
                    threads_of(scan, carries.size()), count_of(scorer_), output});
  }
  return jobs;
}

}  // namespace hoist::match
