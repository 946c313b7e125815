#include "cli/tensors/metadata.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace hoist::cli {
namespace {

using namespace tensors;
using nlohmann::ordered_json;

constexpr size_t kShownBytes = 72;      // of a text
constexpr uint64_t kShownElements = 4;  // of an array

// Calls `use` with number `index` of a value, as the type that it has.
template <typename Use>
auto with_number(const MetadataValue& value, uint64_t index, Use&& use) {
  const auto load = [&](auto number) {
    std::memcpy(&number, value.bytes.data() + index * sizeof number, sizeof number);
    return number;
  };
  switch (value.kind) {
    case MetadataKind::u8:
      return use(load(uint8_t{}));
    case MetadataKind::i8:
      return use(load(int8_t{}));
    case MetadataKind::u16:
      return use(load(uint16_t{}));
    case MetadataKind::i16:
      return use(load(int16_t{}));
    case MetadataKind::u32:
      return use(load(uint32_t{}));
    case MetadataKind::i32:
      return use(load(int32_t{}));
    case MetadataKind::f32:
      return use(load(float{}));
    case MetadataKind::boolean:
      return use(load(uint8_t{}) != 0);
    case MetadataKind::i64:
      return use(load(int64_t{}));
    case MetadataKind::f64:
      return use(load(double{}));
    default:
      return use(load(uint64_t{}));
  }
}

ordered_json number_json(const MetadataValue& value, uint64_t index) {
  return with_number(value, index, [](auto number) -> ordered_json {
    if constexpr (std::is_floating_point_v<decltype(number)>) {
      if (!std::isfinite(number)) return fmt::format("{}", number);
    }
    return number;
  });
}

ordered_json value_json(const MetadataValue& value) {
  if (!value.is_array) {
    return value.kind == MetadataKind::text ? ordered_json(value.bytes) : number_json(value, 0);
  }
  auto list = ordered_json::array();
  for (const std::string& text : value.texts) list.push_back(text);
  for (const MetadataValue& array : value.arrays) list.push_back(value_json(array));
  if (metadata_bytes(value.kind) != 0) {
    for (uint64_t i = 0; i < value.count; ++i) list.push_back(number_json(value, i));
  }
  return list;
}

// Quoted and on one line; cut between characters of UTF-8.
std::string shown_text(std::string_view text) {
  const bool is_cut = text.size() > kShownBytes;
  size_t end = std::min(text.size(), kShownBytes);
  while (is_cut && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return ordered_json(text.substr(0, end))
             .dump(-1, ' ', false, ordered_json::error_handler_t::replace) +
         (is_cut ? fmt::format("… ({} bytes)", text.size()) : "");
}

std::string shown_value(const MetadataValue& value);

std::string shown_element(const MetadataValue& array, uint64_t index) {
  if (array.kind == MetadataKind::text) return shown_text(array.texts[index]);
  if (array.kind == MetadataKind::array) return shown_value(array.arrays[index]);
  return with_number(array, index, [](auto number) { return fmt::format("{}", number); });
}

std::string shown_value(const MetadataValue& value) {
  if (!value.is_array) {
    if (value.kind == MetadataKind::text) return shown_text(value.bytes);
    return with_number(value, 0, [](auto number) { return fmt::format("{}", number); });
  }
  std::string text = fmt::format("{} of {} [", value.count, name(value.kind));
  const uint64_t shown = std::min(value.count, kShownElements);
  for (uint64_t i = 0; i < shown; ++i) {
    text += fmt::format("{}{}", i > 0 ? ", " : "", shown_element(value, i));
  }
  return text + (shown < value.count ? ", …]" : "]");
}

}  // namespace

ordered_json metadata_json(const std::vector<MetadataPair>& pairs) {
  auto list = ordered_json::array();
  for (const auto& [key, value] : pairs) {
    const std::string type = value.is_array ? fmt::format("array of {}", name(value.kind))
                                            : std::string(name(value.kind));
    list.push_back({{"key", key}, {"type", type}, {"value", value_json(value)}});
  }
  return list;
}

void print_metadata(const std::vector<MetadataPair>& pairs) {
  for (const auto& [key, value] : pairs) {
    fmt::print("    {} = {}\n", key, shown_value(value));
  }
}

}  // namespace hoist::cli
