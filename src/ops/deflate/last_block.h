// Making a finished DEFLATE stream (RFC 1951) one that goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace hoist::deflate {

// Bytes behind a stream that the functions below may read, of any content.
constexpr size_t kReadMargin = 8;
// Bytes by which open_end() makes a stream longer, at most.
constexpr size_t kOpenEnd = 6;

// Where the last block's header and the end of its last code are, in bits from the stream's start.
struct LastBlock {
  size_t header = 0;
  size_t end = 0;
};

// Decodes the stream's `size` bytes, without keeping what they mean. For streams of our own making:
// nothing where it is not a whole one, but distances are not checked.
std::optional<LastBlock> find_last_block(const uint8_t* stream, size_t size);

// Clears the mark of the last block and appends an empty stored block, so that another stream may
// follow at the next byte. The new size; 0 where the stream is not a whole one. Needs room for
// kOpenEnd and kReadMargin more bytes.
size_t open_end(uint8_t* stream, size_t size);

}  // namespace hoist::deflate
