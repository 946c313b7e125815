// Tile kernels over vectors of N 32-bit lanes, written once with the vector types of GCC and Clang.
// Each instruction set's source file instantiates one N under its own compiler flags, so no symbol
// is shared between instruction sets; include this header nowhere else.
//
// Unpacking a row is a shift, perhaps a second word, and a mask, the same for every lane (the
// interleaved layout of FastLanes: Afroozeh & Boncz, "The FastLanes Compression Layout", VLDB
// 2023). The width is a template parameter, so shifts and masks are constants. Four rows then hold
// the quads of 4N values with their members spread over four vectors: a 4 x 4 transposition inside
// each 128-bit block, the cheapest shuffle there is, makes them consecutive (bitpack_layout.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "codec/bitpack_kernels.h"
#include "codec/bitpack_layout.h"

namespace hoist::codec {

template <typename Word, int N>
struct VectorOf {
  typedef Word type __attribute__((vector_size(sizeof(Word) * N)));
};

template <int N>
struct VectorKernels {
  static_assert(N == 4 || N == 8 || N == 16);
  using Vector = typename VectorOf<uint32_t, N>::type;
  using Wide = typename VectorOf<uint64_t, N / 2>::type;

  template <typename V>
  [[gnu::always_inline]] static V load(const void* from) {
    V vector;
    __builtin_memcpy(&vector, from, sizeof vector);
    return vector;
  }

  template <typename V>
  [[gnu::always_inline]] static void store(void* to, V vector) {
    __builtin_memcpy(to, &vector, sizeof vector);
  }

  // Row R of the lanes that begin at `packed`.
  template <int W, int R>
  [[gnu::always_inline]] static Vector unpack_row(const std::byte* packed) {
    if constexpr (W == 0) {
      return Vector{};
    } else {
      constexpr int kWord = R * W / 32;
      constexpr int kShift = R * W % 32;
      constexpr uint32_t kMask = static_cast<uint32_t>((uint64_t{1} << W) - 1);
      Vector row = load<Vector>(packed + kWord * kWordRowBytes) >> kShift;
      if constexpr (kShift + W > 32) {
        row |= load<Vector>(packed + (kWord + 1) * kWordRowBytes) << (32 - kShift);
      }
      if constexpr (kShift + W != 32) row &= kMask;
      return row;
    }
  }

  // Alternates the elements of the lower (Half 0) or upper halves of every 128-bit block.
  template <int Half, typename V, int... I>
  [[gnu::always_inline]] static V zip(V a, V b, std::integer_sequence<int, I...>) {
    constexpr int kCount = sizeof...(I);
    constexpr int kBlock = static_cast<int>(kCount * 16 / sizeof(V));
    return __builtin_shufflevector(
        a, b, (I / kBlock * kBlock + Half * kBlock / 2 + I % kBlock / 2 + I % 2 * kCount)...);
  }

  template <int Half>
  [[gnu::always_inline]] static Wide zip_words(Vector a, Vector b) {
    return reinterpret_cast<Wide>(zip<Half>(a, b, std::make_integer_sequence<int, N>{}));
  }

  template <int Half>
  [[gnu::always_inline]] static Wide zip_pairs(Wide a, Wide b) {
    return zip<Half>(a, b, std::make_integer_sequence<int, N / 2>{});
  }

  // Unpacks four rows of N lanes, adds the reference, and stores the N quads.
  template <int W, int Group>
  [[gnu::always_inline]] static void unpack_group(const std::byte* packed, Vector reference,
                                                  uint32_t* out) {
    const Vector r0 = unpack_row<W, Group * 4>(packed) + reference;
    const Vector r1 = unpack_row<W, Group * 4 + 1>(packed) + reference;
    const Vector r2 = unpack_row<W, Group * 4 + 2>(packed) + reference;
    const Vector r3 = unpack_row<W, Group * 4 + 3>(packed) + reference;
    const Wide low01 = zip_words<0>(r0, r1), high01 = zip_words<1>(r0, r1);
    const Wide low23 = zip_words<0>(r2, r3), high23 = zip_words<1>(r2, r3);
    uint32_t* const to = out + Group * kGroupValues;
    store(to, zip_pairs<0>(low01, low23));
    store(to + 16, zip_pairs<1>(low01, low23));
    store(to + 32, zip_pairs<0>(high01, high23));
    store(to + 48, zip_pairs<1>(high01, high23));
  }

