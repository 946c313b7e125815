// A cursor over the head of a GGUF file, in its byte order and with its version's widths. It
// remembers its first error: read first, then ask ok().
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "container/source.h"

namespace hoist::tensors {

class GgufCursor {
 public:
  explicit GgufCursor(const container::Source& source) : source_(source) {}

  // Magic and version; what follows is read as they say.
  void read_version();
  bool big_endian() const { return big_endian_; }
  // Bytes of what size() reads.
  size_t size_bytes() const { return version_ == 1 ? sizeof(uint32_t) : sizeof(uint64_t); }

  const Status& status() const { return status_; }
  bool ok() const { return status_.has_value(); }
  uint64_t position() const { return begin_ + at_; }
  const container::Source& source() const { return source_; }

  template <typename T>
  T read() {
    T value{};
    if (fill(sizeof value)) {
      std::memcpy(&value, window_.data() + at_, sizeof value);
      at_ += sizeof value;
      if (big_endian_) value = turned(value);
    }
    return value;
  }
  // A count, a length or a dimension: version 1 has 32 bits for them.
  uint64_t size() { return version_ == 1 ? read<uint32_t>() : read<uint64_t>(); }
  std::string text(uint64_t limit, std::string_view what);
  void skip(uint64_t size);
  void refuse(std::string_view what);

 private:
  template <typename T>
  static T turned(T value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    std::reverse(bytes, bytes + sizeof value);
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  void too_large();
  // Whether `size` bytes lie in the window from at_ on.
  bool fill(uint64_t size);

  const container::Source& source_;
  Status status_;
  bool big_endian_ = false;
  uint32_t version_ = 3;
  std::vector<char> window_;
  uint64_t begin_ = 0;
  size_t at_ = 0;
};

}  // namespace hoist::tensors
