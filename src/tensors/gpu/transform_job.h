// What the host tells the kernels that rebuild transformed tensors (projection.cu, cosine.cu and
// elements.cu; tensors/transform/format.h). Every pointer is the device's.
#pragma once

#include <cstdint>

#include "array/dtypes.h"

namespace hoist::tensors {

using array::DType;  // of stored values and of elements: f32, f16, bf16

// Coefficients as fragments hold them.
struct DealtValues {
  const uint8_t* const* fragments;  // by number; null where it is missing
  const uint8_t* any;               // one that is there
  const uint8_t* shifts;            // of dealing.h, a byte a group
  uint64_t groups;
  uint64_t common_offset;
  uint64_t dealt_offset;
  uint32_t count;  // of fragments
  DType precision;
};

// How values become elements: times first, times second, at most `largest` either way.
struct ElementScale {
  float first;
  float second;
  float largest;
  DType kind;
};

// A cosine transform's length as the product of what a thread transforms at once (cosine_plan.h).
struct CosineStage {
  uint32_t radix = 0;
  uint32_t stride = 0;      // between the values of one butterfly: the product of later radices
  uint32_t reciprocal = 0;  // 2^32 / stride, rounded up; 0 for a stride of 1
};
struct CosinePlan {
  static constexpr uint32_t kMaxStages = 10;
  uint32_t length = 0;
  uint32_t stages = 0;
  CosineStage stage[kMaxStages];
};

// A sequence of complex numbers, or two of half the length, fill a multiprocessor's shared memory.
inline constexpr uint32_t kMaxCosineLength = 14336;
inline constexpr uint32_t kProjectionBits = 14;  // kMaxProjectionBlock

// What a fragment must begin with, and where its sections end: zeros up to the next multiple of 16.
struct FragmentCheck {
  const uint8_t* fragment;
  uint8_t header[16];
  uint64_t ends[3];
};

// A run of equal elements that no transform can hold.
struct ElementRun {
  uint64_t first;
  uint64_t length;
  uint64_t bits;
};

}  // namespace hoist::tensors
