// What a block's `codec` means. The container stores the number and does not decode: engines do.
// A number is never given a second meaning.
#pragma once

#include <cstdint>

namespace hoist::container {

enum CodecNumber : uint16_t {
  kStored = 0,  // the raw bytes
  kLz4 = 1,     // one LZ4 block
  kZstd = 2,    // one Zstandard frame (RFC 8878)

  // 16 to 255: Hoist's own codecs, numbered where they are defined.
  kFirstOwnCodec = 16,
  // From here on the file's kind says what a number means.
  kFirstOfKind = 256,
};

}  // namespace hoist::container
