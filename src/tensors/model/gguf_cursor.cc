#include "tensors/model/gguf_cursor.h"

#include <fmt/core.h>

#include "tensors/model/model_source.h"

namespace hoist::tensors {
namespace {

constexpr uint64_t kWindow = uint64_t{64} << 10;
constexpr uint32_t kMagic = 0x46554747;  // "GGUF", in files of either byte order
constexpr uint32_t kNewestVersion = 3;

}  // namespace

void GgufCursor::read_version() {
  if (read<uint32_t>() != kMagic) return refuse("it does not begin with GGUF");
  version_ = read<uint32_t>();
  if (!ok()) return;
  // Versions are small: in the other byte order all of the number is in its upper half.
  big_endian_ = (version_ & 0xffff) == 0;
  if (big_endian_) version_ = turned(version_);
  if (version_ >= 1 && version_ <= kNewestVersion) return;
  status_ = fail(ErrorCode::unsupported,
                 fmt::format("GGUF version {} ({}): versions 1 to {} are read, use a newer version "
                             "of Hoist",
                             version_, source_.name(), kNewestVersion));
}

std::string GgufCursor::text(uint64_t limit, std::string_view what) {
  const uint64_t length = size();
  if (ok() && length > limit) refuse(what);
  if (!ok() || !fill(length)) return {};
  std::string value(window_.data() + at_, length);
  at_ += length;
  return value;
}

void GgufCursor::skip(uint64_t size) {
  const uint64_t left = source_.size() - std::min(source_.size(), position());
  if (!ok()) return;
  if (size > left) return refuse("the header is cut off");
  const uint64_t target = position() + size;
  if (target > kMaxHeaderBytes) return too_large();
  if (size <= window_.size() - at_) {
    at_ += size;
    return;
  }
  begin_ = target;
  at_ = 0;
  window_.clear();
}

void GgufCursor::refuse(std::string_view what) {
  if (!ok()) return;
  status_ =
      fail(ErrorCode::corrupt, fmt::format("not a valid GGUF file: {} ({})", what, source_.name()));
}

void GgufCursor::too_large() {
  if (!ok()) return;
  status_ = fail(ErrorCode::exhausted,
                 fmt::format("a GGUF header of more than 256 MiB ({})", source_.name()));
}

bool GgufCursor::fill(uint64_t size) {
  if (!ok()) return false;
  if (window_.size() - at_ >= size) return true;
  begin_ += at_;
  at_ = 0;
  window_.clear();
  const uint64_t left = source_.size() - std::min(source_.size(), begin_);
  if (size > left) return refuse("the header is cut off"), false;
  if (begin_ + size > kMaxHeaderBytes) return too_large(), false;
  window_.resize(std::min(left, std::max(kWindow, size)));
  status_ = source_.read(begin_, std::as_writable_bytes(std::span(window_)));
  return ok();
}

}  // namespace hoist::tensors
