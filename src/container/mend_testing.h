// For tests and fuzzing: makes the checksums of changed bytes right again, so that what lies behind
// the checksums is tested, too.
#pragma once

#include <cstring>
#include <string>

#include "container/format.h"

namespace hoist::container {

inline void mend_last_eight(std::string& bytes, size_t offset, size_t size, uint64_t place) {
  std::memcpy(&bytes[offset + size - sizeof place], &place, sizeof place);
  const uint64_t check = checksum(as_bytes(bytes).subspan(offset, size));
  std::memcpy(&bytes[offset + size - sizeof check], &check, sizeof check);
}

// Every file header, frame (payload first) and trailer that can be recognised.
inline void mend_checksums(std::string& bytes) {
  if (bytes.size() >= kFileHeaderSize) mend_last_eight(bytes, 0, kFileHeaderSize, 0);
  constexpr std::string_view kTrailerMagic = "\x89HOLOEND";
  for (size_t at = bytes.find(kTrailerMagic); at != std::string::npos;
       at = bytes.find(kTrailerMagic, at + 1)) {
    if (bytes.size() - at >= kTrailerSize) mend_last_eight(bytes, at, kTrailerSize, at);
  }
  for (size_t at = bytes.find(frame_magic()); at != std::string::npos;
       at = bytes.find(frame_magic(), at + 1)) {
    if (bytes.size() - at < kFrameHeaderSize) break;
    mend_last_eight(bytes, at, kFrameHeaderSize, at);
    const auto header = as_bytes(bytes).subspan(at).first<kFrameHeaderSize>();
    Result<Frame> frame = decode_frame_header(header, at);
    if (!frame || frame->end() > bytes.size()) continue;
    frame->payload_checksum =
        checksum(as_bytes(bytes).subspan(frame->payload_offset(), frame->stored_size));
    const auto mended = encode_frame_header(*frame);
    std::memcpy(&bytes[at], mended.data(), mended.size());
  }
}

}  // namespace hoist::container
