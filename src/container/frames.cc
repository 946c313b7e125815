#include "container/frames.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/checksum.h"
#include "base/threads.h"
#include "container/digest.h"

namespace hoist::container {
namespace {

constexpr size_t kWindowSize = 4096;
constexpr size_t kChunkSize = size_t{256} << 10;
constexpr size_t kPieceSize = size_t{2} << 20;

std::span<const std::byte, kFrameHeaderSize> header_of(Bytes bytes) {
  return bytes.first<kFrameHeaderSize>();
}

}  // namespace

Result<Bytes> FrameWalker::window(uint64_t offset, size_t wanted) {
  const auto length = static_cast<size_t>(std::min<uint64_t>(wanted, source_.size() - offset));
  if (source_.data() != nullptr) return Bytes(source_.data() + offset, length);
  const bool inside = offset >= window_offset_ && window_.size() >= kFrameHeaderSize &&
                      offset - window_offset_ <= window_.size() - kFrameHeaderSize;
  if (!inside) {
    window_.resize(length);
    window_offset_ = offset;
    if (Status read = source_.read(offset, MutableBytes(window_)); !read) {
      window_.clear();
      return read.error();
    }
  }
  return Bytes(window_).subspan(offset - window_offset_);
}

Result<Frame> FrameWalker::at(uint64_t offset) {
  const uint64_t size = source_.size();
  if (offset > size || size - offset < kFrameHeaderSize) {
    return fail(ErrorCode::corrupt, "the file is cut off in a frame header");
  }
  Result<Bytes> bytes = window(offset, kWindowSize);
  if (!bytes) return bytes.error();
  Result<Frame> frame = decode_frame_header(header_of(*bytes), offset);
  if (frame && frame->end() > size) {
    return fail(ErrorCode::corrupt, "the file is cut off in a frame's payload");
  }
  return frame;
}

Result<std::optional<Frame>> FrameWalker::find(uint64_t offset) {
  const std::string_view magic = frame_magic();
  const uint64_t size = source_.size();
  // Most gaps are short, and many of them must not cost a large read each.
  size_t wanted = kWindowSize;
  while (offset < size && size - offset >= kFrameHeaderSize) {
    const Result<Bytes> chunk = window(offset, wanted);
    if (!chunk) return chunk.error();
    for (size_t from = 0; chunk->size() - from >= kFrameHeaderSize; ++from) {
      const void* hit =
          ::memmem(chunk->data() + from, chunk->size() - from, magic.data(), magic.size());
      if (hit == nullptr) break;
      from = static_cast<size_t>(static_cast<const std::byte*>(hit) - chunk->data());
      if (chunk->size() - from < kFrameHeaderSize) break;
      Result<Frame> frame = decode_frame_header(header_of(chunk->subspan(from)), offset + from);
      if (frame && frame->end() <= size) return *frame;
    }
    // A header may begin in this chunk's last bytes and end in the next.
    offset += chunk->size() - (kFrameHeaderSize - 1);
    wanted = std::min(2 * wanted, kChunkSize);
  }
  return std::nullopt;
}

bool is_zero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

Result<PayloadCheck> check_payload(const Source& source, const Frame& frame, bool with_digest,
                                   MutableBytes buffer) {
  PayloadCheck check;
  Xxh3 checksum;
  std::optional<FrameDigest> digest;
  if (with_digest) digest.emplace(frame);
  const size_t step = source.data() != nullptr ? kChunkSize : buffer.size();
  const uint64_t payload = frame.payload_offset();
  uint64_t at = frame.offset + kFrameHeaderSize;
  while (at < frame.end()) {
    // Padding first, on its own.
    const uint64_t until = at < payload ? payload : frame.end();
    const auto length = static_cast<size_t>(std::min<uint64_t>(until - at, step));
    Bytes piece = buffer.first(std::min(length, buffer.size()));
    if (source.data() != nullptr) {
      piece = Bytes(source.data() + at, length);
    } else if (Status read = source.read(at, buffer.first(length)); !read) {
      return read.error();
    }
    if (at < payload) {
      check.padding_is_zero = check.padding_is_zero && is_zero(piece);
    } else {
      checksum.update(piece.data(), piece.size());
      if (digest) digest->update(piece);
    }
    at += length;
  }
  check.checksum_holds = checksum.finish() == frame.payload_checksum;
  if (digest) check.digest = digest->finish();
  return check;
}

Result<PayloadCheck> check_payload_on_all_threads(const Source& source, const Frame& frame,
                                                  bool with_digest,
                                                  const std::function<void(uint64_t)>& checked) {
  PayloadCheck check;
  Xxh3 checksum;
  std::optional<FrameDigest> digest;
  if (with_digest) digest.emplace(frame);
  std::vector<std::byte> padding(frame.payload_offset() - frame.offset - kFrameHeaderSize);
  if (Status read = source.read(frame.offset + kFrameHeaderSize, MutableBytes(padding)); !read) {
    return read.error();
  }
  check.padding_is_zero = is_zero(padding);

  ThreadPool& pool = ThreadPool::process();
  std::vector<Status> reads(static_cast<size_t>(pool.size()));
  std::vector<std::byte> hashed(source.data() == nullptr ? reads.size() * kPieceSize : 0);
  std::vector<std::byte> being_read(hashed.size());
  const uint64_t window = reads.size() * kPieceSize;
  Bytes ready;
  for (uint64_t at = frame.payload_offset();; at += ready.size()) {
    const auto length = static_cast<size_t>(std::min(window, frame.end() - at));
    const size_t pieces = source.data() == nullptr ? (length + kPieceSize - 1) / kPieceSize : 0;
    pool.parallel_for(2 + pieces, [&](size_t i) {
      if (i == 0) {
        checksum.update(ready.data(), ready.size());
      } else if (i == 1) {
        if (digest) digest->update(ready);
      } else {
        const size_t first = (i - 2) * kPieceSize;
        const size_t size = std::min(kPieceSize, length - first);
        reads[i - 2] = source.read(at + first, MutableBytes(being_read).subspan(first, size));
      }
    });
    checked(at - frame.payload_offset());
    for (size_t i = 0; i < pieces; ++i) {
      if (!reads[i]) return reads[i].error();
    }
    if (length == 0) break;
    hashed.swap(being_read);
    ready =
        source.data() != nullptr ? Bytes(source.data() + at, length) : Bytes(hashed).first(length);
  }
  check.checksum_holds = checksum.finish() == frame.payload_checksum;
  if (digest) check.digest = digest->finish();
  return check;
}

}  // namespace hoist::container
