#include "tensors/file/holo_slice.h"

#include <fmt/core.h>

#include <cstring>

namespace hoist::tensors {

Status read_slice(const HoloTensorReader& reader, size_t tensor, std::span<const AxisRange> axes,
                  std::span<std::byte> into, ThreadPool* pool) {
  const std::vector<HoloTensor>& tensors = reader.header().tensors;
  if (tensor >= tensors.size()) return fail(ErrorCode::not_found, "no such tensor");
  const TensorDescription& description = tensors[tensor].description;
  const Result<SliceRuns> runs = SliceRuns::of(
      {tensors[tensor].name, description.dtype, description.shape}, axes, into.size());
  if (!runs) return runs.error();
  const uint64_t between = runs->end() - runs->begin();
  if (between == into.size()) return reader.decode_range(tensor, runs->begin(), into, pool);
  // Decoding the whole is faster than decoding most of it: its tiles are decoded in place.
  const uint64_t all = tensors[tensor].bytes();
  const bool takes_all = between > all / 2;
  const uint64_t begin = takes_all ? 0 : runs->begin();
  const uint64_t bytes = takes_all ? all : between;
  container::BlockBytes decoded = container::BlockBytes::allocate(bytes);
  if (decoded.size() != bytes) {
    return fail(ErrorCode::exhausted,
                fmt::format("no memory for {} bytes of tensor '{}'", bytes, tensors[tensor].name));
  }
  if (Status done = reader.decode_range(tensor, begin, decoded, pool); !done) return done;
  std::byte* to = into.data();
  return runs->for_each([&](uint64_t offset) -> Status {
    std::memcpy(to, decoded.data() + (offset - begin), runs->run_bytes());
    to += runs->run_bytes();
    return {};
  });
}

}  // namespace hoist::tensors
