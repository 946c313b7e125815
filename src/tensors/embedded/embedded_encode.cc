// Three passes: which symbols there are, then symbols, planes and errors chunk by chunk, at last
// the entropy coder over the symbols. Of elements of one byte the first pass counts pairs, which is
// all that the coder's table is made of, and their symbols are made tile by tile for the coder.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "codec/entropy.h"
#include "tensors/embedded/analysis.h"
#include "tensors/embedded/element_planes.h"
#include "tensors/embedded/embedded.h"
#include "tensors/embedded/prefix_quality.h"

namespace hoist::tensors {
namespace {

// What one thread takes at a time, and what errors are summed over: a multiple of every tile.
constexpr uint64_t kChunk = uint64_t{1} << 18;

// Pairs decode faster, but their table takes a kilobyte.
constexpr uint64_t kFewestForPairs = uint64_t{1} << 18;

// Symbols by magnitude where there are few magnitudes, else by class.
class SymbolMap {
 public:
  SymbolMap(const ElementFormat& format, const SymbolPlan& plan)
      : format_(format), of_class_(plan.symbol_of_class) {
    if (format.bits > 16) return;
    of_magnitude_.resize(format.magnitude_mask() + 1);
    for (uint64_t magnitude = 0; magnitude < of_magnitude_.size(); ++magnitude) {
      of_magnitude_[magnitude] = of_class_[format.class_of(magnitude)];
    }
    if (format.bits != 8) return;
    std::array<uint64_t, 256> of_byte{};
    for (size_t byte = 0; byte < of_byte.size(); ++byte) {
      of_byte[byte] = of_magnitude_[byte & format.magnitude_mask()];
    }
    of_byte_.emplace(of_byte, 256);
  }

  // The histogram of elements of one byte, whose pairs were counted.
  codec::SymbolHistogram histogram(const MagnitudeCounts& counts) const {
    codec::SymbolHistogram histogram;
    for (size_t pair = 0; pair < counts.pairs.size(); ++pair) {
      if (counts.pairs[pair] == 0) continue;
      histogram.add_pairs(of_magnitude_[pair & 0xff], of_magnitude_[pair >> 8], counts.pairs[pair]);
    }
    if (counts.odd) histogram.add_odd(of_magnitude_[*counts.odd]);
    return histogram;
  }

  void map(const std::byte* elements, size_t count, uint8_t* symbols) const {
    switch (format_.bits) {
      case 8:
        return map_bytes(elements, count, symbols);
      case 16:
        return map_words(elements, count, symbols);
      case 32:
        return map_wide<uint32_t>(elements, count, symbols);
      default:
        return map_wide<uint64_t>(elements, count, symbols);
    }
  }

 private:
  // Looking bytes up is what putting elements of one byte together without planes comes to.
  void map_bytes(const std::byte* elements, size_t count, uint8_t* symbols) const {
    merge_elements(*of_byte_, reinterpret_cast<const uint8_t*>(elements), 1, count, {},
                   reinterpret_cast<std::byte*>(symbols));
  }

  void map_words(const std::byte* elements, size_t count, uint8_t* symbols) const {
    const size_t mask = format_.magnitude_mask();
    const uint8_t* const table = of_magnitude_.data();
    for (size_t i = 0; i < count; ++i) {
      uint16_t element;
      std::memcpy(&element, elements + i * sizeof element, sizeof element);
      symbols[i] = table[element & mask];
    }
  }

  template <typename Unsigned>
  void map_wide(const std::byte* elements, size_t count, uint8_t* symbols) const {
    const Unsigned mask = static_cast<Unsigned>(format_.magnitude_mask());
    const Unsigned last_not_nan = static_cast<Unsigned>(format_.last_not_nan());
    const uint32_t mantissa_bits = format_.mantissa_bits;
    const uint8_t* const table = of_class_.data();
    for (size_t i = 0; i < count; ++i) {
      Unsigned element;
      std::memcpy(&element, elements + i * sizeof element, sizeof element);
      const Unsigned magnitude = element & mask;
      symbols[i] = table[1 + static_cast<size_t>(magnitude >> mantissa_bits) - (magnitude == 0) +
                         (magnitude > last_not_nan)];
    }
  }

