#include "tensors/transform/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/bytes.h"
#include "codec/fft.h"
#include "tensors/transform/transform.h"

namespace hoist::tensors {
namespace {

static_assert(std::endian::native == std::endian::little);

Error broken(const std::string& what) {
  return fail(ErrorCode::corrupt, "description of a transformed tensor: " + what);
}

Status check_parameters(const TransformParameters& parameters, size_t bytes) {
  const auto precision = static_cast<DType>(parameters.precision);
  if (parameters.version != kTransformVersion || parameters.zero != 0) {
    return broken(fmt::format("version {} is unknown", parameters.version));
  }
  if (!is_transform_precision(precision)) {
    return broken(fmt::format("coefficients of type {}", parameters.precision));
  }
  if (parameters.fragments == 0 || parameters.fragments > kMaxFragments) {
    return broken(fmt::format("{} fragments", parameters.fragments));
  }
  if (parameters.scale < -kMaxScale || parameters.scale > kMaxScale) {
    return broken(fmt::format("scale 2^{}", parameters.scale));
  }
  if (parameters.patch_bytes != bytes - sizeof parameters || bytes > kMaxParameterBytes) {
    return broken(
        fmt::format("{} bytes of patches in {} of parameters", parameters.patch_bytes, bytes));
  }
  return {};
}

// The counts that depend on the encoding.
Status check_counts(const TransformLayout& layout) {
  const MatrixShape matrix = layout.matrix;
  bool good = false;
  switch (layout.encoding) {
    case HolographicEncoding::spectral:
      good = layout.common >= 1 && layout.common <= layout.elements &&
             (layout.elements - layout.common) % layout.fragments == 0 &&
             std::max(matrix.rows, matrix.columns) <= codec::Fft::kMaxLength;
      break;
    case HolographicEncoding::random_projection:
      good = layout.common == layout.elements % layout.fragments;
      break;
    default:
      // Never more numbers than elements.
      good = layout.rank <= std::min(matrix.rows, matrix.columns) &&
             layout.rank * (matrix.rows + matrix.columns) <= layout.elements;
  }
  if (good) return {};
  return broken(fmt::format("{} common coefficients or components of {} x {} elements",
                            std::max(layout.common, layout.rank), matrix.rows, matrix.columns));
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

FragmentHeader fragment_header(const TransformLayout& layout, uint32_t fragment) {
  FragmentHeader header;
  header.version = kTransformVersion;
  header.encoding = static_cast<uint8_t>(layout.encoding);
  header.fragment = static_cast<uint16_t>(fragment);
  header.fragments = static_cast<uint16_t>(layout.fragments);
  header.seed = layout.seed;
  return header;
}

std::array<uint64_t, 3> section_ends(const TransformLayout& layout, uint32_t fragment) {
  const uint64_t value = layout.precision_bytes;
  if (layout.encoding != HolographicEncoding::low_rank_distributed) {
    return {layout.common_offset() + layout.common * value,
            layout.dealt_offset() + layout.groups * value, 0};
  }
  const uint64_t count = layout.components(fragment);
  return {layout.sigma_offset() + count * sizeof(float),
          layout.u_offset(fragment) + count * layout.matrix.rows * value,
          layout.v_offset(fragment) + count * layout.matrix.columns * value};
}

uint64_t TransformLayout::fragment_bytes(uint32_t fragment) const {
  if (encoding == HolographicEncoding::low_rank_distributed) {
    return v_offset(fragment) +
           align_section(components(fragment) * matrix.columns * precision_bytes);
  }
  return dealt_offset() + align_section(groups * precision_bytes);
}

Result<TransformLayout> transform_layout(const TensorDescription& description) {
  ByteReader reader(description.parameters);
  const auto parameters = reader.read<TransformParameters>();
  if (!reader.ok()) return broken("parameters are too short");
  if (Status status = check_parameters(parameters, description.parameters.size()); !status) {
    return status.error();
  }
  const Result<uint64_t> elements = element_count(description.shape);
  if (!elements) return broken(elements.error().message);
  if (*elements == 0 || !is_transform(description.encoding) ||
      !is_transform_dtype(description.dtype)) {
    return broken("no such tensor is transformed");
  }

  TransformLayout layout;
  layout.encoding = description.encoding;
  layout.dtype = description.dtype;
  layout.elements = *elements;
  layout.matrix = matrix_shape(description.shape);
  layout.precision = static_cast<DType>(parameters.precision);
  layout.precision_bytes = properties(layout.precision).bytes;
  layout.fragments = parameters.fragments;
  layout.scale = parameters.scale;
  layout.seed = parameters.seed;
  layout.patches = reader.take(parameters.patch_bytes);
  if (layout.encoding == HolographicEncoding::low_rank_distributed) {
    layout.rank = parameters.common;
  } else {
    layout.common = parameters.common;
    layout.groups = (layout.elements - layout.common) / layout.fragments;
  }
  if (Status status = check_counts(layout); !status) return status.error();

  if (description.part_bytes.size() != layout.fragments) {
    return broken(fmt::format("sizes of {} fragments, not of {}", description.part_bytes.size(),
                              layout.fragments));
  }
  for (uint32_t f = 0; f < layout.fragments; ++f) {
    if (description.part_bytes[f] != layout.fragment_bytes(f)) {
      return broken(fmt::format("fragment {} of {} bytes, not of {}", f, description.part_bytes[f],
                                layout.fragment_bytes(f)));
    }
  }
  return layout;
}

Status check_fragment(const TransformLayout& layout, size_t fragment,
                      std::span<const std::byte> bytes) {
  if (fragment >= layout.fragments) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("fragment {}: there are {}", fragment, layout.fragments));
  }
  const auto f = static_cast<uint32_t>(fragment);
  const auto damaged = [&](const char* what) {
    return fail(ErrorCode::corrupt, fmt::format("fragment {}: {}", f, what));
  };
  if (bytes.size() != layout.fragment_bytes(f)) return damaged("of another size");
  const FragmentHeader header = fragment_header(layout, f);
  if (std::memcmp(bytes.data(), &header, sizeof header) != 0) return damaged("of something else");

  for (const uint64_t end : section_ends(layout, f)) {
    if (!all_zero(bytes.subspan(end, align_section(end) - end))) {
      return damaged("padding is not zero");
    }
  }
  return {};
}

std::vector<std::byte> transform_parameters(const TransformLayout& layout) {
  TransformParameters parameters;
  parameters.version = kTransformVersion;
  parameters.precision = static_cast<uint8_t>(layout.precision);
  parameters.fragments = static_cast<uint16_t>(layout.fragments);
  parameters.scale = layout.scale;
  parameters.seed = layout.seed;
  parameters.common =
      layout.encoding == HolographicEncoding::low_rank_distributed ? layout.rank : layout.common;
  parameters.patch_bytes = static_cast<uint32_t>(layout.patches.size());
  std::vector<std::byte> bytes(sizeof parameters + layout.patches.size());
  std::memcpy(bytes.data(), &parameters, sizeof parameters);
  std::copy(layout.patches.begin(), layout.patches.end(), bytes.begin() + sizeof parameters);
  return bytes;
}

std::vector<std::byte> empty_fragment(const TransformLayout& layout, uint32_t fragment) {
  std::vector<std::byte> bytes(layout.fragment_bytes(fragment));
  const FragmentHeader header = fragment_header(layout, fragment);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

}  // namespace hoist::tensors
