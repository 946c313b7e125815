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

}  // namespace hoist::tensors
