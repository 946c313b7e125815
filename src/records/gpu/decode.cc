#include "records/gpu/decode.h"

#include <algorithm>

#include "device/kernel.h"
#include "records/gpu/decode_on_host.h"
#include "records/gpu/output_values.h"

namespace hoist::records {
namespace {

constinit const device::Kernel<const SymbolJob*, uint32_t, uint32_t*> symbols_kernel(
    "hoist_cuda_records_symbols", "decoding of symbols");
constinit const device::Kernel<const SequenceJob*, uint32_t, uint32_t*> sequences_kernel(
    "hoist_cuda_records_sequences", "decoding of sequences");
constinit const device::Kernel<const OutputJob*, uint32_t, uint32_t> outputs_kernel(
    "hoist_cuda_records_outputs", "columns of records");
constinit const device::Kernel<const uint8_t*, uint64_t, uint64_t*> count_kernel(
    "hoist_cuda_records_count", "counting of rows");
constinit const device::Kernel<const uint8_t*, uint64_t, const uint64_t*, const void*, uint32_t,
                               void*>
    gather_kernel("hoist_cuda_records_gather", "choice of rows");
constinit const device::Kernel<const uint8_t*, uint64_t, uint32_t*> bits_kernel(
    "hoist_cuda_records_bits", "packing of bits");

constinit const device::Kernel<int32_t*, uint64_t, const int32_t*, uint32_t> renumber_kernel(
    "hoist_cuda_records_renumber", "numbering of codes");

constexpr uint32_t kMostJobs = 65535;

}  // namespace

Status decode_symbols(device::Stream& stream, const SymbolJob* jobs, uint32_t count,
                      uint32_t* flags) {
  if (count == 0) return {};
  return symbols_kernel.launch_or_run(
      stream,
      [=] {
        for (uint32_t i = 0; i < count; ++i) decode_symbols_on_host(jobs[i], flags);
      },
      jobs, count, flags);
}

Status decode_sequences(device::Stream& stream, const SequenceJob* jobs, uint32_t count,
                        uint32_t* flags) {
  if (count == 0) return {};
  return sequences_kernel.launch_or_run(
      stream,
      [=] {
        for (uint32_t i = 0; i < count; ++i) decode_sequence_on_host(jobs[i], flags);
      },
      jobs, count, flags);
}

Status write_outputs(device::Stream& stream, const OutputJob* jobs, uint32_t count, uint32_t rows) {
  if (rows == 0) return {};
  for (uint32_t at = 0; at < count; at += kMostJobs) {
    const OutputJob* const part = jobs + at;
    const uint32_t size = std::min(kMostJobs, count - at);
    const Status status = outputs_kernel.launch_or_run(
        stream,
        [=] {
          for (uint32_t i = 0; i < size; ++i) {
            for (uint32_t row = 0; row < part[i].rows; ++row) write_output(part[i], row);
          }
        },
        part, size, rows);
    if (!status) return status;
  }
  return {};
}

Status count_kept(device::Stream& stream, const uint8_t* kept, uint64_t count, uint64_t* ranks) {
  return count_kernel.launch_or_run(
      stream, [=] { count_kept_on_host(kept, count, ranks); }, kept, count, ranks);
}

Status gather_kept(device::Stream& stream, const uint8_t* kept, uint64_t count,
                   const uint64_t* ranks, const void* from, unsigned bytes, void* to) {
  if (count == 0) return {};
  return gather_kernel.launch_or_run(
      stream, [=] { gather_kept_on_host(kept, count, from, bytes, to); }, kept, count, ranks, from,
      bytes, to);
}

Status renumber_codes(device::Stream& stream, int32_t* codes, uint64_t count,
                      const int32_t* numbers, uint32_t entries) {
  if (count == 0) return {};
  return renumber_kernel.launch_or_run(
      stream,
      [=] {
        for (uint64_t i = 0; i < count; ++i) {
          const auto code = static_cast<uint32_t>(codes[i]);
          if (code < entries) codes[i] = numbers[code];
        }
      },
      codes, count, numbers, entries);
}

Status pack_bits(device::Stream& stream, const uint8_t* flags, uint64_t count, uint32_t* bits) {
  if (count == 0) return {};
  return bits_kernel.launch_or_run(
      stream,
      [=] {
        for (uint64_t word = 0; word < (count + 31) / 32; ++word) {
          uint32_t value = 0;
          for (uint64_t i = 32 * word; i < std::min(count, 32 * word + 32); ++i) {
            value |= uint32_t{flags[i] != 0} << i % 32;
          }
          bits[word] = value;
        }
      },
      flags, count, bits);
}

}  // namespace hoist::records
