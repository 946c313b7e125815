// One compression works on a 4x4 matrix of words. Side by side, word w of all inputs makes one
// vector, so that a round is the same sequence of operations on vectors, and only loading the
// message needs words exchanged between lanes (section 5.3). The code is written once, for vectors
// of any width (GCC's and clang's vector extensions), and compiled for each instruction set.
#include "base/blake3_compress.h"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/float_vectors.h"

namespace hoist::blake3_detail {
namespace {

static_assert(std::endian::native == std::endian::little, "message words are loaded as they lie");

constexpr size_t kRounds = 7;

// Section 2.2, table 2: the words of the message move between rounds by this permutation.
constexpr std::array<uint8_t, 16> kPermutation = {2, 6,  3,  10, 7, 0,  4,  13,
                                                  1, 11, 12, 5,  9, 14, 15, 8};

// Which word of the message each place of each round takes.
constexpr std::array<std::array<uint8_t, 16>, kRounds> kSchedule = [] {
  std::array<std::array<uint8_t, 16>, kRounds> schedule{};
  for (size_t i = 0; i < 16; ++i) schedule[0][i] = static_cast<uint8_t>(i);
  for (size_t r = 1; r < kRounds; ++r) {
    for (size_t i = 0; i < 16; ++i) schedule[r][i] = schedule[r - 1][kPermutation[i]];
  }
  return schedule;
}();

template <size_t kLanes>
struct Lanes {
  typedef uint32_t Words __attribute__((vector_size(4 * kLanes)));
  // As it lies in memory, at any address.
  typedef uint32_t Stored __attribute__((vector_size(4 * kLanes), aligned(1), may_alias));
};
template <>
struct Lanes<1> {
  using Words = uint32_t;
  typedef uint32_t Stored __attribute__((aligned(1), may_alias));
};
template <size_t kLanes>
using Words = typename Lanes<kLanes>::Words;

// Vectors travel by reference: by value, wide ones have no calling convention in code that is
// compiled before its instruction set is known.
template <int kBits, typename V>
[[gnu::always_inline]] inline void rotate_right(V& v) {
  if constexpr (sizeof(V) == 32 && kBits % 8 == 0) {
    // AVX2 has no rotation, but a shuffle of bytes.
    typedef uint8_t Bytes __attribute__((vector_size(32)));
    const Bytes bytes = reinterpret_cast<const Bytes&>(v);
    [&]<size_t... kIndex>(std::index_sequence<kIndex...>) __attribute__((always_inline)) {
      v = reinterpret_cast<V>(
          __builtin_shufflevector(bytes, bytes, (kIndex / 4 * 4 + (kIndex + kBits / 8) % 4)...));
    }
    (std::make_index_sequence<32>());
  } else {
    v = (v >> kBits) | (v << (32 - kBits));
  }
}

// Section 2.2: the quarter round G.
template <typename V>
[[gnu::always_inline]] inline void mix(V& a, V& b, V& c, V& d, const V& x, const V& y) {
  a = a + b + x;
  d ^= a;
  rotate_right<16>(d);
  c += d;
  b ^= c;
  rotate_right<12>(b);
  a = a + b + y;
  d ^= a;
  rotate_right<8>(d);
  c += d;
  b ^= c;
  rotate_right<7>(b);
}

// The round is a template argument so that the message words have constant places.
template <size_t kRound, typename V>
[[gnu::always_inline]] inline void round(V (&v)[16], const V (&m)[16]) {
  constexpr std::array<uint8_t, 16> s = kSchedule[kRound];
  mix(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]);
  mix(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
  mix(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]);
  mix(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
  mix(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]);
  mix(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
  mix(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]);
  mix(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
}

template <typename V>
[[gnu::always_inline]] inline void all_rounds(V (&v)[16], const V (&m)[16]) {
  [&]<size_t... kRound>(std::index_sequence<kRound...>) __attribute__((always_inline)) {
    (round<kRound>(v, m), ...);
  }
  (std::make_index_sequence<kRounds>());
}

// a0 b0 a1 b1 … of the first (kHalf 0) or the second half (1) of a and b.
template <size_t kLanes, size_t kHalf>
[[gnu::always_inline]] inline void zip(const Words<kLanes>& a, const Words<kLanes>& b,
                                       Words<kLanes>& zipped) {
  [&]<size_t... kIndex>(std::index_sequence<kIndex...>) __attribute__((always_inline)) {
    zipped =
        __builtin_shufflevector(a, b, (kHalf * kLanes / 2 + kIndex / 2 + (kIndex % 2) * kLanes)...);
  }
  (std::make_index_sequence<kLanes>());
}

// Zipping the first half of the rows with the second turns the bits of an element's number by one
// place; after log2(kLanes) times row and column have changed places. Rounds are calls and loops
// are unrolled so that the rows stay in registers.
template <size_t kLanes, size_t kRound = 1>
[[gnu::always_inline]] inline void transpose(Words<kLanes>* rows) {
  if constexpr (kRound < kLanes) {
    Words<kLanes> next[kLanes];
#pragma GCC unroll 8
    for (size_t i = 0; i < kLanes / 2; ++i) {
      zip<kLanes, 0>(rows[i], rows[i + kLanes / 2], next[2 * i]);
      zip<kLanes, 1>(rows[i], rows[i + kLanes / 2], next[2 * i + 1]);
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < kLanes; ++i) rows[i] = next[i];
    transpose<kLanes, 2 * kRound>(rows);
  }
}

// m[w], lane l = word w of the block at data + l * stride.
template <size_t kLanes>
[[gnu::always_inline]] inline void load_message(const uint8_t* data, size_t stride,
                                                Words<kLanes> (&m)[16]) {
#pragma GCC unroll 16
  for (size_t first = 0; first < 16; first += kLanes) {
#pragma GCC unroll 16
    for (size_t lane = 0; lane < kLanes; ++lane) {
      m[first + lane] = *reinterpret_cast<const typename Lanes<kLanes>::Stored*>(
          data + lane * stride + 4 * first);
    }
    transpose<kLanes>(m + first);
  }
}

template <size_t kLanes>
[[gnu::always_inline]] inline void run_lanes(const Inputs& in, uint32_t* out) {
  using V = Words<kLanes>;
  uint32_t low[kLanes];
  uint32_t high[kLanes];
  for (size_t lane = 0; lane < kLanes; ++lane) {
    const uint64_t counter = in.counter + lane * in.counter_step;
    low[lane] = static_cast<uint32_t>(counter);
    high[lane] = static_cast<uint32_t>(counter >> 32);
  }
  V counter_low;
  V counter_high;
  std::memcpy(&counter_low, low, sizeof low);
  std::memcpy(&counter_high, high, sizeof high);

  V h[8];
  for (size_t i = 0; i < 8; ++i) h[i] = V{} + kInitial[i];
  for (size_t b = 0; b < in.blocks; ++b) {
    const uint32_t flags =
        in.flags | (b == 0 ? in.first_flags : 0) | (b + 1 == in.blocks ? in.last_flags : 0);
    V m[16];
    load_message<kLanes>(in.data + b * kBlockBytes, in.blocks * kBlockBytes, m);
    V v[16] = {h[0],
               h[1],
               h[2],
               h[3],
               h[4],
               h[5],
               h[6],
               h[7],
               V{} + kInitial[0],
               V{} + kInitial[1],
               V{} + kInitial[2],
               V{} + kInitial[3],
               counter_low,
               counter_high,
               V{} + static_cast<uint32_t>(kBlockBytes),
               V{} + flags};
    all_rounds(v, m);
    for (size_t i = 0; i < 8; ++i) h[i] = v[i] ^ v[i + 8];
  }
  for (size_t i = 0; i < 8; ++i) {
    uint32_t words[kLanes];
    std::memcpy(words, &h[i], sizeof words);
    for (size_t lane = 0; lane < kLanes; ++lane) out[8 * lane + i] = words[lane];
  }
}

void run_1(const Inputs& in, uint32_t* out) { run_lanes<1>(in, out); }
void run_4(const Inputs& in, uint32_t* out) { run_lanes<4>(in, out); }
#if defined(__x86_64__)
[[gnu::target("avx2")]] void run_8(const Inputs& in, uint32_t* out) { run_lanes<8>(in, out); }
[[gnu::target("avx512f")]] void run_16(const Inputs& in, uint32_t* out) { run_lanes<16>(in, out); }
#endif

}  // namespace

void compress(uint32_t chaining[8], const uint8_t block[kBlockBytes], uint32_t block_bytes,
              uint64_t counter, uint32_t flags) {
  uint32_t m[16];
  std::memcpy(m, block, sizeof m);
  uint32_t v[16];
  std::memcpy(v, chaining, 8 * sizeof *v);
  std::memcpy(v + 8, kInitial, 4 * sizeof *v);
  v[12] = static_cast<uint32_t>(counter);
  v[13] = static_cast<uint32_t>(counter >> 32);
  v[14] = block_bytes;
  v[15] = flags;
  all_rounds(v, m);
  for (size_t i = 0; i < 8; ++i) chaining[i] = v[i] ^ v[i + 8];
}

std::span<const Kernel> kernels() {
#if defined(__x86_64__)
  static constexpr Kernel kAll[] = {
      {"avx512", 16, run_16}, {"avx2", 8, run_8}, {"vector4", 4, run_4}, {"scalar", 1, run_1}};
  static const auto here = runnable(std::span<const Kernel, 4>(kAll));
  return here;
#else
  static constexpr Kernel kAll[] = {{"vector4", 4, run_4}, {"scalar", 1, run_1}};
  return kAll;
#endif
}

}  // namespace hoist::blake3_detail
