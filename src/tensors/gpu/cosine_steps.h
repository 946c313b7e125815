// The inverse cosine transform of a matrix on a GPU (cosine.cu), as steps: between two of them the
// threads of a block meet at a barrier, and within one no thread reads what another writes. Kernels
// run the steps; so does a test, on the host, thread after thread.
//
// Two sequences are the real and the imaginary part of one complex sequence (J. Makhoul, "A fast
// cosine transform in one and two dimensions", 1980). Its Fourier transform is done in place, in
// shared memory, by butterflies of radix 2 to 8 that decimate in frequency (W. M. Gentleman and
// G. Sande, 1966); they leave the values in reversed order of digits, which the way out reads with
// a table. A block has several such sequences side by side, `kSequences` complex numbers a
// position.
//
// First two rows a block; its results go to panels, each a few whole columns, row after row. Then
// one panel a block, which it reads in one piece; its results go to the rows of the tensor in
// pieces of a panel's width.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "tensors/gpu/transform_job.h"

#ifndef __CUDACC__
#include <cmath>
#include <numbers>
#endif

namespace hoist::tensors {

struct alignas(8) Complex {
  float x;
  float y;
};

HOIST_HD constexpr Complex operator+(Complex a, Complex b) { return {a.x + b.x, a.y + b.y}; }
HOIST_HD constexpr Complex operator-(Complex a, Complex b) { return {a.x - b.x, a.y - b.y}; }
HOIST_HD constexpr Complex operator*(Complex a, Complex b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
HOIST_HD constexpr Complex times_i(Complex a) { return {-a.y, a.x}; }

// exp(2 pi i k / radix) of the odd radices.
template <unsigned kRadix>
HOIST_HD constexpr Complex root_of(unsigned k) {
  if constexpr (kRadix == 3) {
    constexpr Complex kRoots[] = {{1, 0}, {-0.5F, 0.8660254F}, {-0.5F, -0.8660254F}};
    return kRoots[k];
  } else if constexpr (kRadix == 5) {
    constexpr Complex kRoots[] = {{1, 0},
                                  {0.30901699F, 0.95105652F},
                                  {-0.80901699F, 0.58778525F},
                                  {-0.80901699F, -0.58778525F},
                                  {0.30901699F, -0.95105652F}};
    return kRoots[k];
  } else {
    constexpr Complex kRoots[] = {{1, 0},
                                  {0.62348980F, 0.78183148F},
                                  {-0.22252093F, 0.97492791F},
                                  {-0.90096887F, 0.43388374F},
                                  {-0.90096887F, -0.43388374F},
                                  {-0.22252093F, -0.97492791F},
                                  {0.62348980F, -0.78183148F}};
    return kRoots[k];
  }
}

// Fourier transform of a few values, exponents positive.
template <unsigned kRadix>
HOIST_HD inline void transform_few(Complex (&v)[kRadix]) {
  if constexpr (kRadix == 2) {
    const Complex sum = v[0] + v[1];
    v[1] = v[0] - v[1];
    v[0] = sum;
  } else if constexpr (kRadix == 4) {
    const Complex a = v[0] + v[2];
    const Complex b = v[0] - v[2];
    const Complex c = v[1] + v[3];
    const Complex d = times_i(v[1] - v[3]);
    v[0] = a + c;
    v[1] = b + d;
    v[2] = a - c;
    v[3] = b - d;
  } else if constexpr (kRadix == 8) {
    constexpr float kHalf = 0.70710678F;
    Complex even[4] = {v[0], v[2], v[4], v[6]};
    Complex odd[4] = {v[1], v[3], v[5], v[7]};
    transform_few<4>(even);
    transform_few<4>(odd);
    odd[1] = {(odd[1].x - odd[1].y) * kHalf, (odd[1].x + odd[1].y) * kHalf};
    odd[2] = times_i(odd[2]);
    odd[3] = {(-odd[3].x - odd[3].y) * kHalf, (odd[3].x - odd[3].y) * kHalf};
    HOIST_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      v[i] = even[i] + odd[i];
      v[i + 4] = even[i] - odd[i];
    }
  } else {
    Complex result[kRadix];
    HOIST_UNROLL
    for (unsigned q = 0; q < kRadix; ++q) {
      result[q] = v[0];
      HOIST_UNROLL
      for (unsigned i = 1; i < kRadix; ++i) {
        result[q] = result[q] + v[i] * root_of<kRadix>(i * q % kRadix);
      }
    }
    HOIST_UNROLL
    for (unsigned q = 0; q < kRadix; ++q) v[q] = result[q];
  }
}

// What depends on the length alone. In memory one after the other.
struct CosineTables {
  const Complex* turns;   // of the way in: exp(pi i k / (2 length)), times the scale
  const Complex* roots;   // of the stages, one after the other: of value q, then of butterfly j
  const uint16_t* order;  // position of each result

