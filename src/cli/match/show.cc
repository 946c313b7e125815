// hoist match show: what an index knows of patterns.
#include <fmt/core.h>

#include "cli/match/commands.h"
#include "cli/report.h"
#include "match/index/index.h"
#include "match/json/answer.h"
#include "match/json/json_text.h"
#include "match/json/pattern_text.h"

namespace hoist::cli {
namespace {

// An object for each learning, oldest first.
std::string emotives_json(const match::EmotiveList& list) {
  std::vector<std::string> objects;
  for (const match::Emotives& emotives : list) {
    std::string object = "{";
    for (const auto& [key, value] : emotives) {
      if (object.size() > 1) object += ", ";
      object += fmt::format("{}: {}", match::json_string(key), match::json_number(value));
    }
    objects.push_back(object + "}");
  }
  return match::json_array(objects, " ");
}

std::string json_of(const std::string& name, const match::KnownPattern& pattern) {
  return fmt::format("{{\"name\": {}, \"frequency\": {}, {}, \"emotives\": {}, \"metadata\": {}}}",
                     match::json_string(name), pattern.frequency,
                     match::pattern_fields(pattern.events), emotives_json(pattern.emotives),
                     pattern.metadata.empty() ? "null" : pattern.metadata);
}

void print_text(const std::string& name, const match::KnownPattern& pattern) {
  fmt::print("name       {}\n", name);
  if (const auto line = match::words_of(pattern.events)) fmt::print("line       {}\n", *line);
  fmt::print("events     {}\n", match::events_json(pattern.events));
  fmt::print("frequency  {}\n", pattern.frequency);
  if (!pattern.emotives.empty()) fmt::print("emotives   {}\n", emotives_json(pattern.emotives));
  if (!pattern.metadata.empty()) fmt::print("metadata   {}\n", pattern.metadata);
}

}  // namespace

int match_show(const std::string& path, const std::vector<std::string>& names, bool json) {
  const auto index = match::Index::open(path, {.read_only = true});
  if (!index) return report(index.error());
  int status = kDone;
  std::vector<std::string> objects;
  bool any = false;
  for (const std::string& name : names) {
    const auto pattern = (*index)->pattern(name);
    if (!pattern) {
      status = report(pattern.error());
    } else if (json) {
      objects.push_back(json_of(name, *pattern));
    } else {
      if (std::exchange(any, true)) fmt::print("\n");
      print_text(name, *pattern);
    }
  }
  if (json) fmt::print("{}\n", match::json_array(objects, "\n"));
  return status;
}

}  // namespace hoist::cli
