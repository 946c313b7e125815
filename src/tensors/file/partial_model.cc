#include "tensors/file/partial_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>

#include "tensors/model/gguf_cursor.h"
#include "tensors/model/gguf_pairs.h"
#include "tensors/model/metadata.h"
#include "tensors/model/model_formats.h"

namespace hoist::tensors {
namespace {

// safetensors holds its own metadata under this name.
constexpr std::string_view kMetadataKey = "__metadata__";

using Kept = std::span<const HoloTensor* const>;

Error unreadable(const std::string& name, std::string_view mend) {
  return fail(ErrorCode::corrupt,
              fmt::format("the header of the packed file is damaged ({}): {}", name, mend));
}

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The dtype and the shape that a header has of a tensor.
struct Described {
  std::string_view dtype;
  std::span<const uint64_t> shape;
};

Described described(const HoloTensor& tensor) {
  return {properties(tensor.description.dtype).name, tensor.description.shape};
}

std::string metadata_entry(std::span<const MetadataPair> pairs) {
  if (pairs.empty()) return {};
  std::string text;
  for (const MetadataPair& pair : pairs) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", json_text(pair.key),
                        json_text(pair.value.bytes));
  }
  return fmt::format("{}:{{{}}}", json_text(kMetadataKey), text);
}

// The header's length and itself, padded to eight bytes; the tensors follow without gaps.
// `metadata`: its entry, or nothing.
Result<PartialModel> safetensors_of(Kept kept, std::span<const Described> descriptions,
                                    const std::string& metadata) {
  std::string text = "{" + metadata;
  uint64_t offset = 0;
  PartialModel model;
  for (size_t i = 0; i < kept.size(); ++i) {
    const uint64_t end = offset + kept[i]->bytes();
    text += fmt::format("{}{}:{{\"dtype\":{},\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                        text.size() > 1 ? "," : "", json_text(kept[i]->name),
                        json_text(descriptions[i].dtype), fmt::join(descriptions[i].shape, ","),
                        offset, end);
    model.offsets.push_back(offset);
    offset = end;
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMaxSafetensorsHeader) {
    return fail(ErrorCode::unsupported,
                fmt::format("a header of {} bytes, and safetensors takes 100 MB: unpack to the "
                            "format that it came from",
                            text.size()));
  }
  const uint64_t size = text.size();
  model.head = std::string(reinterpret_cast<const char*>(&size), sizeof size) + text;
  for (uint64_t& start : model.offsets) start += model.head.size();
  return model;
}

// Types that are not known keep their names and shapes, which the skeleton has.
Result<PartialModel> partial_safetensors(const container::Source& skeleton, Kept kept) {
  const auto damaged = [&] { return unreadable(skeleton.name(), "get the file again"); };
  const Result<SafetensorsHeader> header = read_safetensors_header(skeleton);
  const Result<std::vector<MetadataPair>> metadata = read_safetensors_metadata(skeleton);
  if (!header || !metadata) return damaged();
  NameIndex names;
  for (size_t i = 0; i < header->tensors.size(); ++i) {
    if (!names.add(header->tensors, i)) return damaged();
  }
  std::vector<Described> descriptions;
  for (const HoloTensor* const tensor : kept) {
    if (tensor->stored_as.empty()) {
      if (Status fits = check_for_safetensors(*tensor); !fits) return fits.error();
      descriptions.push_back(described(*tensor));
      continue;
    }
    const std::optional<size_t> number = names.find(header->tensors, tensor->name);
    if (!number) return damaged();
    const ModelTensor& packed = header->tensors[*number];
    if (packed.stored_as != tensor->stored_as || packed.bytes != tensor->bytes()) return damaged();
    descriptions.push_back({packed.stored_as, header->foreign_shapes.at(*number)});
  }
  return safetensors_of(kept, descriptions, metadata_entry(*metadata));
}

// Bytes of a GGUF file's head, some copied, some written anew in its byte order and widths.
class GgufWriter {
 public:
  GgufWriter(const GgufCursor& in, std::span<const std::byte> from) : in_(in), from_(from) {}

  void copy(uint64_t begin, uint64_t end) {
    text_.append(reinterpret_cast<const char*>(from_.data()) + begin, end - begin);
  }
  void number(uint64_t value, size_t bytes) {
    char text[sizeof value];
    std::memcpy(text, &value, sizeof value);
    if (in_.big_endian()) std::reverse(text, text + bytes);
    text_.append(text, bytes);
  }
  std::string take() { return std::move(text_); }

