#include "tensors/file/foreign_format.h"

#include <fmt/core.h>

#include <string_view>

namespace hoist::tensors {

Status refuse_foreign(const container::Source& source) {
  char magic[4] = {};
  if (source.size() < sizeof magic) return {};
  if (Status read = source.read(0, std::as_writable_bytes(std::span(magic))); !read) return read;
  const std::string_view first(magic, sizeof magic);
  if (first != "HTNS" && first != "HCTN") return {};
  return fail(ErrorCode::unsupported,
              fmt::format("{} is a format of haagenti that is not read ({}): convert it to "
                          "safetensors with the program that wrote it",
                          first, source.name()));
}

}  // namespace hoist::tensors
