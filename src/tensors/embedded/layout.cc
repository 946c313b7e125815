#include "tensors/embedded/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/bytes.h"
#include "codec/entropy.h"

namespace hoist::tensors {
namespace {

constexpr uint64_t kSectionAlignment = codec::kEntropyTileAlignment;

auto corrupt(std::string_view what) {
  return fail(ErrorCode::corrupt, fmt::format("embedded tensor: {}", what));
}

uint64_t read_pattern(ByteReader& in, size_t width) {
  uint64_t pattern = 0;
  const std::span<const std::byte> bytes = in.take(width);
  for (size_t i = 0; i < bytes.size(); ++i) pattern |= std::to_integer<uint64_t>(bytes[i]) << 8 * i;
  return pattern;
}

bool valid_header(const EmbeddedHeader& header, DType dtype) {
  const bool integer = dtype == DType::i8;
  const uint32_t most_planes = integer ? 7 : element_format(dtype)->mantissa_bits;
  return header.version == kEmbeddedVersion && header.flags <= (integer ? 0 : kEmbeddedSigns) &&
         header.planes <= most_planes && header.reserved == 0 && header.symbols >= 1 &&
         header.symbols <= 256 && std::has_single_bit(header.tile_elements) &&
         header.tile_elements >= codec::kMinTileSymbols &&
         header.tile_elements <= codec::kMaxTileSymbols;
}

// One pattern a class, without a sign, in ascending order.
bool valid_patterns(const ElementFormat& format, std::span<const uint64_t> patterns) {
  for (size_t i = 0; i < patterns.size(); ++i) {
    if ((patterns[i] & ~format.magnitude_mask()) != 0) return false;
    if (i != 0 && format.class_of(patterns[i - 1]) >= format.class_of(patterns[i])) return false;
  }
  return true;
}

}  // namespace

std::optional<ElementFormat> element_format(DType dtype, uint32_t integer_planes) {
  switch (dtype) {
    case DType::i8:
      return ElementFormat{8, 0, integer_planes, ElementKind::integer};
    case DType::f8_e5m2:
      return ElementFormat{8, 1, 2, ElementKind::ieee};
    case DType::f8_e4m3:
      return ElementFormat{8, 1, 3, ElementKind::e4m3};
    case DType::f16:
      return ElementFormat{16, 1, 10, ElementKind::ieee};
    case DType::bf16:
      return ElementFormat{16, 1, 7, ElementKind::ieee};
    case DType::f32:
      return ElementFormat{32, 1, 23, ElementKind::ieee};
    case DType::f64:
      return ElementFormat{64, 1, 52, ElementKind::ieee};
    default:
      return std::nullopt;
  }
}

std::array<uint64_t, 256> layer_bases(const ElementFormat& format,
                                      std::span<const uint64_t> patterns, uint32_t planes,
                                      uint32_t known) {
  std::array<uint64_t, 256> bases{};
  std::copy(patterns.begin(), patterns.end(), bases.begin());
  if (known == 0) return bases;
  // The highest of the bits that are not known: half of what they can be.
  const uint64_t middle = known < planes ? uint64_t{1} << (format.mantissa_bits - 1 - known) : 0;
  for (uint64_t& base : std::span(bases).first(patterns.size())) {
    const bool floating = format.kind != ElementKind::integer;
    if (floating && (base == 0 || format.is_infinity(base))) continue;
    if (format.kind == ElementKind::e4m3 && format.is_nan(base)) continue;
    const uint64_t exponent = base & format.exponent_mask();
    // With e4m3's largest exponent, ones in the known bits and the middle would be NaN.
    const bool to_nan =
        format.kind == ElementKind::e4m3 && middle == 1 && exponent == format.exponent_mask();
    // Subnormals are not spread evenly over what the unknown bits can be: most leading bits are 0.
    // Where magnitudes get rarer as they grow, the mean of all of them, the centroid, is at least
    // that of those whose known bits are 0, and so is the middle.
    const uint64_t unknown = floating && exponent == 0 ? std::min(middle, base) : middle;
    base = exponent | (to_nan ? 0 : unknown);
  }
  return bases;
}

Result<EmbeddedLayout> EmbeddedLayout::parse(const TensorDescription& description) {
  if (!element_format(description.dtype)) return corrupt("a type that is not embedded");
  const Result<uint64_t> elements = element_count(description.shape);
  if (!elements || *elements == 0) return corrupt("a shape that is not embedded");

  ByteReader in(description.parameters);
  const EmbeddedHeader header = in.read<EmbeddedHeader>();
  if (!in.ok() || !valid_header(header, description.dtype)) return corrupt("bad parameters");
  const ElementFormat format = *element_format(description.dtype, header.planes);
  std::vector<uint64_t> patterns(header.symbols);
  for (uint64_t& pattern : patterns) pattern = read_pattern(in, format.bits / 8);
  const std::span<const std::byte> table_bytes = in.take(header.table_bytes);
  if (!in.ok() || in.remaining() != 0) return corrupt("parameters of a wrong size");
  if (!valid_patterns(format, patterns)) return corrupt("bad symbols");
  Result<codec::EntropyTable> table = codec::EntropyTable::parse(table_bytes);
  if (!table) return table.error();

  const uint64_t plane_bytes = embedded_plane_bytes(*elements);
  const uint64_t sign_bytes = (header.flags & kEmbeddedSigns) != 0 ? plane_bytes : 0;
  const std::vector<uint64_t>& parts = description.part_bytes;
  if (parts.size() != size_t{header.planes} + 1) return corrupt("a wrong number of layers");
  const bool planes_fit = std::all_of(parts.begin() + 1, parts.end(),
                                      [&](uint64_t bytes) { return bytes == plane_bytes; });
  if (!planes_fit || parts[0] <= sign_bytes || (parts[0] - sign_bytes) % kSectionAlignment != 0) {
    return corrupt("layers of a wrong size");
  }
  return EmbeddedLayout{.dtype = description.dtype,
                        .format = format,
                        .elements = *elements,
                        .planes = header.planes,
                        .top_bit = format.mantissa_bits == 0 ? 0 : format.mantissa_bits - 1,
                        .has_signs = sign_bytes != 0,
                        .tile_elements = header.tile_elements,
                        .section_bytes = parts[0] - sign_bytes,
                        .plane_bytes = plane_bytes,
                        .patterns = std::move(patterns),
                        .table = *std::move(table)};
}

}  // namespace hoist::tensors
