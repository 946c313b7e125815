// Radix sort on a GPU by CUB (one sweep a digit: Adinets, Merrill: "Onesweep: A Faster Least
// Significant Digit Radix Sort for GPUs", 2022). Numbers are sorted as unsigned words of their
// order; entries as a column of keys and one of payloads, which moves half of what 16-byte keys
// would.
#include <cuda_runtime.h>

#include <cstdint>
#include <cub/device/device_radix_sort.cuh>

#include "device/on_device.h"
#include "device/radix_sort/element.h"

namespace hoist::device::radix_sort {
namespace {

constexpr int kBlock = 256;

unsigned blocks_for(uint64_t count) {
  constexpr uint64_t kMost = 1 << 16;  // a thread takes several elements beyond that
  const uint64_t blocks = (count + kBlock - 1) / kBlock;
  return static_cast<unsigned>(blocks < kMost ? blocks : kMost);
}

__device__ uint64_t first_index() { return uint64_t{blockIdx.x} * kBlock + threadIdx.x; }
__device__ uint64_t stride() { return uint64_t{gridDim.x} * kBlock; }

template <typename Word>
__global__ void map_to_words(Word* words, uint64_t count, Mapping<Word> mapping) {
  for (uint64_t i = first_index(); i < count; i += stride()) words[i] = mapping.to_word(words[i]);
}

template <typename Word>
__global__ void map_from_words(const Word* words, Word* to, uint64_t count, Mapping<Word> mapping) {
  for (uint64_t i = first_index(); i < count; i += stride()) to[i] = mapping.from_word(words[i]);
}

__global__ void split(const Entry* entries, uint64_t count, uint64_t flip, uint64_t* keys,
                      uint64_t* payloads) {
  for (uint64_t i = first_index(); i < count; i += stride()) {
    const Entry entry = entries[i];
    keys[i] = entry.key ^ flip;
    payloads[i] = entry.payload;
  }
}

__global__ void join(const uint64_t* keys, const uint64_t* payloads, uint64_t count, uint64_t flip,
                     Entry* entries) {
  for (uint64_t i = first_index(); i < count; i += stride()) {
    entries[i] = {payloads[i], keys[i] ^ flip};
  }
}

// Memory of one call; `temporary` null: only its size is wanted.
struct Call {
  Kind kind;
  bool descending;
  void* data;
  void* scratch;
  uint64_t count;
  void* temporary;
  size_t* temporary_size;
  cudaStream_t stream;
};

template <typename Word>
cudaError_t sort_numbers(const Call& call) {
  auto* const data = static_cast<Word*>(call.data);
  const Mapping<Word> mapping(call.kind, call.descending);
  cub::DoubleBuffer<Word> words(data, static_cast<Word*>(call.scratch));
  if (call.temporary != nullptr && !mapping.is_identity()) {
    map_to_words<<<blocks_for(call.count), kBlock, 0, call.stream>>>(data, call.count, mapping);
    if (const cudaError_t mapped = cudaGetLastError(); mapped != cudaSuccess) return mapped;
  }
  const cudaError_t sorted = cub::DeviceRadixSort::SortKeys(
      call.temporary, *call.temporary_size, words, call.count, 0, 8 * sizeof(Word), call.stream);
  if (sorted != cudaSuccess || call.temporary == nullptr) return sorted;
  const Word* const result = words.Current();
  if (result == data && mapping.is_identity()) return cudaSuccess;
  map_from_words<<<blocks_for(call.count), kBlock, 0, call.stream>>>(result, data, call.count,
                                                                     mapping);
  return cudaGetLastError();
}

cudaError_t sort_entries(const Call& call) {
  auto* const entries = static_cast<Entry*>(call.data);
  auto* const keys = static_cast<uint64_t*>(call.scratch);
  auto* const payloads = keys + call.count;
  auto* const other = static_cast<uint64_t*>(call.data);
  const uint64_t flip = call.descending ? ~uint64_t{0} : 0;
  if (call.temporary != nullptr) {
    split<<<blocks_for(call.count), kBlock, 0, call.stream>>>(entries, call.count, flip, keys,
                                                              payloads);
    if (const cudaError_t done = cudaGetLastError(); done != cudaSuccess) return done;
  }
  cub::DoubleBuffer<uint64_t> key_columns(keys, other);
  cub::DoubleBuffer<uint64_t> payload_columns(payloads, other + call.count);
  const cudaError_t sorted =
      cub::DeviceRadixSort::SortPairs(call.temporary, *call.temporary_size, key_columns,
                                      payload_columns, call.count, 0, 64, call.stream);
  if (sorted != cudaSuccess || call.temporary == nullptr) return sorted;
  if (key_columns.Current() != keys) {
    const cudaError_t moved =
        cudaMemcpyAsync(keys, other, call.count * sizeof(Entry), cudaMemcpyDefault, call.stream);
    if (moved != cudaSuccess) return moved;
  }
  join<<<blocks_for(call.count), kBlock, 0, call.stream>>>(keys, payloads, call.count, flip,
                                                           entries);
  return cudaGetLastError();
}

cudaError_t sort(const Call& call) {
  switch (call.kind) {
    case Kind::u32:
    case Kind::i32:
    case Kind::f32:
      return sort_numbers<uint32_t>(call);
    case Kind::u64:
    case Kind::i64:
    case Kind::f64:
      return sort_numbers<uint64_t>(call);
    case Kind::entry:
      return sort_entries(call);
  }
  return cudaErrorInvalidValue;
}

}  // namespace
}  // namespace hoist::device::radix_sort

// Enqueues the sort of `count` (not 0) elements at `data`, which are there when it is done;
// `scratch` is as large. With `temporary` null it only tells the bytes of temporary memory that it
// wants.
extern "C" int hoist_cuda_radix_sort(int device, void* stream, uint32_t kind, bool descending,
                                     void* data, void* scratch, uint64_t count, void* temporary,
                                     size_t* temporary_size) {
  using namespace hoist::device::radix_sort;
  return hoist::device::on_device(device, [&] {
    return sort({static_cast<Kind>(kind), descending, data, scratch, count, temporary,
                 temporary_size, static_cast<cudaStream_t>(stream)});
  });
}
