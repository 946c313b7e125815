// The body of a message, whose buffers may be compressed one by one.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arrow/metadata_read.h"
#include "base/result.h"

namespace hoist::arrow {

class Body {
 public:
  Body() = default;
  // Buffers that are decompressed have at most `most_bytes` together.
  Body(std::string bytes, Compression compression, size_t most_bytes)
      : bytes_(std::move(bytes)), compression_(compression), room_(most_bytes) {}
  Body(const Body&) = delete;

  // Views are valid for as long as the body. `corrupt` where it does not lie in the body or does
  // not decompress; `unsupported` where it is too large.
  Result<std::string_view> buffer(const BufferRecord& place);
  // Memory of it.
  size_t bytes() const { return bytes_.size() + unpacked_bytes_; }

 private:
  Result<std::string_view> unpack(std::string_view stored);

  std::string bytes_;
  Compression compression_ = Compression::none;
  size_t room_ = 0;
  size_t unpacked_bytes_ = 0;
  std::vector<std::unique_ptr<char[]>> unpacked_;
};

}  // namespace hoist::arrow
