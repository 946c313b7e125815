#include "service/node/pattern_lines.h"

#include <fmt/core.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "service/node/pattern_fields.h"
#include "service/session/client_json.h"

namespace hoist::service {
namespace {

using Json = nlohmann::ordered_json;

Error wrong(std::string_view what) { return fail(ErrorCode::invalid_argument, std::string(what)); }

Status read_events(const ClientJson& list, PatternRecord& record) {
  const auto fault = [] { return wrong("\"events\" is no list of lists of strings"); };
  if (!list.is_array()) return fault();
  record.events.reserve(list.items().size());
  for (const ClientJson event : list.items()) {
    if (!event.is_array()) return fault();
    Event read;
    read.reserve(event.items().size());
    for (const ClientJson symbol : event.items()) {
      const auto text = symbol.string();
      if (!text) return fault();
      read.emplace_back(*text);
    }
    add_event(std::move(read), record);
  }
  return {};
}

}  // namespace

std::string pattern_line(const match::VisitedPattern& pattern, std::string_view metadata) {
  Json line = {
      {"name", pattern.name}, {"events", pattern.events}, {"frequency", pattern.frequency}};
  if (pattern.emotives != nullptr && !pattern.emotives->empty()) {
    Json& list = line["emotives"] = Json::array();
    for (const match::Emotives& entry : *pattern.emotives) {
      Json object = Json::object();
      for (const auto& [name, value] : entry) object[name] = value;
      list.push_back(std::move(object));
    }
  }
  if (const auto kept = nlohmann::json::parse(metadata, nullptr, false);
      kept.is_object() && !kept.empty()) {
    line["metadata"] = kept;
  }
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<PatternRecord> parse_pattern_line(std::string_view line, size_t most_values) {
  constexpr std::string_view kNeither = "no JSON object, and no list of events";
  JsonDocument document;
  if (const auto fault = document.parse(line, 0, most_values)) {
    return wrong(fault->kind == JsonFault::Kind::shape ? fault->shape : kNeither);
  }
  const ClientJson json = document.root();
  PatternRecord record;
  if (json.is_array()) {
    if (Status read = read_events(json, record); !read) return read.error();
    return record;
  }
  if (!json.is_object()) return wrong(kNeither);
  const auto events = json.find("events");
  if (!events) return wrong("\"events\" is missing");
  if (Status read = read_events(*events, record); !read) return read.error();
  if (const auto name = json.find("name")) {
    const auto text = name->string();
    if (!text) return wrong("\"name\" is no string");
    record.name = *text;
  }
  if (const auto frequency = json.find("frequency")) {
    const auto number = frequency->whole();
    if (!number || *number < 1 || *number > UINT32_MAX) {
      return wrong("\"frequency\" is no whole number from 1 on");
    }
    record.frequency = static_cast<uint32_t>(*number);
  }
  if (const auto emotives = json.find("emotives")) {
    if (Status read = read_emotives(nlohmann::json(emotives->copy()), record); !read)
      return read.error();
  }
  if (const auto metadata = json.find("metadata")) {
    if (Status read = read_metadata(nlohmann::json(metadata->copy()), record); !read)
      return read.error();
  }
  return record;
}

}  // namespace hoist::service
