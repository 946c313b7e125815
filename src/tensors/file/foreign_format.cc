#include "tensors/file/foreign_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

namespace hoist::tensors {

namespace {

// The format of a model file; null where it begins as none.
const char* model_format(std::string_view first, uint64_t size) {
  if (first.starts_with("GGUF")) return "a GGUF file";
  if (first.starts_with("\x93NUMPY")) return "a NumPy file";
  uint64_t header = 0;
  if (first.size() <= sizeof header || first[sizeof header] != '{') return nullptr;
  std::memcpy(&header, first.data(), sizeof header);
  return header <= size - sizeof header ? "a safetensors file" : nullptr;
}

}  // namespace

Status refuse_foreign(const container::Source& source) {
  char magic[9] = {};
  const size_t size = std::min<uint64_t>(source.size(), sizeof magic);
  const auto into = std::as_writable_bytes(std::span(magic)).first(size);
  if (Status read = source.read(0, into); !read) return read;
  const std::string_view first(magic, size);
  if (const char* const format = model_format(first, source.size())) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}, which is not packed ({}): `hoist tensors pack` makes a .holo file "
                            "of it",
                            format, source.name()));
  }
  if (!first.starts_with("HTNS") && !first.starts_with("HCTN")) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("{} is a format of haagenti that is not read ({}): convert it to "
                          "safetensors with the program that wrote it",
                          first.substr(0, 4), source.name()));
}

}  // namespace hoist::tensors
