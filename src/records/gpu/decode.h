// The steps that decode columns (records/gpu/jobs.h) on a stream of any device: kernels on a GPU,
// the same arithmetic in host code on the CPU device. Jobs lie in the device's memory, and what
// they point to is there for the work that follows on the stream.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "device/stream.h"
#include "records/gpu/jobs.h"

namespace hoist::records {

Status decode_symbols(device::Stream& stream, const SymbolJob* jobs, uint32_t count,
                      uint32_t* flags);
Status decode_sequences(device::Stream& stream, const SequenceJob* jobs, uint32_t count,
                        uint32_t* flags);
// `rows`: the most that one of the jobs has.
Status write_outputs(device::Stream& stream, const OutputJob* jobs, uint32_t count, uint32_t rows);

// Entries of arrays that are kept: `kept` has a byte for each entry. `ranks` has room for a number
// for each kKeptChunk of them, and one more, which becomes how many are kept.
inline constexpr uint32_t kKeptChunk = 1024;
Status count_kept(device::Stream& stream, const uint8_t* kept, uint64_t count, uint64_t* ranks);
// Copies the kept entries, of `bytes` bytes (1, 4 or 8) each, behind count_kept().
Status gather_kept(device::Stream& stream, const uint8_t* kept, uint64_t count,
                   const uint64_t* ranks, const void* from, unsigned bytes, void* to);

// Code i becomes numbers[i], of `entries`; others stay.
Status renumber_codes(device::Stream& stream, int32_t* codes, uint64_t count,
                      const int32_t* numbers, uint32_t entries);

// Bytes of 0 and 1 as bits, the first lowest; `bits` has whole words of 4 bytes.
Status pack_bits(device::Stream& stream, const uint8_t* flags, uint64_t count, uint32_t* bits);

}  // namespace hoist::records
