#include "tensors/file/packing.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>

#include "base/bytes.h"
#include "codec/general.h"

namespace hoist::tensors {
namespace {

void for_each(ThreadPool* pool, size_t count, const std::function<void(size_t)>& body) {
  if (pool != nullptr) return pool->parallel_for(count, body);
  for (size_t i = 0; i < count; ++i) body(i);
}

size_t frames_of(size_t raw) { return (raw + kPackedFrame - 1) / kPackedFrame; }

template <typename Byte>
std::span<Byte> frame_of(std::span<Byte> raw, size_t frame) {
  const size_t begin = frame * kPackedFrame;
  return raw.subspan(begin, std::min(kPackedFrame, raw.size() - begin));
}

}  // namespace

std::optional<std::vector<std::byte>> pack(std::span<const std::byte> raw, ThreadPool* pool) {
  const codec::Codec& zstd = codec::codec_of(codec::CodecId::zstd);
  std::vector<std::vector<std::byte>> frames(frames_of(raw.size()));
  std::atomic<bool> failed = false;
  for_each(pool, frames.size(), [&](size_t i) {
    Result<std::vector<std::byte>> frame = zstd.compress(frame_of(raw, i), zstd.default_level);
    if (!frame) {
      failed = true;
    } else {
      frames[i] = std::move(*frame);
      frames[i].shrink_to_fit();
    }
  });
  size_t total = sizeof(uint32_t) * frames.size();
  for (const auto& frame : frames) total += frame.size();
  if (failed || total > raw.size() - raw.size() / 64 || total >= raw.size()) return std::nullopt;
  std::vector<std::byte> packed(total);
  std::byte* sizes = packed.data();
  std::byte* to = packed.data() + sizeof(uint32_t) * frames.size();
  for (auto& frame : frames) {
    const auto size = static_cast<uint32_t>(frame.size());
    std::memcpy(sizes, &size, sizeof size);
    sizes += sizeof size;
    to = std::copy(frame.begin(), frame.end(), to);
    frame = {};
  }
  return packed;
}

Status unpack(std::span<const std::byte> packed, std::span<std::byte> raw, ThreadPool* pool) {
  const auto damaged = [] { return fail(ErrorCode::corrupt, "a packed stream is damaged"); };
  const size_t count = frames_of(raw.size());
  ByteReader in(packed);
  if (packed.size() / sizeof(uint32_t) < count) return damaged();
  std::vector<uint32_t> sizes(count);
  for (uint32_t& size : sizes) size = in.read<uint32_t>();
  std::vector<std::span<const std::byte>> frames;
  frames.reserve(count);
  for (const uint32_t size : sizes) frames.push_back(in.take(size));
  if (!in.ok() || in.remaining() != 0) return damaged();
  const codec::Codec& zstd = codec::codec_of(codec::CodecId::zstd);
  std::atomic<bool> failed = false;
  for_each(pool, count, [&](size_t i) {
    if (!zstd.decompress(frames[i], frame_of(raw, i))) failed = true;
  });
  return failed ? Status(damaged()) : Status();
}

Status unpack_range(uint64_t packed_bytes, uint64_t raw_bytes, const ReadPacked& read,
                    uint64_t offset, std::span<std::byte> raw, ThreadPool* pool) {
  const auto damaged = [] { return fail(ErrorCode::corrupt, "a packed stream is damaged"); };
  if (raw.empty()) return {};
  const size_t count = frames_of(raw_bytes);
  if (packed_bytes / sizeof(uint32_t) < count) return damaged();
  std::vector<uint32_t> sizes(count);
  if (Status got = read(0, std::as_writable_bytes(std::span(sizes))); !got) return got;
  std::vector<uint64_t> begins(count + 1, sizeof(uint32_t) * count);
  for (size_t i = 0; i < count; ++i) begins[i + 1] = begins[i] + sizes[i];
  if (begins[count] != packed_bytes) return damaged();

  const size_t first = offset / kPackedFrame;
  const size_t last = frames_of(offset + raw.size());
  std::vector<std::byte> packed(begins[last] - begins[first]);
  if (Status got = read(begins[first], packed); !got) return got;
  const codec::Codec& zstd = codec::codec_of(codec::CodecId::zstd);
  std::atomic<bool> failed = false;
  for_each(pool, last - first, [&](size_t i) {
    const size_t frame = first + i;
    const auto from = std::span(packed).subspan(begins[frame] - begins[first], sizes[frame]);
    const uint64_t begin = uint64_t{frame} * kPackedFrame;
    const uint64_t size = std::min<uint64_t>(kPackedFrame, raw_bytes - begin);
    const uint64_t wanted = std::max(begin, offset);
    const uint64_t wanted_end = std::min(begin + size, offset + raw.size());
    const auto into = raw.subspan(wanted - offset, wanted_end - wanted);
    if (into.size() == size) {
      if (!zstd.decompress(from, into)) failed = true;
      return;
    }
    std::vector<std::byte> whole(size);
    if (!zstd.decompress(from, whole)) {
      failed = true;
      return;
    }
    std::copy_n(whole.data() + (wanted - begin), into.size(), into.data());
  });
  return failed ? Status(damaged()) : Status();
}

}  // namespace hoist::tensors
