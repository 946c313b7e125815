// Decodes sequences of columns (records/gpu/jobs.h), a CTA each: running sums go tile by tile, with
// what came before carried in shared memory.
#include <cuda_runtime.h>

#include "device/on_device.h"
#include "records/gpu/jobs.h"

namespace hoist::records {
namespace {

constexpr unsigned kAllLanes = 0xffffffff;
constexpr unsigned kLanes = 32;
constexpr unsigned kSequenceThreads = 512;
constexpr unsigned kSequenceWarps = kSequenceThreads / kLanes;
constexpr unsigned kItems = 4;  // of a thread
constexpr unsigned kTile = kSequenceThreads * kItems;

// Sums of one kind over a CTA, tile after tile.
struct Sums {
  uint64_t warps[kSequenceWarps];
  uint64_t before;  // of the tiles before this one
};

// The sum before this thread's `mine`, of all threads before it and tiles before this one. All
// threads call it.
__device__ uint64_t sum_before(Sums& sums, uint64_t mine) {
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned warp = threadIdx.x / kLanes;
  uint64_t sum = mine;
#pragma unroll
  for (unsigned step = 1; step < kLanes; step *= 2) {
    const uint64_t other = __shfl_up_sync(kAllLanes, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == kLanes - 1) sums.warps[warp] = sum;
  __syncthreads();
  uint64_t before = sums.before;
  uint64_t all = before;
#pragma unroll
  for (unsigned i = 0; i < kSequenceWarps; ++i) {
    const uint64_t each = sums.warps[i];
    if (i < warp) before += each;
    all += each;
  }
  __syncthreads();
  if (threadIdx.x == 0) sums.before = all;
  return before + sum - mine;
}

struct SequenceState {
  Sums bits, differences, values;
};

__device__ unsigned symbol_at(const SequenceJob& job, uint32_t i) {
  return job.symbols == nullptr ? job.symbol : job.symbols[i];
}

// The differences from `k` on, kItems of `count` in all.
__device__ void read_differences(const SequenceJob& job, uint32_t k, uint32_t count,
                                 SequenceState& state, uint64_t (&out)[kItems]) {
  if (job.coding == IntegerCoding::constant) {
    for (unsigned i = 0; i < kItems; ++i) out[i] = k + i < count ? job.base : 0;
    return;
  }
  if (job.coding == IntegerCoding::raw) {
    for (unsigned i = 0; i < kItems; ++i) {
      out[i] = k + i < count ? static_cast<uint64_t>(from_zigzag(raw_at(job, k + i))) : 0;
    }
    return;
  }
  unsigned symbols[kItems] = {};
  for (unsigned i = 0; i < kItems; ++i) {
    if (k + i < count) symbols[i] = symbol_at(job, k + i);
  }
  if (job.coding == IntegerCoding::entries) {
    for (unsigned i = 0; i < kItems; ++i) {
      const bool known = k + i < count && symbols[i] < job.entry_count;
      out[i] = known ? static_cast<uint64_t>(job.entries[symbols[i]]) : 0;
    }
    return;
  }
  uint64_t bits = 0;
  for (unsigned i = 0; i < kItems; ++i) bits += token_bits(symbols[i]);  // 0 beyond the end
  uint64_t at = sum_before(state.bits, bits);
  const uint64_t end = job.low_bytes * 8;
  for (unsigned i = 0; i < kItems; ++i) {
    const unsigned here = token_bits(symbols[i]);
    // What lies beyond the end is read as the end: the sum of all bits tells that it is damaged.
    const uint64_t low = low_bits_at(job.low_bits, min(at, end), here);
    at += here;
    const uint64_t value = token_base(symbols[i]) | low;
    out[i] = k + i >= count                        ? 0
             : job.coding == IntegerCoding::zigzag ? static_cast<uint64_t>(from_zigzag(value))
                                                   : value + job.base;
  }
}

// What a value goes up by as its source says, whose value k + 1 is beside difference k.
__device__ void add_steps(const SequenceJob& job, uint32_t k, uint32_t count,
                          uint64_t (&d)[kItems]) {
  if (job.predictor == Predictor::last || job.predictor == Predictor::line) return;
  for (unsigned i = 0; i < kItems; ++i) {
    if (k + i >= count) continue;
    const auto before = static_cast<uint64_t>(job.a[k + i]);
    if (job.predictor == Predictor::running_last) {
      d[i] += before;
      continue;
    }
    const auto here = static_cast<uint64_t>(job.a[k + i + 1]);
    d[i] += job.predictor == Predictor::running
                ? here
                : static_cast<uint64_t>(job.factor) * (here - before);
  }
}

// What two values of the same row predict.
__device__ uint64_t of_two(const SequenceJob& job, int64_t a, int64_t b) {
  switch (job.predictor) {
    case Predictor::sum:
      return static_cast<uint64_t>(a) + static_cast<uint64_t>(b);
    case Predictor::difference:
      return static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
    case Predictor::product:
      return static_cast<uint64_t>(scaled(a, b, job.factor));
    case Predictor::quotient:
      return static_cast<uint64_t>(scaled(a, job.factor, b));
    case Predictor::clock:
      return static_cast<uint64_t>(clock_after(a, b));
    case Predictor::larger:
      return static_cast<uint64_t>(a > b ? a : b);
    default:
      return static_cast<uint64_t>(a < b ? a : b);
  }
}

// Makes differences values, kItems at a time.
__device__ void predict_values(const SequenceJob& job, uint32_t k, uint32_t count,
                               SequenceState& state, uint64_t (&d)[kItems]) {
  switch (job.predictor) {
    case Predictor::last:
    case Predictor::line:
    case Predictor::running:
    case Predictor::running_last:
    case Predictor::moves: {
      add_steps(job, k, count, d);
      if (job.predictor == Predictor::line) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < kItems; ++i) d[i] = sum += d[i];
        const uint64_t before = sum_before(state.differences, sum);
        for (unsigned i = 0; i < kItems; ++i) d[i] = k + i < count ? d[i] + before : 0;
      }
      uint64_t sum = 0;
      for (unsigned i = 0; i < kItems; ++i) d[i] = sum += d[i];
      const uint64_t before = sum_before(state.values, sum) + static_cast<uint64_t>(job.first);
      for (unsigned i = 0; i < kItems; ++i) d[i] += before;
      break;
    }
    case Predictor::other:
    case Predictor::other_last:
      // The difference k is that of value k + stored: own[k + 1] from a[k] for `other_last`.
      for (unsigned i = 0; i < kItems; ++i) {
        if (k + i < count) d[i] += static_cast<uint64_t>(job.a[k + i]);
      }
      break;
    case Predictor::sum:
    case Predictor::difference:
    case Predictor::product:
    case Predictor::quotient:
    case Predictor::clock:
    case Predictor::larger:
    case Predictor::smaller:
      for (unsigned i = 0; i < kItems; ++i) {
        if (k + i < count) d[i] += of_two(job, job.a[k + i], job.b[k + i]);
      }
      break;
    default:
      break;
  }
}

// The position that value i (of this step from `base` on) is predicted from; `same`: the lanes that
// have the same code in the group.
__device__ uint32_t position_before(const SequenceJob& job, uint32_t i, uint32_t base,
                                    unsigned same, unsigned below) {
  uint32_t before = kNoPosition;
  if (job.predictor == Predictor::lag) {
    if (i >= static_cast<uint64_t>(job.factor)) before = i - static_cast<uint32_t>(job.factor);
  } else {
    const unsigned earlier = same & below;
    before = earlier != 0 ? base + 31 - __clz(earlier) : job.last_positions[job.group[i]];
  }
  return before != kNoPosition ? before : i == 0 ? 0 : i - 1;
}

// `values` has the first value and differences; one warp makes them values. Lanes of a step whose
// prediction is made by a lane before them wait for it by pointer jumping.
__device__ void look_back(const SequenceJob& job) {
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned below = (1u << lane) - 1;
  const bool in_groups = job.predictor != Predictor::lag;
  for (uint32_t base = 0; base < job.count; base += kLanes) {
    const uint32_t i = base + lane;
    const bool is_here = i < job.count;
    const auto code = in_groups && is_here ? static_cast<uint32_t>(job.group[i]) : kNoPosition;
    const unsigned same = in_groups ? __match_any_sync(kAllLanes, code) : 0;
    const uint32_t before = is_here ? position_before(job, i, base, same, below) : kNoPosition;
    uint64_t value = is_here ? static_cast<uint64_t>(job.values[i]) : 0;
    const bool predicted = is_here && i > 0;
    if (job.predictor == Predictor::group_other) {
      if (predicted) value += static_cast<uint64_t>(job.a[before]);
    } else {
      const bool waits = predicted && before >= base;
      if (predicted && !waits) value += static_cast<uint64_t>(job.values[before]);
      unsigned parent = waits ? before - base : kLanes;  // kLanes: none
      while (__any_sync(kAllLanes, parent != kLanes)) {
        const unsigned from = parent == kLanes ? lane : parent;
        const uint64_t more = __shfl_sync(kAllLanes, value, static_cast<int>(from));
        const unsigned next = __shfl_sync(kAllLanes, parent, static_cast<int>(from));
        if (parent != kLanes) {
          value += more;
          parent = next;
        }
      }
    }
    __syncwarp();
    if (is_here) {
      job.values[i] = static_cast<int64_t>(value);
      // The last lane of a code.
      if (in_groups && (same & ~below) == 1u << lane) job.last_positions[code] = i;
    }
    __syncwarp();
  }
}

__global__ void __launch_bounds__(kSequenceThreads)
    decode_sequences(const SequenceJob* jobs, uint32_t* flags) {
  __shared__ SequenceState state;
  const SequenceJob job = jobs[blockIdx.x];
  if (threadIdx.x == 0) {
    state.bits.before = state.differences.before = state.values.before = 0;
    if (job.stored != 0) job.values[0] = job.first;
  }
  const bool in_turn = looks_back(job.predictor);
  __syncthreads();
  const uint32_t count = job.count - job.stored;
  bool bad = false;
  for (uint32_t base = 0; base < count; base += kTile) {
    const uint32_t k = base + threadIdx.x * kItems;
    uint64_t values[kItems];
    read_differences(job, k, count, state, values);
    if (!in_turn) predict_values(job, k, count, state, values);
    for (unsigned i = 0; i < kItems; ++i) {
      if (k + i >= count) break;
      if (job.codes != 0 && !in_turn && values[i] >= job.codes) {
        bad = true;
        values[i] = 0;
      }
      job.values[k + job.stored + i] = static_cast<int64_t>(values[i]);
    }
    __syncthreads();
  }
  const bool is_tokens = job.coding == IntegerCoding::tokens || job.coding == IntegerCoding::zigzag;
  if (is_tokens && threadIdx.x == 0 && (state.bits.before + 7) / 8 != job.low_bytes) bad = true;
  if (in_turn) {
    for (uint32_t i = threadIdx.x; i < job.group_codes; i += kSequenceThreads) {
      job.last_positions[i] = kNoPosition;
    }
    __syncthreads();
    if (threadIdx.x < kLanes) look_back(job);
    __syncthreads();
  }
  if (job.codes != 0 && (in_turn || job.stored != 0)) {
    const uint32_t checked = in_turn ? job.count : 1;
    for (uint32_t i = threadIdx.x; i < checked; i += kSequenceThreads) {
      if (static_cast<uint64_t>(job.values[i]) < job.codes) continue;
      bad = true;
      job.values[i] = 0;
    }
  }
  if (bad) atomicExch(flags + job.flag, 1u);
}

}  // namespace

// All pointers are the device's, of as many jobs as they say; `flags` has a word for each flag of
// theirs. Jobs of one call do not read what another of them writes.
extern "C" int hoist_cuda_records_sequences(int device, void* stream, const SequenceJob* jobs,
                                            uint32_t count, uint32_t* flags) {
  return device::on_device(device, [=] {
    decode_sequences<<<count, kSequenceThreads, 0, static_cast<cudaStream_t>(stream)>>>(jobs,
                                                                                        flags);
    return cudaGetLastError();
  });
}

}  // namespace hoist::records
