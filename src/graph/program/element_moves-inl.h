// Elements of memory as lanes, and back. Included once for each instruction set
// (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_PROGRAM_ELEMENT_MOVES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_PROGRAM_ELEMENT_MOVES_INL_H_
#undef HOIST_GRAPH_PROGRAM_ELEMENT_MOVES_INL_H_
#else
#define HOIST_GRAPH_PROGRAM_ELEMENT_MOVES_INL_H_
#endif

#include <hwy/highway.h>

#include <array>

#include "graph/program/element_types.h"
#include "graph/program/typed_steps.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {

template <array::DType kType, bool kWidens>
void move_elements(const void* in, size_t n, void* to) {
  if constexpr (kType == array::DType::f16) {  // many at a time
    if constexpr (kWidens) {
      array::convert_to_f32(kType, static_cast<const std::byte*>(in), {static_cast<float*>(to), n});
    } else {
      array::convert_from_f32({static_cast<const float*>(in), n}, kType,
                              static_cast<std::byte*>(to));
    }
  } else {
    using E = program::Element<kType>;
    if constexpr (kWidens) {
      const auto* const HWY_RESTRICT from = static_cast<const typename E::Memory*>(in);
      auto* const HWY_RESTRICT out = static_cast<typename E::Lane*>(to);
      for (size_t i = 0; i < n; ++i) out[i] = E::widened(from[i]);
    } else {
      const auto* const HWY_RESTRICT from = static_cast<const typename E::Lane*>(in);
      auto* const HWY_RESTRICT out = static_cast<typename E::Memory*>(to);
      for (size_t i = 0; i < n; ++i) out[i] = E::narrowed(from[i]);
    }
  }
}

template <bool kWidens>
constexpr std::array<program::TypedSteps::Move, 16> all_moves() {
  using array::DType;
  std::array<program::TypedSteps::Move, 16> all{};
  const auto at = [&](DType dtype) -> auto& { return all[static_cast<size_t>(dtype)]; };
  at(DType::boolean) = move_elements<DType::boolean, kWidens>;
  at(DType::f16) = move_elements<DType::f16, kWidens>;
  at(DType::bf16) = move_elements<DType::bf16, kWidens>;
  at(DType::f32) = move_elements<DType::f32, kWidens>;
  at(DType::f64) = move_elements<DType::f64, kWidens>;
  at(DType::i8) = move_elements<DType::i8, kWidens>;
  at(DType::i16) = move_elements<DType::i16, kWidens>;
  at(DType::i32) = move_elements<DType::i32, kWidens>;
  at(DType::i64) = move_elements<DType::i64, kWidens>;
  at(DType::u8) = move_elements<DType::u8, kWidens>;
  at(DType::u16) = move_elements<DType::u16, kWidens>;
  at(DType::u32) = move_elements<DType::u32, kWidens>;
  at(DType::u64) = move_elements<DType::u64, kWidens>;
  return all;
}

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
