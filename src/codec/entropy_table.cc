#include "codec/entropy_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/bytes.h"

namespace hoist::codec {
namespace {

constexpr uint32_t kMostCodes = 255;  // of pairs: the 256th tag is the escape's
constexpr double kLiteralBits = 16;
constexpr double kPairsMayCost = 1.004;  // of what singles cost: half the steps are worth that

struct Weight {
  uint16_t value;
  uint64_t count;
};

// Values that occur, most frequent first; equals by value, so that a table is a function of its
// histogram alone.
std::vector<Weight> by_weight(std::span<const uint64_t> counts) {
  std::vector<Weight> weights;
  for (size_t value = 0; value < counts.size(); ++value) {
    if (counts[value] != 0) weights.push_back({static_cast<uint16_t>(value), counts[value]});
  }
  std::stable_sort(weights.begin(), weights.end(),
                   [](const Weight& a, const Weight& b) { return a.count > b.count; });
  return weights;
}

// What one more slot saves a code that has `frequency` slots, in bits.
double slot_gain(double weight, uint32_t frequency) {
  return weight * std::log2((frequency + 1.0) / frequency);
}

// Frequencies of at least 1 that add up to kRansSlots: rounded, then one slot at a time to where it
// gains most or from where it costs least, until their sum is right and no exchange pays. That is
// the optimum, because the cost is convex in each frequency.
std::vector<uint32_t> normalise(std::span<const double> weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<uint32_t> frequencies(weights.size());
  std::vector<double> gains(weights.size());   // of one slot more
  std::vector<double> losses(weights.size());  // of one slot less; the last one stays
  const auto set = [&](size_t i, uint32_t frequency) {
    frequencies[i] = frequency;
    gains[i] = slot_gain(weights[i], frequency);
    losses[i] = frequency == 1 ? INFINITY : slot_gain(weights[i], frequency - 1);
  };
  int64_t missing = kRansSlots;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double share = std::round(weights[i] / total * kRansSlots);
    set(i, static_cast<uint32_t>(std::clamp(share, 1.0, static_cast<double>(kRansSlots - 1))));
    missing -= frequencies[i];
  }
  for (;;) {
    const auto most = std::max_element(gains.begin(), gains.end());
    const auto least = std::min_element(losses.begin(), losses.end());
    if (missing == 0 && *most <= *least) return frequencies;
    const size_t to = static_cast<size_t>(most - gains.begin());
    const size_t from = static_cast<size_t>(least - losses.begin());
    const int64_t change = missing;
    if (change >= 0) set(to, frequencies[to] + 1);
    if (change <= 0) set(from, frequencies[from] - 1);
    missing -= (change > 0) - (change < 0);
  }
}

struct Plan {
  std::vector<EntropyCode> codes;
  double bits = INFINITY;  // for the whole histogram
};

// The `kept` most frequent values have codes; an escape stands for the others, if there may be any.
Plan plan_codes(std::span<const Weight> weights, size_t kept, bool escape) {
  std::vector<double> shares;
  for (const Weight& weight : weights.first(kept)) {
    shares.push_back(static_cast<double>(weight.count));
  }
  double escaped = 0;
  for (const Weight& weight : weights.subspan(kept)) escaped += static_cast<double>(weight.count);
  if (escape) shares.push_back(escaped);
  const std::vector<uint32_t> frequencies = normalise(shares);
  Plan plan;
  plan.bits = escaped * kLiteralBits;
  for (size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] > 0) plan.bits += shares[i] * std::log2(double{kRansSlots} / frequencies[i]);
    if (i < kept) {
      plan.codes.push_back({weights[i].value, static_cast<uint16_t>(frequencies[i])});
    }
  }
  std::sort(plan.codes.begin(), plan.codes.end(),
            [](const EntropyCode& a, const EntropyCode& b) { return a.value < b.value; });
  return plan;
}

Plan plan_singles(std::span<const uint64_t, 256> singles) {
  const std::vector<Weight> weights = by_weight(singles);
  if (weights.empty()) return {};
  return plan_codes(weights, weights.size(), weights.size() < 256);
}

// How many pairs deserve a code is a trade: each costs at least 1/4096 of the slots.
Plan plan_pairs(const SymbolHistogram& histogram) {
  const std::vector<Weight> weights = by_weight(histogram.pairs());
  const size_t most = std::min<size_t>(weights.size(), kMostCodes);
  constexpr size_t kStep = 16;
  Plan best;
  for (size_t kept = std::min(most, kStep); kept != 0;) {
    if (Plan plan = plan_codes(weights, kept, true); plan.bits < best.bits) best = std::move(plan);
    if (kept == most) break;
    kept = std::min(most, kept + kStep);
  }
  return best;
}

void write_varint(uint32_t value, ByteWriter& to) {
  for (; value >= 0x80; value >>= 7) to.write(static_cast<uint8_t>(value | 0x80));
  to.write(static_cast<uint8_t>(value));
}

// At most three bytes, no longer than needed; 2^21 stands for anything else.
uint32_t read_varint(ByteReader& from) {
  constexpr uint32_t kBad = 1u << 21;
  uint32_t value = 0;
  for (int shift = 0; shift < 21; shift += 7) {
    const uint8_t byte = from.read<uint8_t>();
    value |= (byte & 0x7fu) << shift;
    if (byte < 0x80) return byte == 0 && shift != 0 ? kBad : value;
  }
  return kBad;
}

auto corrupt(std::string_view what) {
  return fail(ErrorCode::corrupt, fmt::format("entropy table: {}", what));
}

