#include "container/foreign.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "container/format.h"
#include "container/frames.h"
#include "container/magic.h"

namespace hoist::container {
namespace {

constexpr size_t kLook = 64;

// The first bytes, as many as there are.
Result<std::string> beginning(const Source& source, size_t most) {
  std::string bytes(std::min<uint64_t>(most, source.size()), '\0');
  const Status read = source.read(0, std::as_writable_bytes(std::span(bytes)));
  if (!read) return read.error();
  return bytes;
}

bool is_text(std::string_view bytes) {
  return !bytes.empty() && std::all_of(bytes.begin(), bytes.end(), [](unsigned char c) {
    return c >= ' ' || c == '\n' || c == '\t' || c == '\r';
  });
}

// Empty where it is not known.
std::string_view look_of(std::string_view bytes) {
  struct Known {
    std::string_view magic;
    std::string_view name;
  };
  static constexpr Known kKnown[] = {
      {"GGUF", "a GGUF model"},
      {"\x93NUMPY", "an .npy array"},
      {"PK\x03\x04", "a zip archive"},
      {"\x1f\x8b", "a gzip file"},
      {"\x28\xb5\x2f\xfd", "a zstd file"},
      {"\x7f"
       "ELF",
       "a program"},
  };
  if (bytes.empty()) return "an empty file";
  for (const Known& known : kKnown) {
    if (bytes.starts_with(known.magic)) return known.name;
  }
  // A length of at most 4 GiB, then JSON.
  if (bytes.size() > 8 && bytes.substr(4, 4) == std::string_view("\0\0\0\0", 4) &&
      bytes[8] == '{') {
    return "a safetensors model";
  }
  return is_text(bytes) ? "text" : "";
}

}  // namespace

Result<bool> is_foreign(const Source& source) {
  const Result<std::string> bytes = beginning(source, kFileMagic.size());
  if (!bytes) return bytes.error();
  if (std::memcmp(bytes->data(), kFileMagic.data(), bytes->size()) == 0) return bytes->empty();
  const Result<Frame> frame = FrameWalker(source).at(kFileHeaderSize);
  if (!frame && frame.error().code == ErrorCode::io) return frame.error();
  return !frame;
}

Error not_a_container(const Source& source) {
  const Result<std::string> bytes = beginning(source, kLook);
  const std::string_view look = bytes ? look_of(*bytes) : "";
  return fail(ErrorCode::corrupt, fmt::format("not a .holo or .hrec file{}{} ({}): check the path",
                                              look.empty() ? "" : ", but ", look, source.name()));
}

}  // namespace hoist::container
