#include "records/gpu/decode_on_host.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "records/gpu/decode.h"
#include "records/prediction.h"

namespace hoist::records {
namespace {

using codec::kRansGroupSymbols;
using codec::kRansLanes;

// One tile, lane after lane at each step (docs/reference/entropy.md).
class TileDecoder {
 public:
  explicit TileDecoder(const SymbolJob& job) : job_(job) {
    uint32_t start = 0;
    const auto place = [&](uint32_t frequency, uint32_t tag) {
      for (uint32_t i = 0; i < frequency; ++i) {
        slots_[start + i] = codec::rans_entry(frequency, i, tag);
      }
      start += frequency;
    };
    for (unsigned symbol = 0; symbol < 256; ++symbol) place(job.table->frequencies[symbol], symbol);
    place(job.table->escape_frequency, job.table->escape);
    std::memcpy(states_, job.bytes, sizeof states_);
  }

  // Whether the tile ended as an encoder ends it.
  bool run() {
    for (uint32_t first = 0; first < job_.count; first += kRansGroupSymbols) {
      for (uint32_t step = 0; step < 4; ++step) take_step(first + step);
    }
    return std::all_of(states_, states_ + kRansLanes,
                       [](uint32_t state) { return state == codec::kRansLowerBound; }) &&
           at_ == (job_.size - codec::kRansHeaderBytes) / 2;
  }

 private:
  void take_step(uint32_t first) {
    bool escaped[kRansLanes];
    for (uint32_t lane = 0; lane < kRansLanes; ++lane) {
      uint32_t& state = states_[lane];
      const uint32_t entry = slots_[codec::rans_slot(state)];
      state = codec::rans_advance(state, entry);
      if (codec::rans_wants_word(state)) state = codec::rans_push_word(state, word());
      escaped[lane] = codec::rans_tag(entry) == job_.table->escape;
      put(first + 4 * lane, codec::rans_tag(entry));
    }
    for (uint32_t lane = 0; lane < kRansLanes; ++lane) {
      if (!escaped[lane]) continue;
      put(first + 4 * lane, codec::rans_literal(states_[lane]));
      states_[lane] = codec::rans_replace_literal(states_[lane], word());
    }
  }
  // Past the tile's end words are zero.
  uint32_t word() {
    const uint32_t at = codec::kRansHeaderBytes + 2 * at_++;
    uint16_t value = 0;
    if (at + sizeof value <= job_.size) std::memcpy(&value, job_.bytes + at, sizeof value);
    return value;
  }
  void put(uint32_t i, uint32_t symbol) {
    if (i < job_.count) job_.symbols[i] = static_cast<uint8_t>(symbol);
  }

  const SymbolJob& job_;
  uint32_t slots_[codec::kRansSlots] = {};
  uint32_t states_[kRansLanes];
  uint32_t at_ = 0;
};

uint64_t difference_at(const SequenceJob& job, uint32_t k, uint64_t& bits) {
  switch (job.coding) {
    case IntegerCoding::constant:
      return job.base;
    case IntegerCoding::raw:
      return static_cast<uint64_t>(from_zigzag(raw_at(job, k)));
    default:
      break;
  }
  const unsigned symbol = job.symbols == nullptr ? job.symbol : job.symbols[k];
  if (job.coding == IntegerCoding::entries) {
    return symbol < job.entry_count ? static_cast<uint64_t>(job.entries[symbol]) : 0;
  }
  const uint64_t low =
      low_bits_at(job.low_bits, std::min(bits, job.low_bytes * 8), token_bits(symbol));
  bits += token_bits(symbol);
  const uint64_t value = token_base(symbol) | low;
  return job.coding == IntegerCoding::zigzag ? static_cast<uint64_t>(from_zigzag(value))
                                             : value + job.base;
}

// The position before each one with the same code, or the one before it where there is none.
std::vector<uint32_t> positions_before(const SequenceJob& job) {
  std::vector<uint32_t> last(job.group_codes, kNoPosition);
  std::vector<uint32_t> before(job.count);
  for (uint32_t i = 0; i < job.count; ++i) {
    uint32_t& position = last[static_cast<size_t>(job.group[i])];
    before[i] = position != kNoPosition ? position : i == 0 ? 0 : i - 1;
    position = i;
  }
  return before;
}

}  // namespace

void decode_symbols_on_host(const SymbolJob& job, uint32_t* flags) {
  if (job.size == job.count) {
    std::copy(job.bytes, job.bytes + job.size, job.symbols);
  } else if (!TileDecoder(job).run()) {
    flags[job.flag] = 1;
  }
}

void decode_sequence_on_host(const SequenceJob& job, uint32_t* flags) {
  const std::span<int64_t> values(job.values, job.count);
  uint64_t bits = 0;
  if (job.stored != 0) values[0] = job.first;
  for (uint32_t i = job.stored; i < job.count; ++i) {
    values[i] = static_cast<int64_t>(difference_at(job, i - job.stored, bits));
  }
  const bool is_tokens = job.coding == IntegerCoding::tokens || job.coding == IntegerCoding::zigzag;
  bool bad = is_tokens && (bits + 7) / 8 != job.low_bytes;
  Sources sources = {.first = {job.a, job.a == nullptr ? 0 : job.count},
                     .second = {job.b, job.b == nullptr ? 0 : job.count},
                     .before = {},
                     .factor = job.factor};
  std::vector<uint32_t> before;
  if (job.group != nullptr) {
    before = positions_before(job);
    sources.before = before;
  }
  if (job.predictor == Predictor::product || job.predictor == Predictor::quotient) {
    for (uint32_t i = 0; i < job.count; ++i) {
      const int64_t predicted = job.predictor == Predictor::product
                                    ? scaled(job.a[i], job.b[i], job.factor)
                                    : scaled(job.a[i], job.factor, job.b[i]);
      values[i] = add_modulo(values[i], predicted);
    }
  } else {
    add_predictions(job.predictor, values, sources);
  }
  if (job.codes != 0) {
    for (int64_t& value : values) {
      if (static_cast<uint64_t>(value) < job.codes) continue;
      value = 0;
      bad = true;
    }
  }
  if (bad) flags[job.flag] = 1;
}

void count_kept_on_host(const uint8_t* kept, uint64_t count, uint64_t* ranks) {
  uint64_t rank = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (i % kKeptChunk == 0) ranks[i / kKeptChunk] = rank;
    rank += kept[i] != 0 ? 1 : 0;
  }
  ranks[(count + kKeptChunk - 1) / kKeptChunk] = rank;
}

void gather_kept_on_host(const uint8_t* kept, uint64_t count, const void* from, unsigned bytes,
                         void* to) {
  const auto* in = static_cast<const std::byte*>(from);
  auto* out = static_cast<std::byte*>(to);
  for (uint64_t i = 0; i < count; ++i, in += bytes) {
    if (kept[i] == 0) continue;
    std::memcpy(out, in, bytes);
    out += bytes;
  }
}

}  // namespace hoist::records
