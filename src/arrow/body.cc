#include "arrow/body.h"

#include <fmt/core.h>
#include <lz4frame.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>

namespace hoist::arrow {
namespace {

struct FreeLz4 {
  void operator()(LZ4F_dctx* context) const { LZ4F_freeDecompressionContext(context); }
};

// Whether `stored` is one frame, or several, of exactly `size` bytes.
bool unpack_lz4(std::string_view stored, char* into, size_t size) {
  LZ4F_dctx* made = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&made, LZ4F_VERSION)) != 0) return false;
  const std::unique_ptr<LZ4F_dctx, FreeLz4> context(made);
  size_t written = 0, left = 1;
  while (!stored.empty()) {
    size_t taken = stored.size(), got = size - written;
    left = LZ4F_decompress(context.get(), into + written, &got, stored.data(), &taken, nullptr);
    if (LZ4F_isError(left) != 0 || (taken == 0 && got == 0)) return false;
    stored.remove_prefix(taken);
    written += got;
  }
  return left == 0 && written == size;
}

bool unpack_zstd(std::string_view stored, char* into, size_t size) {
  const size_t got = ZSTD_decompress(into, size, stored.data(), stored.size());
  return ZSTD_isError(got) == 0 && got == size;
}

}  // namespace

Result<std::string_view> Body::buffer(const BufferRecord& place) {
  const auto total = static_cast<int64_t>(bytes_.size());
  if (place.offset < 0 || place.size < 0 || place.offset > total ||
      place.size > total - place.offset) {
    return fail(ErrorCode::corrupt, "a buffer lies outside the body");
  }
  const std::string_view stored = std::string_view(bytes_).substr(static_cast<size_t>(place.offset),
                                                                  static_cast<size_t>(place.size));
  if (compression_ == Compression::none || stored.empty()) return stored;
  return unpack(stored);
}

// In front of what is compressed stands its size; -1: it is not compressed.
Result<std::string_view> Body::unpack(std::string_view stored) {
  const Error damaged = fail(ErrorCode::corrupt, "a compressed buffer is damaged");
  int64_t size = 0;
  if (stored.size() < sizeof size) return damaged;
  std::memcpy(&size, stored.data(), sizeof size);
  stored.remove_prefix(sizeof size);
  if (size == -1) return stored;
  if (size < 0) return damaged;
  if (static_cast<uint64_t>(size) > room_) {
    return fail(ErrorCode::unsupported, "its compressed buffers are too large: write smaller ones");
  }
  const auto count = static_cast<size_t>(size);
  std::unique_ptr<char[]> into(new char[count]);  // not made_unique: zeros would be overwritten
  const bool is_whole = compression_ == Compression::lz4 ? unpack_lz4(stored, into.get(), count)
                                                         : unpack_zstd(stored, into.get(), count);
  if (!is_whole) return damaged;
  room_ -= count;
  unpacked_bytes_ += count;
  unpacked_.push_back(std::move(into));
  return std::string_view(unpacked_.back().get(), count);
}

}  // namespace hoist::arrow