  ElementFormat format_;
  const std::vector<uint8_t>& of_class_;
  std::vector<uint8_t> of_magnitude_;
  std::optional<MergeTables> of_byte_;
};

struct Analysis {
  ElementFormat format;
  SymbolPlan plan;
  std::optional<ErrorSums> errors;  // of narrow elements: they were counted
  // What build_table() would count; for elements of one byte with a table for pairs.
  std::optional<codec::SymbolHistogram> histogram = std::nullopt;

  // Symbols are made when they are coded, not before: it takes no more than a look into a table.
  bool makes_symbols_late() const { return format.bits == 8; }
};

std::optional<Analysis> analyse(const TensorView& tensor, ThreadPool* pool) {
  ElementFormat format = *element_format(tensor.dtype);
  if (format.bits > 16) {
    auto plan = plan_symbols(format, class_statistics(tensor, format, pool));
    if (!plan) return std::nullopt;
    return Analysis{format, *std::move(plan), std::nullopt};
  }
  const MagnitudeCounts counts = count_magnitudes(tensor, format, pool);
  if (format.kind == ElementKind::integer) {
    format = *element_format(tensor.dtype, integer_planes(counts.counts));
  }
  auto plan = plan_symbols(format, class_statistics(format, counts));
  if (!plan) return std::nullopt;
  const ErrorSums errors = counted_errors(tensor.dtype, format, plan->patterns, plan->planes,
                                          counts.counts, plan->symbol_of_class);
  Analysis analysis{format, *std::move(plan), errors};
  if (format.bits == 8 && tensor.bytes.size() >= kFewestForPairs) {
    analysis.histogram = SymbolMap(format, analysis.plan).histogram(counts);
  }
  return analysis;
}

// A tile costs 32 states of some 24 bits that say nothing, a size, and padding. Small ones suit
// GPUs, which want hundreds of them in a tensor, and caches: the smallest one that costs little
// beside what an element takes.
uint32_t choose_tile(uint64_t elements, double element_bits) {
  constexpr double kTileBits = 864;
  constexpr double kMayCost = 0.008;
  constexpr uint64_t kMany = uint64_t{8} << 20;
  uint32_t tile = elements < kMany ? 16 << 10 : 32 << 10;
  while (tile < codec::kMaxTileSymbols && kTileBits / tile > kMayCost * element_bits) tile *= 2;
  return tile;
}

// What no encoding of the tensor is smaller than: header, one pattern and a table, then a section
// of entropy-coded symbols with its head, whose tiles are stored or hold 32 states.
uint64_t least_encoded_bytes(const TensorView& tensor, const ElementFormat& format) {
  constexpr uint64_t kLeastTable = 3;
  constexpr uint64_t kSectionHead = 2 * codec::kEntropyTileAlignment;
  const uint64_t width = format.bits / 8;
  const uint64_t elements = tensor.bytes.size() / width;
  return sizeof(EmbeddedHeader) + width + kLeastTable + kSectionHead +
         std::min<uint64_t>(elements, codec::kRansHeaderBytes);
}

// Where sign and mantissa planes go, the sign's last.
struct PlaneBuffers {
  std::vector<std::vector<std::byte>> mantissa;
  std::vector<std::byte> signs;

  PlaneBuffers(const SymbolPlan& plan, uint64_t elements)
      : mantissa(plan.planes, std::vector<std::byte>(embedded_plane_bytes(elements))),
        signs(plan.has_signs ? embedded_plane_bytes(elements) : 0) {}

