// Run-length coding: the values of a column's runs and where they end, both bit-packed (bitpack.h;
// docs/reference/bitpacking.md has the format). Ends rather than lengths: they pack as differences,
// so they take the same space, and every tile of runs still knows its place in the column, which
// lets all be expanded at once, on the GPU (integer_column_gpu.h) or by threads.
//
//   const Runs<uint32_t> runs = find_runs<uint32_t>(column);
//   if (run_length_size(runs) < …) Result<std::vector<std::byte>> stream = encode_runs(runs);
//   Status status = decode_runs<uint32_t>(*stream, values);
//
// Types: uint8_t, uint16_t, uint32_t, uint64_t. A stream of 100 bytes can stand for 2^32 values:
// the caller allocates, and decodes into exactly what it expects.
//
// Decoding trusts no byte: `corrupt` for what is damaged, no access outside the spans, and 12 KiB
// of memory. Thread-safe: no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace hoist::codec {

template <typename T>
struct Runs {
  std::vector<T> values;
  std::vector<uint64_t> ends;  // rising; run i is [ends[i - 1], ends[i]), the first one from 0
};

// How many find_runs() would find; far cheaper.
template <typename T>
size_t count_runs(std::span<const T> values);

template <typename T>
Runs<T> find_runs(std::span<const T> values);

// Exactly the size of its stream.
template <typename T>
uint64_t run_length_size(const Runs<T>& runs);

// Errors are those of encode_bitpack.
template <typename T>
Result<std::vector<std::byte>> encode_runs(const Runs<T>& runs);

template <typename T>
Status decode_runs(std::span<const std::byte> stream, std::span<T> out);

}  // namespace hoist::codec