  HOIST_HD CosineTables(const void* memory, uint32_t length)
      : turns(static_cast<const Complex*>(memory)),
        roots(turns + length),
        order(reinterpret_cast<const uint16_t*>(roots + length)) {}
  static constexpr uint64_t bytes(uint64_t length) {
    return (length * (2 * sizeof(Complex) + sizeof(uint16_t)) + 15) / 16 * 16;
  }
};

// exp(pi i x)
HOIST_HD inline Complex half_turns(double x, double scale) {
  double sine;
  double cosine;
#ifdef __CUDACC__
  sincospi(x, &sine, &cosine);
#else
  sine = std::sin(x * std::numbers::pi);
  cosine = std::cos(x * std::numbers::pi);
#endif
  return {static_cast<float>(cosine * scale), static_cast<float>(sine * scale)};
}

// Number k of each table, k below the length.
HOIST_HD inline void fill_cosine_tables(const CosinePlan& plan, uint32_t k, void* memory) {
  const uint32_t length = plan.length;
  const CosineTables tables(memory, length);
  auto* const turns = const_cast<Complex*>(tables.turns);
  auto* const roots = const_cast<Complex*>(tables.roots);
  auto* const order = const_cast<uint16_t*>(tables.order);
  turns[k] = half_turns(0.5 * k / length, 1 / sqrt((k == 0 ? 1.0 : 2.0) * length));
  // The stage's butterflies have stride * radix values; what those of it and all later stages need
  // adds up to one less than that.
  uint32_t digits = k % 2 == 0 ? k / 2 : length - 1 - k / 2;
  uint32_t position = 0;
  for (uint32_t s = 0; s < plan.stages; ++s) {
    const CosineStage stage = plan.stage[s];
    const uint32_t begin = length - stage.stride * stage.radix;
    if (k >= begin && k < length - stage.stride) {
      const uint32_t q = (k - begin) / stage.stride + 1;
      const uint32_t j = (k - begin) % stage.stride;
      roots[k] = half_turns(2.0 * j * q / (stage.stride * stage.radix), 1);
    }
    position += digits % stage.radix * stage.stride;
    digits /= stage.radix;
  }
  order[k] = static_cast<uint16_t>(position);
}

inline constexpr uint32_t kPanelColumns = 8;

// Floats of all panels.
HOIST_HD constexpr uint64_t panel_values(uint64_t rows, uint64_t columns) {
  return (columns + kPanelColumns - 1) / kPanelColumns * kPanelColumns * rows;
}

// A block's sequences in shared memory, as one of its threads sees them.
template <uint32_t kSequences>
struct CosineBlock {
  Complex* values;
  const CosinePlan& plan;
  CosineTables tables;
  uint32_t thread;
  uint32_t threads;

  static constexpr uint64_t bytes(uint64_t length) {
    return (length + 15) / 16 * 16 * kSequences * sizeof(Complex);
  }

  // Strides that are powers of two would meet in one bank: 16 complex numbers are all banks.
  HOIST_HD static uint32_t place(uint32_t position) {
    constexpr uint32_t kMask = 16 / kSequences - 1;
    return position ^ ((position >> 2 ^ position >> 6 ^ position >> 10) & kMask);
  }
  HOIST_HD Complex& at(uint32_t position, uint32_t sequence) const {
    return values[place(position) * kSequences + sequence];
  }

