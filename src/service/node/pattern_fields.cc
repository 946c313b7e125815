#include "service/node/pattern_fields.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "service/session/python_text.h"

namespace hoist::service {

void add_event(Event event, PatternRecord& record) {
  if (event.empty()) return;
  const auto strings = std::stable_partition(
      event.begin(), event.end(), [](const std::string& s) { return s.starts_with("VCTR|"); });
  std::sort(event.begin(), strings);
  std::sort(strings, event.end());
  record.events.push_back(std::move(event));
}

Status read_emotives(const nlohmann::json& value, PatternRecord& record) {
  const nlohmann::json list = value.is_object() ? nlohmann::json::array({value}) : value;
  const auto fault =
      fail(ErrorCode::invalid_argument, "\"emotives\" is no object of numbers and no list of such");
  if (!list.is_array()) return fault;
  for (const nlohmann::json& entry : list) {
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

Status read_metadata(const nlohmann::json& value, PatternRecord& record) {
  if (!value.is_object()) return fail(ErrorCode::invalid_argument, "\"metadata\" is no object");
  for (const auto& [key, item] : value.items()) {
    if (!item.is_array()) {
      record.metadata[key].insert(python_text(item));
      continue;
    }
    for (const nlohmann::json& one : item) record.metadata[key].insert(python_text(one));
  }
  return {};
}

}  // namespace hoist::service