  template <int W, int... Group>
  [[gnu::always_inline]] static void unpack_groups(const std::byte* packed, Vector reference,
                                                   uint32_t* out,
                                                   std::integer_sequence<int, Group...>) {
    (unpack_group<W, Group>(packed, reference, out), ...);
  }

  template <int W>
  static void unpack(const std::byte* packed, uint32_t reference, uint32_t* out) {
    const Vector added = Vector{} + reference;
    for (int lane = 0; lane < static_cast<int>(kLanes); lane += N) {
      unpack_groups<W>(packed + lane * sizeof(uint32_t), added, out + lane / 16 * 64 + lane % 16,
                       std::make_integer_sequence<int, kGroups>{});
    }
  }

  // Lane i of the result is lane i - Distance of `vector`, zero for the first ones.
  template <int Distance, typename V, int... I>
  [[gnu::always_inline]] static V shift_lanes(V vector, std::integer_sequence<int, I...>) {
    constexpr int kCount = sizeof...(I);
    return __builtin_shufflevector(vector, V{}, (I < Distance ? kCount : I - Distance)...);
  }

  template <typename V, int... I>
  [[gnu::always_inline]] static V last_lane(V vector, std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(vector, vector, (static_cast<int>(sizeof...(I)) - 1 + 0 * I)...);
  }

  // Inclusive prefix sum in place: log2(lanes) shifted additions in a vector (Hillis & Steele
  // 1986), then the sum of all earlier vectors, whose chain is a single addition a vector.
  template <typename V, int Count, typename Word>
  static void prefix_sum(Word* values, Word start) {
    constexpr std::make_integer_sequence<int, Count> kAll{};
    V carry = V{} + start;
    for (unsigned i = 0; i < kTileValues; i += Count) {
      V sum = load<V>(values + i);
      if constexpr (Count > 1) sum += shift_lanes<1>(sum, kAll);
      if constexpr (Count > 2) sum += shift_lanes<2>(sum, kAll);
      if constexpr (Count > 4) sum += shift_lanes<4>(sum, kAll);
      if constexpr (Count > 8) sum += shift_lanes<8>(sum, kAll);
      store(values + i, sum + carry);
      carry += last_lane(sum, kAll);
    }
  }

  static void prefix_sum_32(uint32_t* values, uint32_t start) {
    prefix_sum<Vector, N>(values, start);
  }

  static void prefix_sum_64(uint64_t* values, uint64_t start) {
    prefix_sum<Wide, N / 2>(values, start);
  }

  static void widen(const uint32_t* low, uint64_t reference, uint64_t* out) {
    for (unsigned i = 0; i < kTileValues; ++i) out[i] = low[i] + reference;
  }

  static void join(const uint32_t* low, const uint32_t* high, uint64_t reference, uint64_t* out) {
    for (unsigned i = 0; i < kTileValues; ++i) {
      out[i] = (low[i] | uint64_t{high[i]} << 32) + reference;
    }
  }

  template <typename Narrow>
  static void narrow(const uint32_t* values, Narrow* out) {
    for (unsigned i = 0; i < kTileValues; ++i) out[i] = static_cast<Narrow>(values[i]);
  }

  template <int... W>
  static constexpr TileKernels kernels(const char* name, std::integer_sequence<int, W...>) {
    return {.name = name,
            .unpack = {&unpack<W>...},
            .prefix_sum_32 = &prefix_sum_32,
            .prefix_sum_64 = &prefix_sum_64,
            .widen = &widen,
            .join = &join,
            .narrow_8 = &narrow<uint8_t>,
            .narrow_16 = &narrow<uint16_t>};
  }

  static constexpr TileKernels kernels(const char* name) {
    return kernels(name, std::make_integer_sequence<int, 33>{});
  }
};

}  // namespace hoist::codec
