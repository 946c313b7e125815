#include "service/session/client_json.h"

#include <algorithm>
#include <string>

#include "service/session/json_shape.h"

namespace hoist::service {
namespace {

namespace dom = simdjson::dom;
using Json = nlohmann::ordered_json;

constexpr size_t kFirstCapacity = 4 << 10;
constexpr size_t kKeptCapacity = 256 << 10;  // bytes of text, each with up to 15 of memory

// A thread's parser between two documents.
thread_local std::unique_ptr<dom::parser> idle;

constexpr JsonFault kNoMemory = {.kind = JsonFault::Kind::shape,
                                 .shape = "no memory is left for it"};

}  // namespace

ClientJson::Items ClientJson::items() const {
  dom::array array;
  return element_.get(array) == simdjson::SUCCESS ? Items(array) : Items();
}

ClientJson::Members ClientJson::members() const {
  Members members;
  dom::object object;
  if (element_.get(object) != simdjson::SUCCESS) return members;
  for (const dom::key_value_pair& field : object) members.emplace_back(field.key, field.value);
  // The last of equal keys comes first, and is the one that stays.
  std::reverse(members.begin(), members.end());
  std::stable_sort(members.begin(), members.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  members.erase(std::unique(members.begin(), members.end(), same), members.end());
  return members;
}

std::optional<ClientJson> ClientJson::find(std::string_view key) const {
  std::optional<ClientJson> found;
  dom::object object;
  if (element_.get(object) != simdjson::SUCCESS) return found;
  for (const dom::key_value_pair& field : object) {
    if (field.key == key) found = ClientJson(field.value);
  }
  return found;
}

Json ClientJson::copy() const {
  switch (element_.type()) {
    case dom::element_type::ARRAY: {
      Json::array_t array;
      for (const ClientJson item : items()) array.push_back(item.copy());
      return array;
    }
    case dom::element_type::OBJECT: {
      // Json's own insertion compares a key with all before it.
      Json::object_t object;
      for (const auto& [key, value] : members()) object.emplace_back(key, value.copy());
      return object;
    }
    case dom::element_type::INT64:
      if (const auto number = whole()) return *number;
      return element_.get_int64().value_unsafe();
    case dom::element_type::UINT64:
      return *whole();
    case dom::element_type::DOUBLE:
      return *number();
    case dom::element_type::STRING:
      return std::string(*string());
    case dom::element_type::BOOL:
      return *boolean();
    case dom::element_type::NULL_VALUE:
      break;
  }
  return nullptr;
}

JsonDocument::JsonDocument() : parser_(std::move(idle)) {
  if (parser_ == nullptr) parser_ = std::make_unique<dom::parser>();
}

JsonDocument::~JsonDocument() {
  if (parser_ != nullptr && parser_->capacity() <= kKeptCapacity) idle = std::move(parser_);
}

std::optional<JsonFault> JsonDocument::parse(std::string_view text, size_t slack,
                                             size_t most_values) {
  // With fewer bytes there cannot be too many values.
  const char* shape = text.size() > kMostJsonValues ? check_json_shape(text, most_values) : nullptr;
  if (shape != nullptr) return JsonFault{.kind = JsonFault::Kind::shape, .shape = shape};
  // simdjson does not count an empty list or object at the bottom: the deepest of those that may be
  // parsed are refused, too.
  if (parser_->max_depth() != kMostJsonDepth &&
      parser_->allocate(kFirstCapacity, kMostJsonDepth) != simdjson::SUCCESS) {
    return kNoMemory;
  }
  // An empty view may point nowhere, and simdjson copies before it looks at the size.
  if (text.empty()) return parse_slowly(text, most_values);
  const bool copies = slack < simdjson::SIMDJSON_PADDING;
  const auto parsed = parser_->parse(text.data(), text.size(), copies).get(root_);
  return parsed == simdjson::SUCCESS ? std::nullopt : parse_slowly(text, most_values);
}

// For a text that simdjson refuses: says why, or parses it in a form that simdjson takes. What JSON
// allows and simdjson refuses are integers of more than 64 bits, which are doubles here, a byte
// order mark, and the deepest lists.
std::optional<JsonFault> JsonDocument::parse_slowly(std::string_view text, size_t most_values) {
  // A NUL is in no JSON. nlohmann::json would take it for the end of the text.
  if (const size_t nul = text.find('\0'); nul != text.npos) {
    return JsonFault{.kind = JsonFault::Kind::syntax, .byte = nul + 1};
  }
  if (const char* shape = check_json_shape(text, most_values)) {
    return JsonFault{.kind = JsonFault::Kind::shape, .shape = shape};
  }
  parser_ = std::make_unique<dom::parser>();  // the other's memory goes first
  try {
    const std::string plain = nlohmann::json::parse(text).dump();
    if (parser_->allocate(plain.size(), kMostJsonDepth + 1) != simdjson::SUCCESS ||
        parser_->parse(plain).get(root_) != simdjson::SUCCESS) {
      return kNoMemory;
    }
    return std::nullopt;
  } catch (const nlohmann::json::parse_error& error) {
    return JsonFault{.kind = JsonFault::Kind::syntax, .byte = error.byte};
  } catch (const nlohmann::json::out_of_range&) {
    return JsonFault{.kind = JsonFault::Kind::range};
  }
}

}  // namespace hoist::service