auto nothing_counted() {
  return fail(ErrorCode::invalid_argument, "entropy table (empty histogram): count symbols first");
}

}  // namespace

EntropyTable::EntropyTable(std::vector<EntropyCode> codes, uint32_t symbols_per_code)
    : codes_(std::move(codes)), escape_frequency_(kRansSlots), padding_(0) {
  auto decode = std::make_shared<RansDecodeTable>();
  decode->symbols_per_code = symbols_per_code;
  decode->escape = kRansNoEscape;
  uint32_t start = 0;
  uint32_t best = 0;
  encode_.assign(symbols_per_code == 1 ? 1 << 8 : 1 << 16, 0);
  const auto place = [&](uint32_t frequency, uint32_t tag) {
    for (uint32_t i = 0; i < frequency; ++i) {
      decode->slots[start + i] = rans_entry(frequency, i, tag);
    }
    start += frequency;
    return rans_entry(frequency, start - frequency, tag);
  };
  for (uint32_t i = 0; i < codes_.size(); ++i) {
    const EntropyCode code = codes_[i];
    if (symbols_per_code == 2) decode->pairs[i] = code.value;
    encode_[code.value] = place(code.frequency, symbols_per_code == 1 ? code.value : i);
    if (code.frequency > best) {
      best = code.frequency;
      padding_ = code.value;
    }
  }
  escape_frequency_ = kRansSlots - start;
  if (escape_frequency_ != 0) {
    // A tag that no code has: codes are distinct and fewer than 256.
    uint32_t tag = 0;
    while (tag < codes_.size() && (symbols_per_code == 2 || codes_[tag].value == tag)) ++tag;
    decode->escape = tag;
    const uint32_t entry = place(escape_frequency_, tag);
    std::replace(encode_.begin(), encode_.end(), 0u, entry);
  }
  decode_ = std::move(decode);
}

Result<EntropyTable> EntropyTable::build(const SymbolHistogram& histogram) {
  if (histogram.total() == 0) return nothing_counted();
  Plan singles = plan_singles(histogram.singles());
  Plan pairs = plan_pairs(histogram);
  if (pairs.bits <= kPairsMayCost * singles.bits) return EntropyTable(std::move(pairs.codes), 2);
  return EntropyTable(std::move(singles.codes), 1);
}

Result<EntropyTable> EntropyTable::build(const SymbolHistogram& histogram,
                                         uint32_t symbols_per_code) {
  if (symbols_per_code != 1 && symbols_per_code != 2) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("entropy table ({} symbols a code): 1 or 2", symbols_per_code));
  }
  if (symbols_per_code == 1) return build(histogram.singles());
  Plan plan = plan_pairs(histogram);
  if (plan.codes.empty()) return nothing_counted();
  return EntropyTable(std::move(plan.codes), 2);
}

Result<EntropyTable> EntropyTable::build(std::span<const uint64_t, 256> singles) {
  Plan plan = plan_singles(singles);
  if (plan.codes.empty()) return nothing_counted();
  return EntropyTable(std::move(plan.codes), 1);
}

Result<EntropyTable> EntropyTable::parse(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  const uint32_t symbols_per_code = in.read<uint8_t>();
  if (symbols_per_code != 1 && symbols_per_code != 2) return corrupt("unknown kind");
  const uint32_t count = read_varint(in);
  if (count > (symbols_per_code == 1 ? 256 : kMostCodes)) return corrupt("too many codes");
  std::vector<EntropyCode> codes;
  uint32_t next_value = 0;
  uint32_t slots = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t value = next_value + read_varint(in);
    const uint32_t frequency = read_varint(in) + 1;
    if (value >= (symbols_per_code == 1 ? 1u << 8 : 1u << 16)) return corrupt("value out of range");
    slots += frequency;
    if (frequency >= kRansSlots || slots > kRansSlots) return corrupt("more than 4096 slots");
    codes.push_back({static_cast<uint16_t>(value), static_cast<uint16_t>(frequency)});
    next_value = value + 1;
  }
  if (!in.ok() || in.remaining() != 0) return corrupt("wrong size");
  // Every value must be codable: all 256 symbols have a code, or there is an escape.
  const bool all_symbols = symbols_per_code == 1 && count == 256;
  if (all_symbols != (slots == kRansSlots) || count == 0) return corrupt("wrong sum of slots");
  return EntropyTable(std::move(codes), symbols_per_code);
}

std::string EntropyTable::serialise() const {
  ByteWriter out;
  out.write(static_cast<uint8_t>(symbols_per_code()));
  write_varint(static_cast<uint32_t>(codes_.size()), out);
  uint32_t next_value = 0;
  for (const EntropyCode code : codes_) {
    write_varint(code.value - next_value, out);
    write_varint(code.frequency - 1u, out);
    next_value = code.value + 1u;
  }
  return out.bytes();
}

double EntropyTable::cost(const SymbolHistogram& histogram) const {
  const uint64_t total = histogram.total();
  if (total == 0) return 0;
  const std::array<uint64_t, 256> singles = histogram.singles();
  const std::span<const uint64_t> counts =
      symbols_per_code() == 1 ? std::span<const uint64_t>(singles) : histogram.pairs();
  double bits = 0;
  for (size_t value = 0; value < counts.size(); ++value) {
    if (counts[value] == 0) continue;
    const uint32_t entry = encode_[value];
    const bool escaped = rans_tag(entry) == decode_->escape;
    bits += static_cast<double>(counts[value]) *
            (std::log2(double{kRansSlots} / rans_frequency(entry)) + (escaped ? kLiteralBits : 0));
  }
  return bits / static_cast<double>(total);
}

}  // namespace hoist::codec
