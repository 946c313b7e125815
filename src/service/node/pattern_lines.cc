#include "service/node/pattern_lines.h"

#include <fmt/core.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "service/node/pattern_fields.h"
#include "service/session/json_shape.h"

namespace hoist::service {
namespace {

using Json = nlohmann::ordered_json;

Error wrong(std::string_view what) { return fail(ErrorCode::invalid_argument, std::string(what)); }

Status read_events(const ClientJson& list, PatternRecord& record) {
  const auto fault = wrong("\"events\" is no list of lists of strings");
  if (!list.is_array()) return fault;
  for (const ClientJson& event : list) {
    if (!event.is_array()) return fault;
    Event read;
    for (const ClientJson& symbol : event) {
      if (!symbol.is_string()) return fault;
      read.push_back(symbol.get<std::string>());
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
  if (const ClientJson kept = ClientJson::parse(metadata, nullptr, false);
      kept.is_object() && !kept.empty()) {
    line["metadata"] = kept;
  }
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<PatternRecord> parse_pattern_line(std::string_view line) {
  if (const char* fault = check_json_shape(line)) return wrong(fault);
  const ClientJson json = ClientJson::parse(line, nullptr, false);
  PatternRecord record;
  if (json.is_array()) {
    if (Status read = read_events(json, record); !read) return read.error();
    return record;
  }
  if (!json.is_object()) return wrong("no JSON object, and no list of events");
  const auto events = json.find("events");
  if (events == json.end()) return wrong("\"events\" is missing");
  if (Status read = read_events(*events, record); !read) return read.error();
  if (const auto name = json.find("name"); name != json.end()) {
    if (!name->is_string()) return wrong("\"name\" is no string");
    record.name = name->get<std::string>();
  }
  if (const auto frequency = json.find("frequency"); frequency != json.end()) {
    if (!frequency->is_number_unsigned() || *frequency < 1U || *frequency > UINT32_MAX) {
      return wrong("\"frequency\" is no whole number from 1 on");
    }
    record.frequency = frequency->get<uint32_t>();
  }
  if (const auto emotives = json.find("emotives"); emotives != json.end()) {
    if (Status read = read_emotives(*emotives, record); !read) return read.error();
  }
  if (const auto metadata = json.find("metadata"); metadata != json.end()) {
    if (Status read = read_metadata(*metadata, record); !read) return read.error();
  }
  return record;
}

}  // namespace hoist::service
