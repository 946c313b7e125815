#include "tensors/transform/fragment_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "tensors/transform/measure.h"

namespace hoist::tensors {
namespace {

template <typename Word>
bool all_finite(std::span<const std::byte> bytes, Word exponent) {
  bool finite = true;
  for (size_t i = 0; i + sizeof(Word) <= bytes.size(); i += sizeof(Word)) {
    Word word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    finite &= (word & exponent) != exponent;
  }
  return finite;
}

bool all_finite(std::span<const std::byte> bytes, DType dtype) {
  switch (dtype) {
    case DType::f16:
      return all_finite<uint16_t>(bytes, 0x7c00);
    case DType::bf16:
      return all_finite<uint16_t>(bytes, 0x7f80);
    default:
      return all_finite<uint32_t>(bytes, 0x7f800000);
  }
}

}  // namespace

FragmentDecoder::FragmentDecoder(const TransformLayout& layout, std::vector<PatchRun> patches,
                                 QualityCurve curve)
    : layout_(layout),
      patches_(std::move(patches)),
      curve_(std::move(curve)),
      fragments_(layout.fragments) {
  layout_.patches = {};  // the description may go
}

Status FragmentDecoder::add(size_t part, std::span<const std::byte> bytes) {
  if (Status status = check_fragment(layout_, part, bytes); !status) return status;
  if (!fragments_[part].empty()) return {};
  size_t values = sizeof(FragmentHeader);
  bool finite = true;
  if (layout_.encoding == HolographicEncoding::low_rank_distributed) {
    const size_t u = layout_.u_offset(static_cast<uint32_t>(part));
    finite = all_finite(bytes.subspan(values, u - values), DType::f32);
    values = u;
  }
  if (!finite || !all_finite(bytes.subspan(values), layout_.precision)) {
    return fail(ErrorCode::corrupt, fmt::format("fragment {}: a value is not finite", part));
  }
  fragments_[part] = bytes;
  parts_.push_back(part);
  return {};
}

Status FragmentDecoder::reconstruct(std::span<std::byte> out, ThreadPool* pool) const {
  const uint64_t bytes = layout_.elements * properties(layout_.dtype).bytes;
  if (out.size() != bytes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("reconstruction into {} bytes: the tensor has {}", out.size(), bytes));
  }
  if (parts_.empty()) {
    return fail(ErrorCode::invalid_argument, "reconstruction without a fragment: add one");
  }
  try {
    if (Status status = rebuild(out, pool); !status) return status;
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::exhausted,
                fmt::format("reconstruction of {} elements: no memory", layout_.elements));
  }
  apply_patches(patches_, layout_.dtype, 0, out);
  return {};
}

TransformLayout begin_layout(const TransformInput& input, std::span<const std::byte> patches) {
  TransformLayout layout;
  layout.encoding = input.options.encoding;
  layout.dtype = input.tensor.dtype;
  layout.elements = input.elements;
  layout.matrix = matrix_shape(input.tensor.shape);
  layout.precision = input.precision;
  layout.precision_bytes = properties(input.precision).bytes;
  layout.fragments = input.options.fragments;
  layout.seed = input.options.seed;
  layout.patches = patches;
  return layout;
}

std::vector<std::vector<std::byte>> empty_fragments(const TransformLayout& layout) {
  std::vector<std::vector<std::byte>> fragments;
  for (uint32_t f = 0; f < layout.fragments; ++f) fragments.push_back(empty_fragment(layout, f));
  return fragments;
}

Result<EncodedTensor> finish_encoding(const TransformInput& input, const TransformLayout& layout,
                                      std::vector<std::vector<std::byte>> fragments, double common,
                                      std::vector<double> energies, ThreadPool* pool) {
  EncodedTensor encoded;
  TensorDescription& description = encoded.description;
  description.encoding = layout.encoding;
  description.dtype = layout.dtype;
  description.shape = input.tensor.shape;
  description.parameters = transform_parameters(layout);
  for (const std::vector<std::byte>& fragment : fragments) {
    description.part_bytes.push_back(fragment.size());
  }
  description.curve.common = common;
  description.curve.energies = std::move(energies);
  description.curve.prefixes.resize(fragments.size());
  encoded.parts = std::move(fragments);
  Result<std::vector<QualityPoint>> prefixes =
      measure_prefixes(input.tensor, encoded, layout.scale, pool);
  if (!prefixes) return prefixes.error();
  description.curve.prefixes = std::move(*prefixes);
  return encoded;
}

}  // namespace hoist::tensors
