#include "codec/run_length.h"

#include <fmt/core.h>

#include <algorithm>

#include "codec/bitpack.h"
#include "codec/stream_parts.h"

namespace hoist::codec {
namespace {

Error corrupt(const char* what) {
  return fail(ErrorCode::corrupt, fmt::format("{} (run-length stream)", what));
}

// Writes a run at the front of `left`. A short one is written as a block of fixed size, a few
// vector stores without a branch; the next runs overwrite the excess.
template <typename T>
void fill_run(std::span<T> left, uint64_t length, T value) {
  constexpr size_t kBlock = 16;
  if (length <= kBlock && left.size() >= kBlock) {
    std::fill_n(left.begin(), kBlock, value);
  } else {
    std::fill_n(left.begin(), length, value);
  }
}

}  // namespace

template <typename T>
size_t count_runs(std::span<const T> values) {
  size_t borders = 0;
  for (size_t i = 1; i < values.size(); ++i) borders += values[i] != values[i - 1] ? 1 : 0;
  return values.empty() ? 0 : borders + 1;
}

template <typename T>
Runs<T> find_runs(std::span<const T> values) {
  Runs<T> runs;
  const size_t count = count_runs(values);
  runs.values.reserve(count);
  runs.ends.reserve(count);
  for (size_t begin = 0; begin < values.size();) {
    size_t end = begin + 1;
    while (end < values.size() && values[end] == values[begin]) ++end;
    runs.values.push_back(values[begin]);
    runs.ends.push_back(end);
    begin = end;
  }
  return runs;
}

template <typename T>
uint64_t run_length_size(const Runs<T>& runs) {
  return kStreamPartsHeader + bitpack_size<T>(runs.values) + bitpack_size<uint64_t>(runs.ends);
}

template <typename T>
Result<std::vector<std::byte>> encode_runs(const Runs<T>& runs) {
  const Result<std::vector<std::byte>> values = encode_bitpack<T>(runs.values);
  if (!values) return values;
  const Result<std::vector<std::byte>> ends = encode_bitpack<uint64_t>(runs.ends);
  if (!ends) return ends;
  const uint64_t count = runs.ends.empty() ? 0 : runs.ends.back();
  return join_parts(kRunLengthMagic, sizeof(T), {count, *values, *ends, {}});
}

template <typename T>
Status decode_runs(std::span<const std::byte> stream, std::span<T> out) {
  const Result<StreamParts> parts = split_parts(kRunLengthMagic, sizeof(T), stream);
  if (!parts) return parts.error();
  const Result<BitpackView> values = BitpackView::open(parts->first);
  if (!values) return values.error();
  const Result<BitpackView> ends = BitpackView::open(parts->second);
  if (!ends) return ends.error();
  if (parts->count != out.size() || values->count() != ends->count() ||
      values->value_bytes() != sizeof(T) || ends->value_bytes() != sizeof(uint64_t) ||
      !parts->rest.empty()) {
    return corrupt("wrong size");
  }
  T value_tile[kTileValues];
  uint64_t end_tile[kTileValues];
  uint64_t done = 0;
  for (uint64_t run = 0; run < values->count(); run += kTileValues) {
    const size_t wanted = std::min<uint64_t>(kTileValues, values->count() - run);
    const uint64_t tile = run / kTileValues;
    if (Status status = values->decode<T>(tile, std::span(value_tile, wanted)); !status)
      return status;
    if (Status status = ends->decode<uint64_t>(tile, std::span(end_tile, wanted)); !status) {
      return status;
    }
    for (size_t i = 0; i < wanted; ++i) {
      if (end_tile[i] <= done || end_tile[i] > out.size()) return corrupt("run out of place");
      fill_run(out.subspan(done), end_tile[i] - done, value_tile[i]);
      done = end_tile[i];
    }
  }
  if (done != out.size()) return corrupt("too few runs");
  return {};
}

template size_t count_runs(std::span<const uint8_t>);
template size_t count_runs(std::span<const uint16_t>);
template size_t count_runs(std::span<const uint32_t>);
template size_t count_runs(std::span<const uint64_t>);
template Runs<uint8_t> find_runs(std::span<const uint8_t>);
template Runs<uint16_t> find_runs(std::span<const uint16_t>);
template Runs<uint32_t> find_runs(std::span<const uint32_t>);
template Runs<uint64_t> find_runs(std::span<const uint64_t>);
template uint64_t run_length_size(const Runs<uint8_t>&);
template uint64_t run_length_size(const Runs<uint16_t>&);
template uint64_t run_length_size(const Runs<uint32_t>&);
template uint64_t run_length_size(const Runs<uint64_t>&);
template Result<std::vector<std::byte>> encode_runs(const Runs<uint8_t>&);
template Result<std::vector<std::byte>> encode_runs(const Runs<uint16_t>&);
template Result<std::vector<std::byte>> encode_runs(const Runs<uint32_t>&);
template Result<std::vector<std::byte>> encode_runs(const Runs<uint64_t>&);
template Status decode_runs(std::span<const std::byte>, std::span<uint8_t>);
template Status decode_runs(std::span<const std::byte>, std::span<uint16_t>);
template Status decode_runs(std::span<const std::byte>, std::span<uint32_t>);
template Status decode_runs(std::span<const std::byte>, std::span<uint64_t>);

}  // namespace hoist::codec
