// A block is as many vectors as an element has bytes. Taking the even bytes of two neighbouring
// vectors, and the odd ones, sorts the block by the lowest bit of the byte number within an
// element; after log2(width) rounds each vector belongs to one plane. Interleaving ("zip") undoes a
// round. The code is written once for vectors of any width, in the vector extensions of GCC and
// clang, whose constant shuffles become vpermt2b, vpshufb or punpck as the instruction set has
// them.
#include "codec/planes_kernels.h"

#include <bit>
#include <cstdint>
#include <utility>

#include "base/cpu.h"

namespace hoist::codec::planes_detail {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are little-endian");

template <size_t kBytes>
struct Vectors {
  typedef uint8_t Bytes __attribute__((vector_size(kBytes)));
  typedef uint16_t Halves __attribute__((vector_size(kBytes)));
  typedef uint64_t Longs __attribute__((vector_size(kBytes)));
  // As it lies in memory, at any address.
  typedef uint8_t Stored __attribute__((vector_size(kBytes), aligned(1), may_alias));
};

template <size_t kBytes, typename V = typename Vectors<kBytes>::Bytes>
[[gnu::always_inline]] inline void load(const std::byte* from, V& vector) {
  vector = *reinterpret_cast<const typename Vectors<kBytes>::Stored*>(from);
}

template <size_t kBytes, typename V = typename Vectors<kBytes>::Bytes>
[[gnu::always_inline]] inline void store(const V& vector, std::byte* to) {
  *reinterpret_cast<typename Vectors<kBytes>::Stored*>(to) = vector;
}

// All functions take vectors by reference: by value, wide ones have no calling convention in code
// that is compiled before its instruction set is known.
template <size_t kBytes, typename V = typename Vectors<kBytes>::Bytes>
[[gnu::always_inline]] inline void unzip(const V& a, const V& b, V& even, V& odd) {
  [&]<size_t... kIndex>(std::index_sequence<kIndex...>) __attribute__((always_inline)) {
    even = __builtin_shufflevector(a, b, (2 * kIndex)...);
    odd = __builtin_shufflevector(a, b, (2 * kIndex + 1)...);
  }
  (std::make_index_sequence<kBytes>());
}

template <size_t kBytes, typename V = typename Vectors<kBytes>::Bytes>
[[gnu::always_inline]] inline void zip(const V& a, const V& b, V& low, V& high) {
  [&]<size_t... kIndex>(std::index_sequence<kIndex...>) __attribute__((always_inline)) {
    low = __builtin_shufflevector(a, b, (kIndex / 2 + (kIndex % 2) * kBytes)...);
    high = __builtin_shufflevector(a, b, (kBytes / 2 + kIndex / 2 + (kIndex % 2) * kBytes)...);
  }
  (std::make_index_sequence<kBytes>());
}

// What happens to the elements besides the exchange of bytes: before splitting, after merging.
struct Plain {
  template <typename V>
  [[gnu::always_inline]] static void split(V&) {}
  template <typename V>
  [[gnu::always_inline]] static void merge(V&) {}
};

// Transposes the 8x8 bits of each 64-bit lane (Warren, "Hacker's Delight", 7-3): exchanges the two
// off-diagonal quarters of each 2x2, 4x4 and 8x8 square. Its own inverse.
struct TransposeBits {
  template <typename V>
  [[gnu::always_inline]] static void split(V& bytes) {
    using Longs = typename Vectors<sizeof(V)>::Longs;
    Longs x = reinterpret_cast<const Longs&>(bytes);
    Longs t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aa;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000cccc0000cccc;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0;
    x ^= t ^ (t << 28);
    bytes = reinterpret_cast<const V&>(x);
  }
  template <typename V>
  [[gnu::always_inline]] static void merge(V& bytes) {
    split(bytes);
  }
};

// Sign and mantissa into the lower byte, the exponent into the upper one (codec/planes.h).
struct RegroupBf16 {
  template <typename V>
  [[gnu::always_inline]] static void split(V& bytes) {
    using Halves = typename Vectors<sizeof(V)>::Halves;
    const Halves x = reinterpret_cast<const Halves&>(bytes);
    const Halves y = ((x << 1) & 0xff00) | ((x >> 8) & 0x80) | (x & 0x7f);
    bytes = reinterpret_cast<const V&>(y);
  }
  template <typename V>
  [[gnu::always_inline]] static void merge(V& bytes) {
    using Halves = typename Vectors<sizeof(V)>::Halves;
    const Halves x = reinterpret_cast<const Halves&>(bytes);
    const Halves y = ((x & 0x80) << 8) | ((x >> 1) & 0x7f80) | (x & 0x7f);
    bytes = reinterpret_cast<const V&>(y);
  }
};

// Rounds are calls and loops are unrolled so that blocks stay in registers.
template <size_t kBytes, size_t kWidth, size_t kRound = 1>
[[gnu::always_inline]] inline void unzip_rounds(typename Vectors<kBytes>::Bytes (&block)[kWidth]) {
  if constexpr (kRound < kWidth) {
    typename Vectors<kBytes>::Bytes next[kWidth];
#pragma GCC unroll 4
    for (size_t i = 0; i < kWidth / 2; ++i) {
      unzip<kBytes>(block[2 * i], block[2 * i + 1], next[i], next[i + kWidth / 2]);
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < kWidth; ++i) block[i] = next[i];
    unzip_rounds<kBytes, kWidth, 2 * kRound>(block);
  }
}

template <size_t kBytes, size_t kWidth, size_t kRound = 1>
[[gnu::always_inline]] inline void zip_rounds(typename Vectors<kBytes>::Bytes (&block)[kWidth]) {
  if constexpr (kRound < kWidth) {
    typename Vectors<kBytes>::Bytes next[kWidth];
#pragma GCC unroll 4
    for (size_t i = 0; i < kWidth / 2; ++i) {
      zip<kBytes>(block[i], block[i + kWidth / 2], next[2 * i], next[2 * i + 1]);
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < kWidth; ++i) block[i] = next[i];
    zip_rounds<kBytes, kWidth, 2 * kRound>(block);
  }
}

template <size_t kBytes, size_t kWidth, typename Map>
[[gnu::always_inline]] inline size_t split_blocks(const std::byte* elements, size_t count,
                                                  std::byte* const* planes) {
  size_t done = 0;
  for (; count - done >= kBytes; done += kBytes) {
    typename Vectors<kBytes>::Bytes block[kWidth];
#pragma GCC unroll 8
    for (size_t i = 0; i < kWidth; ++i) {
      load<kBytes>(elements + done * kWidth + i * kBytes, block[i]);
      Map::split(block[i]);
    }
    unzip_rounds<kBytes>(block);
#pragma GCC unroll 8
    for (size_t i = 0; i < kWidth; ++i) store<kBytes>(block[i], planes[i] + done);
  }
  return done;
}

template <size_t kBytes, size_t kWidth, typename Map>
[[gnu::always_inline]] inline size_t merge_blocks(const std::byte* const* planes, size_t count,
                                                  std::byte* elements) {
  size_t done = 0;
  for (; count - done >= kBytes; done += kBytes) {
    typename Vectors<kBytes>::Bytes block[kWidth];
#pragma GCC unroll 8
    for (size_t i = 0; i < kWidth; ++i) load<kBytes>(planes[i] + done, block[i]);
    zip_rounds<kBytes>(block);
#pragma GCC unroll 8
    for (size_t i = 0; i < kWidth; ++i) {
      Map::merge(block[i]);
      store<kBytes>(block[i], elements + done * kWidth + i * kBytes);
    }
  }
  return done;
}

// An attribute cannot depend on a template argument, hence one struct an instruction set.
struct Baseline {
  template <size_t kWidth, typename Map>
  static size_t split(const std::byte* elements, size_t count, std::byte* const* planes) {
    return split_blocks<16, kWidth, Map>(elements, count, planes);
  }
  template <size_t kWidth, typename Map>
  static size_t merge(const std::byte* const* planes, size_t count, std::byte* elements) {
    return merge_blocks<16, kWidth, Map>(planes, count, elements);
  }
};

#if defined(__x86_64__)
struct Avx2 {
  template <size_t kWidth, typename Map>
  [[gnu::target("avx2")]] static size_t split(const std::byte* elements, size_t count,
                                              std::byte* const* planes) {
    return split_blocks<32, kWidth, Map>(elements, count, planes);
  }
  template <size_t kWidth, typename Map>
  [[gnu::target("avx2")]] static size_t merge(const std::byte* const* planes, size_t count,
                                              std::byte* elements) {
    return merge_blocks<32, kWidth, Map>(planes, count, elements);
  }
};

struct Avx512 {
  template <size_t kWidth, typename Map>
  [[gnu::target("avx512f,avx512bw,avx512vbmi")]] static size_t split(const std::byte* elements,
                                                                     size_t count,
                                                                     std::byte* const* planes) {
    return split_blocks<64, kWidth, Map>(elements, count, planes);
  }
  template <size_t kWidth, typename Map>
  [[gnu::target("avx512f,avx512bw,avx512vbmi")]] static size_t merge(const std::byte* const* planes,
                                                                     size_t count,
                                                                     std::byte* elements) {
    return merge_blocks<64, kWidth, Map>(planes, count, elements);
  }
};
#endif

template <typename Isa>
constexpr Kernels table(const char* name) {
  return {.name = name,
          .split_bytes = {Isa::template split<2, Plain>, Isa::template split<4, Plain>,
                          Isa::template split<8, Plain>},
          .merge_bytes = {Isa::template merge<2, Plain>, Isa::template merge<4, Plain>,
                          Isa::template merge<8, Plain>},
          .split_bits = Isa::template split<8, TransposeBits>,
          .merge_bits = Isa::template merge<8, TransposeBits>,
          .split_bf16 = Isa::template split<2, RegroupBf16>,
          .merge_bf16 = Isa::template merge<2, RegroupBf16>};
}

}  // namespace

std::span<const Kernels> kernels() {
#if defined(__x86_64__)
  static constexpr Kernels kAll[] = {table<Avx512>("avx512"), table<Avx2>("avx2"),
                                     table<Baseline>("baseline")};
  const size_t first = cpu_features().avx512_vbmi ? 0 : cpu_features().avx2 ? 1 : 2;
  return std::span(kAll).subspan(first);
#else
  static constexpr Kernels kAll[] = {table<Baseline>("baseline")};
  return kAll;
#endif
}

}  // namespace hoist::codec::planes_detail
