#include "tensors/model/model_formats.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "tensors/name_index.h"

namespace hoist::tensors {
namespace {

bool ends_with(std::string_view text, std::string_view end) { return text.ends_with(end); }

// What begins so was written by another program under names that look like ours.
Status refuse_foreign(std::string_view first, const std::string& name) {
  const char* what = nullptr;
  if (first == "HTNS") what = "a HoloTensor file of haagenti (HTNS)";
  if (first == "HCTN") what = "a compressed tensor of haagenti (HCTN)";
  if (what == nullptr) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("{} is not read ({}): convert it to safetensors with the program that "
                          "wrote it",
                          what, name));
}

}  // namespace

std::string_view name(ModelFormat format) {
  switch (format) {
    case ModelFormat::safetensors:
      return "safetensors";
    case ModelFormat::gguf:
      return "gguf";
    case ModelFormat::npy:
      return "npy";
    case ModelFormat::npz:
      return "npz";
    case ModelFormat::json_index:
      return "json-index";
  }
  return "";
}

Result<ParsedModel> parse_model(const container::Source& source) {
  std::array<std::byte, 8> head{};
  const size_t size = std::min<uint64_t>(head.size(), source.size());
  if (Status read = source.read(0, std::span(head).first(size)); !read) {
    return read.error();
  }
  const std::string_view first(reinterpret_cast<const char*>(head.data()), size);
  if (Status ours = refuse_foreign(first.substr(0, 4), source.name()); !ours) {
    return ours.error();
  }
  if (ends_with(source.name(), ".safetensors")) return parse_safetensors(source);
  if (first.starts_with("FUGG")) {
    return fail(ErrorCode::corrupt,
                fmt::format("not a valid GGUF file: the first four bytes are turned around, which "
                            "they are in no byte order ({})",
                            source.name()));
  }
  if (first.starts_with("GGUF")) return parse_gguf(source);
  if (first.starts_with("\x93NUMPY")) return parse_npy(source);
  if (first.starts_with("PK\x03\x04") || first.starts_with("PK\x05\x06")) return parse_npz(source);
  if (first == "\x89HOLO\r\n\x1a") {
    return fail(ErrorCode::invalid_argument,
                fmt::format("already a Hoist container ({}): `hoist tensors unpack` reads it",
                            source.name()));
  }
  return parse_safetensors(source);
}

Result<uint64_t> tensor_bytes(DType dtype, std::span<const uint64_t> shape,
                              const std::string& name) {
  if (!element_count(shape)) {
    return fail(ErrorCode::corrupt,
                fmt::format("the shape of tensor '{}' is larger than any file", name));
  }
  const Result<uint64_t> bytes = byte_count(dtype, shape);
  if (!bytes) return fail(ErrorCode::corrupt, fmt::format("'{}': {}", name, bytes.error().message));
  if (*bytes > container::kMaxSize) {
    return fail(ErrorCode::corrupt,
                fmt::format("the shape of tensor '{}' is larger than any file", name));
  }
  return bytes;
}

std::string counted(std::string_view kind, const std::string& first, size_t count) {
  const std::string more = count > 1 ? fmt::format(" and {} more", count - 1) : "";
  return fmt::format("{} '{}'{}", kind, first, more);
}

Status order_tensors(std::vector<ModelTensor>& tensors, const container::Source& source) {
  std::stable_sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.bytes < b.bytes;
  });
  NameIndex names;
  uint64_t end = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const ModelTensor& tensor = tensors[i];
    if (!names.add(tensors, i)) {
      return fail(ErrorCode::corrupt,
                  fmt::format("two tensors are called '{}' ({})", tensor.name, source.name()));
    }
    if (tensor.offset > source.size() || tensor.bytes > source.size() - tensor.offset) {
      return fail(ErrorCode::corrupt,
                  fmt::format("tensor '{}' reaches beyond the end of the file ({}, {} bytes): get "
                              "it again",
                              tensor.name, source.name(), source.size()));
    }
    if (tensor.offset < end) {
      return fail(ErrorCode::corrupt,
                  fmt::format("tensor '{}' overlaps another one ({})", tensor.name, source.name()));
    }
    end = tensor.offset + tensor.bytes;
  }
  return {};
}

}  // namespace hoist::tensors
