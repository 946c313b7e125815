// Lossless streams in fewer bytes: Zstandard frames of 4 MiB each, which all threads make and undo
// at once. Little-endian:
//
//   u32 size of each frame, as many as the raw size has pieces of 4 MiB; then the frames.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/threads.h"

namespace hoist::tensors {

inline constexpr size_t kPackedFrame = size_t{4} << 20;

// Nothing where it would save less than a 64th: reading the raw bytes is faster then.
std::optional<std::vector<std::byte>> pack(std::span<const std::byte> raw,
                                           ThreadPool* pool = nullptr);

// Untrusted bytes: `corrupt` unless they give exactly raw.size() bytes and are used up.
Status unpack(std::span<const std::byte> packed, std::span<std::byte> raw,
              ThreadPool* pool = nullptr);

// Bytes of a stream from `offset` on.
using ReadPacked = std::function<Status(uint64_t offset, std::span<std::byte> into)>;

// The same of some of the `raw_bytes`, from `offset` on, within them: reads the sizes and the
// frames that hold these.
Status unpack_range(uint64_t packed_bytes, uint64_t raw_bytes, const ReadPacked& read,
                    uint64_t offset, std::span<std::byte> raw, ThreadPool* pool = nullptr);

}  // namespace hoist::tensors
