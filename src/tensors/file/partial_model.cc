#include "tensors/file/partial_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>

namespace hoist::tensors {
namespace {

using nlohmann::ordered_json;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

tl::unexpected<Error> unreadable(const std::string& name) {
  return fail(ErrorCode::corrupt, fmt::format("the header of the packed file is damaged ({}): name "
                                              "an output that ends in .safetensors",
                                              name));
}

std::string dump(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

Result<PartialModel> partial_safetensors(std::span<const std::byte> skeleton,
                                         std::span<const HoloTensor* const> kept,
                                         const std::string& name) {
  uint64_t size = 0;
  if (skeleton.size() < sizeof size) return unreadable(name);
  std::memcpy(&size, skeleton.data(), sizeof size);
  if (size > skeleton.size() - sizeof size) return unreadable(name);
  const ordered_json header =
      ordered_json::parse(text_of(skeleton.subspan(sizeof size, size)), nullptr, false);
  if (!header.is_object()) return unreadable(name);
  const auto metadata = header.find("__metadata__");
  return bare_safetensors(kept, metadata == header.end() ? "" : dump(*metadata));
}

// Walks over the head of a GGUF file (ggml's docs/gguf.md), which a reader has accepted before; a
// step beyond the end ends the walk.
class GgufHead {
 public:
  explicit GgufHead(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t position() const { return at_; }
  std::string_view between(size_t begin, size_t end) const {
    return bytes_.substr(begin, end - begin);
  }

  template <typename T>
  T read() {
    T value{};
    const std::string_view bytes = take(sizeof value);
    if (ok_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string_view text() { return take(read<uint64_t>()); }
  void skip_value(uint32_t kind, int nesting = 0) {
    constexpr uint8_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    constexpr uint32_t kString = 8;
    constexpr uint32_t kArray = 9;
    constexpr int kMaxNesting = 4;
    if (kind == kString) {
      text();
    } else if (kind == kArray && nesting < kMaxNesting) {
      const auto element = read<uint32_t>();
      const auto count = read<uint64_t>();
      for (uint64_t i = 0; i < count && ok_; ++i) skip_value(element, nesting + 1);
    } else if (kind < sizeof kBytes && kind != kArray) {
      take(kBytes[kind]);
    } else {
      ok_ = false;
    }
  }

 private:
  std::string_view take(uint64_t size) {
    ok_ = ok_ && size <= bytes_.size() - at_;
    if (!ok_) return {};
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }

  std::string_view bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

template <typename T>
void append(std::string& text, T value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The pairs and the descriptions of kept tensors as they were, with other offsets.
Result<PartialModel> partial_gguf(std::span<const std::byte> skeleton,
                                  std::span<const HoloTensor* const> kept,
                                  const std::string& name) {
  constexpr uint32_t kU32 = 4;
  constexpr uint32_t kMaxRank = 8;
  constexpr uint64_t kMaxAlignment = uint64_t{1} << 20;  // as readers have it
  GgufHead in(text_of(skeleton));
  const auto magic = in.read<uint32_t>();
  const auto version = in.read<uint32_t>();
  const auto tensors = in.read<uint64_t>();
  const auto pairs = in.read<uint64_t>();
  if (in.ok() && (version & 0xffff) == 0) {
    return fail(ErrorCode::unsupported,
                fmt::format("a big-endian GGUF with some of its tensors ({}): name an output that "
                            "ends in .safetensors",
                            name));
  }
  const size_t pairs_begin = in.position();
  uint64_t alignment = 32;
  for (uint64_t i = 0; i < pairs && in.ok(); ++i) {
    const std::string_view key = in.text();
    const auto kind = in.read<uint32_t>();
    if (key == "general.alignment" && kind == kU32) {
      alignment = in.read<uint32_t>();
    } else {
      in.skip_value(kind);
    }
  }
  if (!in.ok() || alignment == 0 || alignment > kMaxAlignment) return unreadable(name);
  PartialModel model;
  append(model.head, magic);
  append(model.head, version);
  append<uint64_t>(model.head, kept.size());
  append(model.head, pairs);
  model.head += in.between(pairs_begin, in.position());

  const auto aligned = [&](uint64_t at) { return (at + alignment - 1) / alignment * alignment; };
  std::unordered_map<std::string_view, uint64_t> offsets;  // from where the tensors begin
  uint64_t end = 0;
  for (const HoloTensor* tensor : kept) {
    const uint64_t begin = aligned(end);
    model.offsets.push_back(begin);
    offsets[tensor->name] = begin;
    end = begin + tensor->bytes();
  }
  size_t described = 0;
  for (uint64_t i = 0; i < tensors && in.ok(); ++i) {
    const size_t begin = in.position();
    const std::string_view tensor = in.text();
    const auto rank = in.read<uint32_t>();
    for (uint32_t k = 0; k < std::min(rank, kMaxRank); ++k) in.read<uint64_t>();
    in.read<uint32_t>();  // type
    const size_t offset = in.position();
    in.read<uint64_t>();
    const auto found = offsets.find(tensor);
    if (!in.ok() || found == offsets.end()) continue;
    model.head += in.between(begin, offset);
    append(model.head, found->second);
    ++described;
  }
  if (!in.ok() || described != kept.size()) return unreadable(name);
  model.head.resize(aligned(model.head.size()), '\0');
  for (uint64_t& offset : model.offsets) offset += model.head.size();
  return model;
}

}  // namespace

// The header's length and itself, padded to eight bytes; the tensors follow without gaps.
// `metadata`: the JSON of "__metadata__".
Result<PartialModel> bare_safetensors(std::span<const HoloTensor* const> tensors,
                                      const std::string& metadata) {
  std::string text = "{";
  if (!metadata.empty()) text += fmt::format("\"__metadata__\":{}", metadata);
  uint64_t offset = 0;
  PartialModel model;
  for (const HoloTensor* tensor : tensors) {
    const uint64_t end = offset + tensor->bytes();
    text += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                        text.size() > 1 ? "," : "", dump(ordered_json(tensor->name)),
                        properties(tensor->description.dtype).name,
                        fmt::join(tensor->description.shape, ","), offset, end);
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

Result<PartialModel> partial_model(ModelFormat format, std::span<const std::byte> skeleton,
                                   std::span<const HoloTensor* const> kept,
                                   const std::string& name) {
  if (format == ModelFormat::safetensors) return partial_safetensors(skeleton, kept, name);
  if (format == ModelFormat::gguf) return partial_gguf(skeleton, kept, name);
  return fail(ErrorCode::unsupported,
              fmt::format("a .{} with some of its tensors ({}): name an output that ends in "
                          ".safetensors",
                          tensors::name(format), name));
}

Result<std::string> partial_index(std::span<const std::byte> skeleton,
                                  const std::set<std::string>& left_out, const std::string& name) {
  ordered_json index = ordered_json::parse(text_of(skeleton), nullptr, false);
  const auto map = index.is_object() ? index.find("weight_map") : index.end();
  if (!index.is_object() || map == index.end() || !map->is_object()) return unreadable(name);
  for (const std::string& tensor : left_out) map->erase(tensor);
  return index.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace hoist::tensors
