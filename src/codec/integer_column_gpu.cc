#include "codec/integer_column_gpu.h"

#include <algorithm>
#include <cstring>

#include "codec/bitpack.h"
#include "codec/stream_parts.h"
#include "device/kernel.h"

namespace hoist::codec {
namespace {

using device::Kernel;

constinit const Kernel<uint64_t, uint64_t, unsigned, void*> fill_constant(
    "hoist_cuda_constant_fill", "filling a constant column");
constinit const Kernel<const void*, uint64_t, uint64_t, const void*, uint32_t, unsigned, void*,
                       uint32_t*>
    decode_dictionary("hoist_cuda_dictionary_decode", "decoding a dictionary column");
constinit const Kernel<const void*, const void*, uint64_t, uint64_t, unsigned, void*, uint32_t*>
    expand_runs("hoist_cuda_runs_expand", "expanding runs");

constexpr size_t kHeaderBytes = 16;
constexpr size_t kConstantBytes = 16;

Error wrong_size() { return fail(ErrorCode::corrupt, "wrong size (integer column)"); }

}  // namespace

Result<DeviceIntegerColumn> DeviceIntegerColumn::upload(device::Stream& stream,
                                                        std::span<const std::byte> packed) {
  const Result<IntegerColumnInfo> info = inspect_integers(packed);
  if (!info) return info.error();
  if (info->value_bytes < 4) {
    return fail(ErrorCode::unsupported,
                "values of fewer than 4 bytes (integer column on the GPU): decode them on the CPU");
  }
  Result<BitpackGpuDecoder> decoder = BitpackGpuDecoder::create(stream);
  if (!decoder) return decoder.error();
  DeviceIntegerColumn column(*info, std::move(*decoder));
  if (Status status = column.upload_payload(packed.subspan(kHeaderBytes)); !status) {
    return status.error();
  }
  return column;
}

Result<DeviceIntegerColumn::Part> DeviceIntegerColumn::upload_part(
    std::span<const std::byte> packed, unsigned value_bytes, bool decoded) const {
  const Result<BitpackView> view = BitpackView::open(packed);
  if (!view) return view.error();
  if (view->value_bytes() != value_bytes || view->count() > info_.count) return wrong_size();
  device::Device& device = decoder_.stream().device();
  Part part;
  part.value_bytes = value_bytes;
  part.count = view->count();
  Result<device::Buffer> bytes = device::Buffer::copy_of(device, packed);
  if (!bytes) return bytes.error();
  part.bytes = std::move(*bytes);
  if (decoded) {
    // Bounded: a stream has at least 20 bytes for each 1024 values.
    Result<device::Buffer> buffer =
        device::Buffer::allocate(device, std::max<uint64_t>(1, part.count) * value_bytes);
    if (!buffer) return buffer.error();
    // Damaged tiles are not written: what was in this memory before must not reach the output.
    if (Status status = buffer->fill(std::byte{0}); !status) return status.error();
    part.decoded = std::move(*buffer);
  }
  return part;
}

Status DeviceIntegerColumn::upload_payload(std::span<const std::byte> payload) {
  if (info_.coding == IntegerCoding::constant) {
    if (payload.size() != kConstantBytes) return wrong_size();
    uint64_t words[2];
    std::memcpy(words, payload.data(), sizeof words);
    if (words[1] != 0 || (words[0] & ~low_bits(8 * info_.value_bytes)) != 0) return wrong_size();
    constant_ = words[0];
    return {};
  }
  const auto keep = [](Result<Part> part, Part& where) -> Status {
    if (!part) return part.error();
    where = std::move(*part);
    return {};
  };
  if (info_.coding == IntegerCoding::bitpack) {
    if (Status status = keep(upload_part(payload, info_.value_bytes, false), first_); !status) {
      return status;
    }
    if (first_.count != info_.count) return wrong_size();
    return {};
  }
  const bool runs = info_.coding == IntegerCoding::run_length;
  const Result<StreamParts> parts =
      split_parts(runs ? kRunLengthMagic : kDictionaryMagic, info_.value_bytes, payload);
  if (!parts) return parts.error();
  if (parts->count != info_.count || !parts->rest.empty()) return wrong_size();
  if (Status status = keep(upload_part(parts->first, info_.value_bytes, true), first_); !status) {
    return status;
  }
  const unsigned second_bytes = runs ? sizeof(uint64_t) : sizeof(uint32_t);
  if (Status status = keep(upload_part(parts->second, second_bytes, runs), second_); !status) {
    return status;
  }
  if (runs ? first_.count != second_.count || (first_.count == 0) != (info_.count == 0)
           : second_.count != info_.count) {
    return wrong_size();
  }
  return {};
}

Status DeviceIntegerColumn::launch(device::Buffer& out) {
  if (out.size() / info_.value_bytes < info_.count) {
    return fail(ErrorCode::invalid_argument, "output smaller than the column (integer column)");
  }
  if (info_.count == 0) return {};
  switch (info_.coding) {
    case IntegerCoding::constant:
      return launch_constant(out.data());
    case IntegerCoding::bitpack:
      return decoder_.launch(first_.packed(), out.data());
    case IntegerCoding::dictionary:
      return launch_dictionary(out.data());
    case IntegerCoding::run_length:
      return launch_runs(out.data());
  }
  return fail(ErrorCode::internal, "unknown coding (integer column)");
}

Status DeviceIntegerColumn::launch_constant(void* out) {
  return fill_constant.launch(decoder_.stream(), constant_, info_.count, info_.value_bytes, out);
}

Status DeviceIntegerColumn::launch_dictionary(void* out) {
  if (Status status = decoder_.launch(first_.packed(), first_.decoded.data()); !status)
    return status;
  // Codes have 32 bits: no entry beyond them can be meant.
  const auto entries = static_cast<uint32_t>(std::min<uint64_t>(first_.count, UINT32_MAX));
  return decode_dictionary.launch(decoder_.stream(), second_.bytes.data(), second_.bytes.size(),
                                  second_.count, first_.decoded.data(), entries, info_.value_bytes,
                                  out, decoder_.first_bad());
}

Status DeviceIntegerColumn::launch_runs(void* out) {
  for (Part* part : {&first_, &second_}) {
    if (Status status = decoder_.launch(part->packed(), part->decoded.data()); !status)
      return status;
  }
  return expand_runs.launch(decoder_.stream(), first_.decoded.data(), second_.decoded.data(),
                            first_.count, info_.count, info_.value_bytes, out,
                            decoder_.first_bad());
}

}  // namespace hoist::codec
