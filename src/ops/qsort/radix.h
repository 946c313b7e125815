// Sorting unsigned numbers by radix, ascending, over several threads where there are many.
//
// The most significant digit is dealt out by all threads, then each bucket, which by then fits a
// core's cache, is sorted by its next digits, least significant first. Digits are taken from the
// range that the numbers really span, anew in each run of numbers that they leave equal, so that
// clustered numbers cost a few more rounds and not more: McIlroy, Bostic, McIlroy: "Engineering
// Radix Sort" (1993), and Polychroniou, Ross: "A Comprehensive Study of Main-Memory Partitioning
// and its Application to Large-Scale Comparison- and Radix-Sort" (2014).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/threads.h"

namespace hoist::qsort {

// Sorts `words`; `scratch` is as large. The lowest `ascending_bits` bits are known to ascend among
// words whose other bits are equal, and are left that way: an index below a key costs nothing.
// For uint32_t and uint64_t. `pool` is null for the calling thread alone.
template <typename Word>
void radix_sort(Word* words, Word* scratch, size_t count, int ascending_bits, ThreadPool* pool);

// The same of words that are at least `low`, by less than 2 to the power of `bits`, on the calling
// thread. Meant for what fits a core's cache.
template <typename Word>
void radix_sort_within(Word* words, Word* scratch, size_t count, Word low, int bits);

}  // namespace hoist::qsort