  // The way in: what the Fourier transform takes, from coefficients that source(position, sequence)
  // gives. With one pair at once the source may be the block itself: a thread reads and writes the
  // same two positions. With more, as many loads are under way together.
  template <uint32_t kAtOnce, typename Source>
  HOIST_HD void fold(const Source& source) const {
    const uint32_t length = plan.length;
    const uint32_t pairs = (length + 1) / 2 * kSequences;
    for (uint32_t begin = thread; begin < pairs; begin += kAtOnce * threads) {
      Complex a[kAtOnce];
      Complex b[kAtOnce];
      HOIST_UNROLL
      for (uint32_t n = 0; n < kAtOnce; ++n) {
        const uint32_t i = begin + n * threads;
        if (i >= pairs) continue;
        a[n] = source(i / kSequences, i % kSequences);
        b[n] = source(mirror(i / kSequences), i % kSequences);
      }
      HOIST_UNROLL
      for (uint32_t n = 0; n < kAtOnce; ++n) {
        const uint32_t i = begin + n * threads;
        if (i >= pairs) continue;
        fold_pair(i / kSequences, i % kSequences, a[n], b[n]);
      }
    }
  }

  template <unsigned kRadix>
  HOIST_HD void run_stage(CosineStage stage) const {
    const uint32_t butterflies = plan.length / kRadix * kSequences;
    const Complex* const roots = tables.roots + (plan.length - stage.stride * kRadix);
    for (uint32_t i = thread; i < butterflies; i += threads) {
      const uint32_t u = i / kSequences;
      const uint32_t s = i % kSequences;
      const uint32_t group =
          stage.stride == 1 ? u : static_cast<uint32_t>(uint64_t{u} * stage.reciprocal >> 32);
      const uint32_t j = u - group * stage.stride;
      const uint32_t first = u + group * stage.stride * (kRadix - 1);
      Complex v[kRadix];
      HOIST_UNROLL
      for (unsigned q = 0; q < kRadix; ++q) v[q] = at(first + q * stage.stride, s);
      transform_few<kRadix>(v);
      if (stage.stride > 1) {
        HOIST_UNROLL
        for (unsigned q = 1; q < kRadix; ++q) v[q] = v[q] * roots[(q - 1) * stage.stride + j];
      }
      HOIST_UNROLL
      for (unsigned q = 0; q < kRadix; ++q) at(first + q * stage.stride, s) = v[q];
    }
  }

  HOIST_HD void run_stage(uint32_t number) const {
    const CosineStage stage = plan.stage[number];
    switch (stage.radix) {
      case 2:
        return run_stage<2>(stage);
      case 3:
        return run_stage<3>(stage);
      case 4:
        return run_stage<4>(stage);
      case 5:
        return run_stage<5>(stage);
      case 7:
        return run_stage<7>(stage);
      default:
        return run_stage<8>(stage);
    }
  }

 private:
  // Position 0 is its own mirror; so is the middle of an even length, which goes with it.
  HOIST_HD uint32_t mirror(uint32_t k) const {
    return k > 0 ? plan.length - k : plan.length % 2 == 0 ? plan.length / 2 : 0;
  }
  HOIST_HD void fold_pair(uint32_t k, uint32_t s, Complex a, Complex b) const {
    const Complex turn = tables.turns[k];
    at(mirror(k), s) = (b - times_i(k > 0 ? a : b)) * tables.turns[mirror(k)];
    at(k, s) = k > 0 ? (a - times_i(b)) * turn : Complex{a.x * turn.x, a.y * turn.x};
  }
};

// Two rows of the matrix, from fragments to panels. `Load` gives value `index` of those that begin
// at an address, as they are stored.
template <typename Load>
struct CosineRows {
  DealtValues dealt;
  const uint64_t* before;  // essential coefficients before each row, and in all
  CosinePlan plan;         // of a row
  const void* tables;
  uint32_t rows;
  float* panels;

  HOIST_HD uint32_t blocks() const { return (rows + 1) / 2; }
  HOIST_HD uint32_t steps() const { return plan.stages + 3; }

  HOIST_HD void run_step(uint32_t step, uint32_t pair, uint32_t thread, uint32_t threads,
                         Complex* values) const {
    const CosineBlock<1> block{values, plan, {tables, plan.length}, thread, threads};
    const uint32_t row = 2 * pair;
    const bool both = row + 1 < rows;
    if (step == 0) {
      scatter(block, row, &values->x);
      if (both) {
        scatter(block, row + 1, &values->y);
      } else {
        for (uint32_t k = thread; k < plan.length; k += threads) block.at(k, 0).y = 0;
      }
    } else if (step == 1) {
      block.template fold<1>([&](uint32_t k, uint32_t) { return block.at(k, 0); });
    } else if (step < 2 + plan.stages) {
      block.run_stage(step - 2);
    } else {
      store(block, row, both);
    }
  }