 private:
  const GgufCursor& in_;
  std::span<const std::byte> from_;
  std::string text_;
};

// The pairs and the descriptions of kept tensors as they were, types that are not known included,
// with other offsets.
Result<PartialModel> partial_gguf(const container::Source& skeleton, Kept kept) {
  constexpr uint64_t kVersionEnd = 8;  // of magic and version
  const std::span bytes(skeleton.data(), skeleton.size());
  GgufCursor in(skeleton);
  in.read_version();
  const uint64_t tensors = in.size();
  const uint64_t pairs = in.size();
  const uint64_t pairs_begin = in.position();
  const uint64_t alignment = read_pairs(in, pairs, nullptr);
  const auto damaged = [&] {
    return unreadable(skeleton.name(), "name an output that ends in .safetensors");
  };
  if (!in.ok()) return damaged();
  GgufWriter out(in, bytes);
  out.copy(0, kVersionEnd);
  out.number(kept.size(), in.size_bytes());
  out.number(pairs, in.size_bytes());
  out.copy(pairs_begin, in.position());

  const auto aligned = [&](uint64_t at) { return (at + alignment - 1) / alignment * alignment; };
  PartialModel model;
  std::unordered_map<std::string_view, uint64_t> offsets;  // from where the tensors begin
  uint64_t end = 0;
  for (const HoloTensor* const tensor : kept) {
    const uint64_t begin = aligned(end);
    model.offsets.push_back(begin);
    offsets[tensor->name] = begin;
    end = begin + tensor->bytes();
  }
  size_t described = 0;
  for (uint64_t i = 0; i < tensors && in.ok(); ++i) {
    const uint64_t begin = in.position();
    const std::string tensor = in.text(kMaxGgufName, "a name of more than 64 KiB");
    const auto rank = in.read<uint32_t>();
    for (uint32_t k = 0; k < rank && in.ok(); ++k) in.size();
    in.read<uint32_t>();  // type
    const uint64_t offset_at = in.position();
    in.read<uint64_t>();
    const auto found = offsets.find(tensor);
    if (!in.ok() || found == offsets.end()) continue;
    out.copy(begin, offset_at);
    out.number(found->second, sizeof(uint64_t));
    ++described;
  }
  if (!in.ok() || described != kept.size()) return damaged();
  model.head = out.take();
  model.head.resize(aligned(model.head.size()), '\0');
  for (uint64_t& offset : model.offsets) offset += model.head.size();
  return model;
}

}  // namespace

Status check_for_safetensors(const HoloTensor& tensor) {
  if (!tensor.stored_as.empty()) {
    return fail(ErrorCode::unsupported,
                fmt::format("tensor '{}' is stored as {}, which safetensors does not have: unpack "
                            "to the format that it came from",
                            tensor.name, tensor.stored_as));
  }
  if (const DTypeProperties& type = properties(tensor.description.dtype); !type.in_safetensors) {
    return fail(ErrorCode::unsupported,
                fmt::format("tensor '{}' is of type {}, which safetensors does not have: unpack to "
                            "the format that it came from",
                            tensor.name, type.name));
  }
  if (tensor.name == kMetadataKey) {
    return fail(ErrorCode::unsupported,
                fmt::format("a tensor is called '{}', which safetensors keeps for itself: unpack "
                            "to the format that it came from",
                            tensor.name));
  }
  return {};
}

Result<PartialModel> bare_safetensors(Kept tensors) {
  std::vector<Described> descriptions;
  for (const HoloTensor* const tensor : tensors) {
    if (Status fits = check_for_safetensors(*tensor); !fits) return fits.error();
    descriptions.push_back(described(*tensor));
  }
  return safetensors_of(tensors, descriptions, {});
}

Result<PartialModel> partial_model(ModelFormat format, std::span<const std::byte> skeleton,
                                   Kept kept, const std::string& name) {
  const auto source = container::memory_source(skeleton, name);
  if (format == ModelFormat::safetensors) return partial_safetensors(*source, kept);
  if (format == ModelFormat::gguf) return partial_gguf(*source, kept);
  return fail(ErrorCode::unsupported,
              fmt::format("a .{} with some of its tensors ({}): name an output that ends in "
                          ".safetensors",
                          tensors::name(format), name));
}

}  // namespace hoist::tensors
