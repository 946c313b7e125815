// Bytes of the three any-subset encodings, and where things lie in them. All numbers are
// little-endian. A GPU decoder needs this header, dealing.h and the header of the encoding.
//
// Parameters (TensorDescription::parameters): TransformParameters, then the patches (patches.h).
//
// Fragment: FragmentHeader, then sections that each start at a multiple of 16 bytes from the
// fragment's beginning; padding is zero and follows the last section too.
//
//   spectral, random_projection    common values | dealt values          of type `precision`
//   low_rank_distributed           sigma: f32 | u: count x rows | v: count x columns
//
// Values are coefficients of the tensor times 2^scale, with 0 for elements that are not finite.
// `common` coefficients are in every fragment; the others, a multiple of the number of fragments,
// are dealt (dealing.h). Which coefficients these are, and their order: spectral.h,
// random_projection.h.
//
// Low rank: component k of `rank` is number k / fragments of fragment k % fragments. A fragment
// adds  sum over its components of  sigma * u v^T / 2^(2 * vector_scale)  to the tensor times
// 2^scale; vectors have unit norm up to rounding before they are multiplied by 2^vector_scale.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "tensors/encoded_tensor.h"
#include "tensors/tensor.h"

namespace hoist::tensors {

struct TransformParameters {
  uint8_t version = 0;
  uint8_t precision = 0;  // DType of stored values: f32, f16 or bf16
  uint16_t fragments = 0;
  int32_t scale = 0;
  uint64_t seed = 0;
  uint64_t common = 0;  // low rank: the rank
  uint32_t patch_bytes = 0;
  uint32_t zero = 0;
};
static_assert(sizeof(TransformParameters) == 32);

struct FragmentHeader {
  uint8_t version = 0;
  uint8_t encoding = 0;
  uint16_t fragment = 0;
  uint16_t fragments = 0;
  uint16_t zero = 0;
  uint64_t seed = 0;
};
static_assert(sizeof(FragmentHeader) == 16);

inline constexpr uint8_t kTransformVersion = 0;
inline constexpr uint32_t kMaxFragments = 255;
// Larger scales are no tensor's: the smallest and the largest f64 need 1074 and 1024.
inline constexpr int kMaxScale = 1200;
inline constexpr uint64_t kSectionAlignment = 16;

constexpr uint64_t align_section(uint64_t bytes) {
  return (bytes + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

// Stored singular vectors keep clear of f16's small numbers: elements are at most 1 before.
constexpr int vector_scale(DType precision) { return precision == DType::f16 ? 14 : 0; }

// A description that has been checked, part sizes included.
struct TransformLayout {
  HolographicEncoding encoding = HolographicEncoding::spectral;
  DType dtype = DType::f32;
  uint64_t elements = 0;  // at least 1
  MatrixShape matrix;
  DType precision = DType::f32;
  uint64_t precision_bytes = 0;
  uint32_t fragments = 0;
  int scale = 0;
  uint64_t seed = 0;
  std::span<const std::byte> patches;  // in the description

  // spectral, random_projection: elements = common + groups * fragments
  uint64_t common = 0;
  uint64_t groups = 0;
  // low_rank_distributed
  uint64_t rank = 0;

  // Components of a low-rank fragment.
  uint64_t components(uint32_t fragment) const {
    return fragment < rank ? (rank - 1 - fragment) / fragments + 1 : 0;
  }
  // Offsets and sizes in bytes within a fragment.
  uint64_t common_offset() const { return sizeof(FragmentHeader); }
  uint64_t dealt_offset() const {
    return common_offset() + align_section(common * precision_bytes);
  }
  uint64_t sigma_offset() const { return sizeof(FragmentHeader); }
  uint64_t u_offset(uint32_t fragment) const {
    return sigma_offset() + align_section(components(fragment) * sizeof(float));
  }
  uint64_t v_offset(uint32_t fragment) const {
    return u_offset(fragment) + align_section(components(fragment) * matrix.rows * precision_bytes);
  }
  uint64_t fragment_bytes(uint32_t fragment) const;
};

// The layout keeps a view of the description's parameters. `corrupt`: a rule is broken.
Result<TransformLayout> transform_layout(const TensorDescription& description);

FragmentHeader fragment_header(const TransformLayout& layout, uint32_t fragment);

// Where a fragment's sections end, padding aside, which goes to the next multiple of
// kSectionAlignment; 0 where it has fewer.
std::array<uint64_t, 3> section_ends(const TransformLayout& layout, uint32_t fragment);

// `corrupt` unless `bytes` can be that fragment: its size, its header, its padding.
Status check_fragment(const TransformLayout& layout, size_t fragment,
                      std::span<const std::byte> bytes);

// Parameters that transform_layout() reads back.
std::vector<std::byte> transform_parameters(const TransformLayout& layout);

// A fragment of the right size with its header, zero elsewhere.
std::vector<std::byte> empty_fragment(const TransformLayout& layout, uint32_t fragment);

}  // namespace hoist::tensors