 private:
  // A row's coefficients to every second float from `to` on. Threads take groups of dealt items, so
  // that neighbours read neighbours of each fragment.
  HOIST_HD void scatter(const CosineBlock<1>& block, uint32_t row, float* to) const {
    const uint64_t begin = before[row];
    const auto essential = static_cast<uint32_t>(before[row + 1] - begin);
    const Load load;
    for (uint32_t k = block.thread; k < essential; k += block.threads) {
      to[2 * block.place(k)] = load(dealt.any + dealt.common_offset, begin + k);
    }
    // Matrices have less than 2^32 elements: both sides are at most kMaxCosineLength.
    const uint32_t items = plan.length - essential;
    if (items == 0) return;
    const uint32_t first = row * plan.length - static_cast<uint32_t>(begin);
    const uint32_t first_group = first / dealt.count;
    const uint32_t skipped = first % dealt.count;
    const uint32_t groups = (skipped + items + dealt.count - 1) / dealt.count;
    constexpr uint32_t kAtOnce = 8;  // loads under way
    for (uint32_t g = block.thread; g < groups; g += block.threads) {
      const uint32_t group = first_group + g;
      const uint32_t shift = dealt.shifts[group];
      for (uint32_t number = 0; number < dealt.count; number += kAtOnce) {
        float values[kAtOnce];
        HOIST_UNROLL
        for (uint32_t i = 0; i < kAtOnce; ++i) {
          const uint8_t* const fragment =
              number + i < dealt.count ? dealt.fragments[number + i] : nullptr;
          // In place of a missing fragment another's value, which is as good an address as any.
          const float value =
              load((fragment != nullptr ? fragment : dealt.any) + dealt.dealt_offset, group);
          values[i] = fragment != nullptr ? value : 0;
        }
        HOIST_UNROLL
        for (uint32_t i = 0; i < kAtOnce; ++i) {
          uint32_t item = number + i + shift;
          if (item >= dealt.count) item -= dealt.count;
          // The place in the row; what belongs to the row before wraps around.
          item += g * dealt.count - skipped;
          float* const at = to + 2 * block.place(essential + item);
          if (number + i < dealt.count && item < items) *at = values[i];
        }
      }
    }
  }

  HOIST_HD void store(const CosineBlock<1>& block, uint32_t row, bool both) const {
    for (uint32_t i = block.thread; i < plan.length; i += block.threads) {
      const Complex value = block.at(block.tables.order[i], 0);
      float* const to =
          panels + (i / kPanelColumns * rows + row) * kPanelColumns + i % kPanelColumns;
      to[0] = value.x;
      if (both) to[kPanelColumns] = value.y;
    }
  }
};

// A panel of columns, or one of its halves, to the elements. store(index, value, both) takes two
// neighbours in a row, or one.
template <uint32_t kSequences, typename Store>
struct CosineColumns {
  const float* panels;
  CosinePlan plan;  // of a column
  const void* tables;
  uint32_t columns;
  Store store;

  static constexpr uint32_t kColumns = 2 * kSequences;

  HOIST_HD uint32_t blocks() const { return (columns + kColumns - 1) / kColumns; }
  HOIST_HD uint32_t steps() const { return plan.stages + 2; }

  HOIST_HD void run_step(uint32_t step, uint32_t number, uint32_t thread, uint32_t threads,
                         Complex* values) const {
    const CosineBlock<kSequences> block{values, plan, {tables, plan.length}, thread, threads};
    const uint32_t first = number * kColumns;
    if (step == 0) {
      const auto* const from = reinterpret_cast<const Complex*>(
          panels + first / kPanelColumns * kPanelColumns * plan.length + first % kPanelColumns);
      // Nobody has written what is beyond the last column.
      block.template fold<4>([&](uint32_t k, uint32_t s) {
        Complex value = from[k * (kPanelColumns / 2) + s];
        if (first + 2 * s + 1 >= columns) value.y = 0;
        return value;
      });
    } else if (step < 1 + plan.stages) {
      block.run_stage(step - 1);
    } else {
      for (uint32_t i = thread; i < plan.length * kSequences; i += threads) {
        const uint32_t s = i % kSequences;
        const uint32_t row = i / kSequences;
        const uint32_t column = first + 2 * s;
        if (column >= columns) continue;
        store(row * columns + column, block.at(block.tables.order[row], s), column + 1 < columns);
      }
    }
  }
};

}  // namespace hoist::tensors
