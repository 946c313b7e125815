#include "service/node/pattern_lines.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "service/session/json_shape.h"
#include "service/session/python_text.h"

namespace hoist::service {
namespace {

using Json = nlohmann::ordered_json;

Error wrong(std::string_view what) { return fail(ErrorCode::invalid_argument, std::string(what)); }

Status read_events(const ClientJson& list, PatternRecord& record) {
  const auto fault = wrong("\"events\" is no list of lists of strings");
  if (!list.is_array()) return fault;
  for (const ClientJson& event : list) {
    if (!event.is_array()) return fault;
    Event& read = record.events.emplace_back();
    for (const ClientJson& symbol : event) {
      if (!symbol.is_string()) return fault;
      read.push_back(symbol.get<std::string>());
    }
    if (read.empty()) {
      record.events.pop_back();
      continue;
    }
    // As observed: symbols of vectors first, each kind by itself.
    const auto strings = std::stable_partition(
        read.begin(), read.end(), [](const std::string& s) { return s.starts_with("VCTR|"); });
    std::sort(read.begin(), strings);
    std::sort(strings, read.end());
  }
  return {};
}

Status read_emotives(const ClientJson& value, PatternRecord& record) {
  const ClientJson list = value.is_object() ? ClientJson::array({value}) : value;
  const auto fault = wrong("\"emotives\" is no object of numbers and no list of such");
  if (!list.is_array()) return fault;
  for (const ClientJson& entry : list) {
    if (!entry.is_object()) return fault;
    std::map<std::string, double> sorted;
    for (const auto& [name, number] : entry.items()) {
      if (!number.is_number()) return fault;
      sorted[name] = number.get<double>();
    }
    record.emotives.emplace_back(sorted.begin(), sorted.end());
  }
  return {};
}

Status read_metadata(const ClientJson& value, PatternRecord& record) {
  if (!value.is_object()) return wrong("\"metadata\" is no object");
  for (const auto& [key, item] : value.items()) {
    if (!item.is_array()) {
      record.metadata[key].insert(python_text(item));
      continue;
    }
    for (const ClientJson& one : item) record.metadata[key].insert(python_text(one));
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
  if (ClientJson kept = ClientJson::parse(metadata, nullptr, false);
      kept.is_object() && !kept.empty()) {
    line["metadata"] = std::move(kept);
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