  std::vector<BitPlane<std::byte>> at(uint64_t element, const ElementFormat& format) {
    std::vector<BitPlane<std::byte>> planes;
    uint32_t bit = format.mantissa_bits;
    for (std::vector<std::byte>& plane : mantissa) {
      planes.push_back({plane.data() + element / 8, --bit});
    }
    if (!signs.empty()) planes.push_back({signs.data() + element / 8, format.bits - 1});
    return planes;
  }
};

// Planes, symbols unless they are made late, and, of wide elements, errors.
std::vector<uint8_t> take_apart(const TensorView& tensor, const Analysis& analysis,
                                PlaneBuffers& planes, ErrorSums& errors, ThreadPool* pool) {
  const ElementFormat& format = analysis.format;
  const size_t width = format.bits / 8;
  const uint64_t elements = tensor.bytes.size() / width;
  const uint64_t chunks = (elements + kChunk - 1) / kChunk;
  const SymbolMap map(format, analysis.plan);
  std::optional<ErrorMeter> meter;
  if (!analysis.errors) meter.emplace(format, analysis.plan.patterns, analysis.plan.planes);
  std::vector<ErrorSums> sums(meter ? chunks : 0);
  std::vector<uint8_t> symbols(analysis.makes_symbols_late() ? 0 : elements);
  // Pieces that stay in the second-level cache between the loops over them.
  constexpr uint64_t kPiece = 8 << 10;
  for_each(chunks, pool, [&](size_t chunk) {
    const uint64_t end = std::min(elements, (chunk + 1) * kChunk);
    for (uint64_t at = chunk * kChunk; at < end; at += kPiece) {
      const size_t count = std::min(kPiece, end - at);
      const std::byte* const from = tensor.bytes.data() + at * width;
      if (!symbols.empty()) map.map(from, count, symbols.data() + at);
      split_elements(from, width, count, planes.at(at, format));
      if (meter) meter->add(from, symbols.data() + at, count, sums[chunk]);
    }
  });
  if (analysis.errors) errors = *analysis.errors;
  for (const ErrorSums& sum : sums) errors.add(sum);
  return symbols;
}

// Layer 0 without its signs, and the table of its symbols.
struct Section {
  codec::EntropyTable table;
  Result<std::vector<std::byte>> bytes;
};

codec::SymbolHistogram count_symbols(std::span<const uint8_t> symbols, ThreadPool* pool) {
  const std::vector<Range> ranges = ranges_for(symbols.size(), kChunk, pool);
  std::vector<codec::SymbolHistogram> parts(ranges.size());
  for_each(ranges.size(), pool, [&](size_t i) {
    parts[i].add(symbols.subspan(ranges[i].begin, ranges[i].end - ranges[i].begin));
  });
  for (size_t i = 1; i < parts.size(); ++i) parts.front().merge(parts[i]);
  return std::move(parts.front());
}

// Few symbols have no codes for pairs, whose histogram would be larger than they are: how often
// each occurs is known.
codec::EntropyTable build_table(const Analysis& analysis, std::span<const uint8_t> symbols,
                                uint64_t elements, ThreadPool* pool) {
  if (elements < kFewestForPairs) {
    std::array<uint64_t, 256> singles{};
    std::copy(analysis.plan.symbol_counts.begin(), analysis.plan.symbol_counts.end(),
              singles.begin());
    return codec::EntropyTable::build(singles).value();
  }
  return codec::EntropyTable::build(analysis.histogram ? *analysis.histogram
                                                       : count_symbols(symbols, pool))
      .value();
}

// `symbols` as take_apart() gave them. What is made late is mapped tile by tile: all symbols
// together would take as much memory as the tensor.
Section encode_symbols(const TensorView& tensor, const Analysis& analysis,
                       std::span<const uint8_t> symbols, uint32_t tile_elements, ThreadPool* pool) {
  const uint64_t elements = tensor.bytes.size() / (analysis.format.bits / 8);
  codec::EntropyTable table = build_table(analysis, symbols, elements, pool);
  if (!analysis.makes_symbols_late()) {
    auto bytes = codec::entropy_encode(symbols, table, tile_elements, pool);
    return {std::move(table), std::move(bytes)};
  }
  const SymbolMap map(analysis.format, analysis.plan);
  const auto fill = [&](uint64_t first, std::span<uint8_t> tile) {
    map.map(tensor.bytes.data() + first, tile.size(), tile.data());
  };
  auto bytes = codec::entropy_encode(tensor.bytes.size(), fill, table, tile_elements, pool);
  return {std::move(table), std::move(bytes)};
}

std::vector<std::byte> write_parameters(const Analysis& analysis, const codec::EntropyTable& table,
                                        uint32_t tile_elements) {
  const std::string table_bytes = table.serialise();
  const SymbolPlan& plan = analysis.plan;
  const EmbeddedHeader header{.version = kEmbeddedVersion,
                              .flags = plan.has_signs ? kEmbeddedSigns : uint8_t{0},
                              .planes = static_cast<uint8_t>(plan.planes),
                              .reserved = 0,
                              .symbols = static_cast<uint16_t>(plan.patterns.size()),
                              .table_bytes = static_cast<uint16_t>(table_bytes.size()),
                              .tile_elements = tile_elements};
  const size_t width = analysis.format.bits / 8;
  std::vector<std::byte> parameters(sizeof header + width * plan.patterns.size() +
                                    table_bytes.size());
  std::byte* at = parameters.data();
  std::memcpy(at, &header, sizeof header);
  at += sizeof header;
  for (const uint64_t pattern : plan.patterns) {
    std::memcpy(at, &pattern, width);
    at += width;
  }
  std::memcpy(at, table_bytes.data(), table_bytes.size());
  return parameters;
}

}  // namespace

Result<std::optional<EncodedTensor>> embedded_encode(const TensorView& tensor, ThreadPool* pool) {
  const std::optional<ElementFormat> format = element_format(tensor.dtype);
  if (!format || tensor.bytes.size() <= least_encoded_bytes(tensor, *format)) return std::nullopt;
  const std::optional<Analysis> analysis = analyse(tensor, pool);
  if (!analysis || analysis->plan.element_bits() >= analysis->format.bits) return std::nullopt;

  const uint64_t elements = tensor.bytes.size() / (analysis->format.bits / 8);
  PlaneBuffers planes(analysis->plan, elements);
  ErrorSums errors;
  const std::vector<uint8_t> symbols = take_apart(tensor, *analysis, planes, errors, pool);
  const uint32_t tile_elements = choose_tile(elements, analysis->plan.element_bits());
  Section encoded_symbols = encode_symbols(tensor, *analysis, symbols, tile_elements, pool);
  Result<std::vector<std::byte>>& section = encoded_symbols.bytes;
  if (!section) return section.error();

  EncodedTensor encoded;
  encoded.description = {
      .encoding = HolographicEncoding::embedded,
      .dtype = tensor.dtype,
      .shape = tensor.shape,
      .parameters = write_parameters(*analysis, encoded_symbols.table, tile_elements),
      .part_bytes = {},
      .curve = {.prefixes = errors.points(analysis->plan.planes), .common = 0, .energies = {}}};
  section->insert(section->end(), planes.signs.begin(), planes.signs.end());
  encoded.parts.push_back(*std::move(section));
  for (std::vector<std::byte>& plane : planes.mantissa) encoded.parts.push_back(std::move(plane));
  uint64_t total = encoded.description.parameters.size();
  for (const std::vector<std::byte>& part : encoded.parts) {
    encoded.description.part_bytes.push_back(part.size());
    total += part.size();
  }
  if (total >= tensor.bytes.size()) return std::nullopt;
  return encoded;
}

}  // namespace hoist::tensors
