// Sorts an array by known keys. The comparator is not called here, and until the last step, when
// the elements have been moved, the array may hold anything.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/threads.h"
#include "ops/qsort/call.h"
#include "ops/qsort/key.h"
#include "ops/qsort/workspace.h"

namespace hoist::qsort {

// What sorting left behind in the workspace.
struct Sorted {
  const char* failure = nullptr;  // why nothing was done: the array is as it was
  const char* other = nullptr;    // what sorted it, where it was not the CPU
  const std::byte* input = nullptr;
  // By which input position a place was filled: entries[i] & index_mask. Null where equal elements
  // are alike to the last bit, so that their order means nothing.
  const uint64_t* entries = nullptr;
  uint64_t index_mask = 0;
};

// Elements that are equal in all keys keep their order. `pool`: null for the calling thread alone.
// With a pool, plain numbers may go to a GPU (gpu_numbers.h). Throws nothing.
Sorted sort_by(const Call& call, const Order& order, const Mappings& mappings, Workspace& workspace,
               ThreadPool* pool);

// The two ways. Either throws where there is no memory for what it keeps on the heap.
//
// Elements that are a single number of 4 or 8 bytes: what became of them. Workspace buffer 0 gets
// the input; `input` says so from when it is complete, and the array stays as it is until then, and
// unless the numbers are sorted.
enum class Numbers { sorted, no_memory, nan, negative_zero };
Numbers sort_numbers(const Call& call, const Key& key, Workspace& workspace, ThreadPool* pool,
                     const std::byte*& input);
// Any: numbers of 64 bits, made of the elements' first key and their index, are sorted instead, and
// the elements then moved once. Workspace buffer 0 holds the input. Null where there is no memory.
struct Keyed {  // what the keys are read from
  const std::byte* elements;
  size_t size;
  const Order& order;
  const Mappings& mappings;
};
const uint64_t* sort_records(const Call& call, const Keyed& keyed, Workspace& workspace,
                             ThreadPool* pool);

// How many low bits of an entry hold the index.
int index_bits(size_t count);

}  // namespace hoist::qsort
