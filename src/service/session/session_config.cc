#include "service/session/session_config.h"

#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace hoist::service {
namespace {

using Json = SessionConfig::Json;

Json built_in() {
  return {{"max_pattern_length", 0},
          {"persistence", 5},
          {"recall_threshold", 0.1},
          {"stm_mode", "CLEAR"},
          {"indexer_type", "VI"},
          {"max_predictions", 100},
          {"sort_symbols", true},
          {"sort", true},
          {"process_predictions", true},
          {"use_token_matching", true},
          {"rank_sort_algo", "potential"},
          {"filter_pipeline", Json::array()},
          {"length_min_ratio", 0.5},
          {"length_max_ratio", 2.0},
          {"jaccard_threshold", 0.3},
          {"jaccard_min_overlap", 2},
          {"minhash_threshold", 0.7},
          {"minhash_bands", 20},
          {"minhash_rows", 5},
          {"minhash_num_hashes", 100},
          {"bloom_false_positive_rate", 0.01},
          {"max_candidates_per_stage", 100000},
          {"enable_filter_metrics", true}};
}

// The service's defaults, which a reload replaces while others read them.
struct Defaults {
  std::mutex mutex;
  std::shared_ptr<const Json> values = std::make_shared<const Json>(built_in());
};
Defaults& shared_defaults() {
  static Defaults all;
  return all;
}
std::shared_ptr<const Json> defaults() {
  Defaults& all = shared_defaults();
  const std::lock_guard lock(all.mutex);
  return all.values;
}

std::string number_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

// An empty text: the value is fine.
std::string check_number(const Json& value, double least, double most) {
  if (value.is_number() && value.get<double>() >= least && value.get<double>() <= most) return {};
  if (std::isinf(most)) return fmt::format("Must be a number of at least {}", number_text(least));
  return fmt::format("Must be a number between {} and {}", number_text(least), number_text(most));
}

// 5.0 is an integer, too.
bool is_whole(const Json& value) {
  if (!value.is_number_float()) return value.is_number();
  const double number = value.get<double>();
  return std::abs(number) < 1e15 && number == std::floor(number);
}

std::string check_integer(const Json& value, int64_t least, int64_t most) {
  const bool is_huge = value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX;
  if (is_whole(value) && !is_huge) {
    const auto number = value.get<int64_t>();
    if (number >= least && number <= most) return {};
  }
  if (most == INT64_MAX) {
    return least == 0 ? "Must be a non-negative integer"
                      : fmt::format("Must be an integer of at least {}", least);
  }
  return fmt::format("Must be an integer between {} and {}", least, most);
}

std::string check_name(const Json& value, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (value.is_string() && value.get_ref<const std::string&>() == name) return {};
  }
  std::string text = "Must be one of: ";
  for (const std::string& name : names) text += (&name == &names[0] ? "" : ", ") + name;
  return text;
}

std::string check_flag(const Json& value) {
  return value.is_boolean() ? "" : "Must be a boolean (true/false)";
}

std::string check_filters(const Json& value) {
  const char* fault = "Must be a list of: minhash, length, jaccard, bloom, rapidfuzz";
  if (!value.is_array()) return fault;
  for (const Json& filter : value) {
    if (!check_name(filter, {"minhash", "length", "jaccard", "bloom", "rapidfuzz"}).empty()) {
      return fault;
    }
  }
  return {};
}

std::vector<std::string> rank_names() {
  std::vector<std::string> names;
  for (size_t i = 0; i < match::kRankKeys; ++i) {
    names.emplace_back(match::name(static_cast<match::RankKey>(i)));
  }
  return names;
}

struct Key {
  std::string_view name;
  std::string (*check)(const Json& value);
};

constexpr int64_t kAny = INT64_MAX;

constexpr Key kKeys[] = {
    {"recall_threshold", [](const Json& v) { return check_number(v, 0, 1); }},
    {"persistence", [](const Json& v) { return check_integer(v, 1, 100); }},
    {"max_pattern_length", [](const Json& v) { return check_integer(v, 0, kAny); }},
    {"max_predictions", [](const Json& v) { return check_integer(v, 1, 10'000); }},
    {"indexer_type",
     [](const Json& v) {
       return check_name(v, {"VI", "LSH", "ANNOY", "FAISS"});
     }},
    {"stm_mode",
     [](const Json& v) { return std::string(v.is_string() ? "" : "Must be a string"); }},
    {"sort", check_flag},
    {"sort_symbols", check_flag},
    {"process_predictions", check_flag},
    {"use_token_matching", check_flag},
    {"enable_filter_metrics", check_flag},
    {"fuzzy_token_threshold", [](const Json& v) { return check_number(v, 0, 1); }},
    {"rank_sort_algo", [](const Json& v) { return check_name(v, rank_names()); }},
    {"affinity_emotive",
     [](const Json& v) { return std::string(v.is_string() ? "" : "Must be a string"); }},
    {"filter_pipeline", check_filters},
    {"length_min_ratio", [](const Json& v) { return check_number(v, 0, 1); }},
    {"length_max_ratio", [](const Json& v) { return check_number(v, 1, INFINITY); }},
    {"jaccard_threshold", [](const Json& v) { return check_number(v, 0, 1); }},
    {"jaccard_min_overlap", [](const Json& v) { return check_integer(v, 1, kAny); }},
    {"minhash_threshold", [](const Json& v) { return check_number(v, 0, 1); }},
    {"minhash_bands", [](const Json& v) { return check_integer(v, 1, 100); }},
    {"minhash_rows", [](const Json& v) { return check_integer(v, 1, 20); }},
    {"minhash_num_hashes", [](const Json& v) { return check_integer(v, 10, 256); }},
    {"bloom_false_positive_rate", [](const Json& v) { return check_number(v, 0.0001, 0.1); }},
    {"max_candidates_per_stage", [](const Json& v) { return check_integer(v, 100, kAny); }},
};

const Key* find_key(std::string_view name) {
  for (const Key& key : kKeys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

// Checks all of `updates` before it changes any of `values`.
SessionConfig::Faults update_values(Json& values, const Json& updates) {
  SessionConfig::Faults faults;
  for (const auto& [name, value] : updates.items()) {
    const Key* key = find_key(name);
    if (key == nullptr || value.is_null()) continue;
    if (std::string fault = key->check(value); !fault.empty()) faults[name] = std::move(fault);
  }
  if (!faults.empty()) return faults;
  for (const auto& [name, value] : updates.items()) {
    if (find_key(name) == nullptr) continue;
    if (value.is_null()) {
      values.erase(name);
    } else if (name == "stm_mode" && value != "ROLLING") {
      values[name] = "CLEAR";
    } else {
      values[name] = value;
    }
  }
  // The reference compares characters without sorting, symbols with.
  if (updates.contains("use_token_matching") && !updates.contains("sort_symbols") &&
      values.contains("use_token_matching")) {
    values["sort_symbols"] = values["use_token_matching"];
  }
  return faults;
}

}  // namespace

SessionConfig::Faults SessionConfig::update(const Json& updates) {
  return update_values(values_, updates);
}

SessionConfig::Faults SessionConfig::set_defaults(const Json& updates) {
  Faults faults;
  for (const auto& [name, value] : updates.items()) {
    if (find_key(name) == nullptr) faults[name] = "There is no such setting";
  }
  if (const auto mode = updates.find("stm_mode"); mode != updates.end() && !mode->is_null()) {
    if (std::string fault = check_name(*mode, {"CLEAR", "ROLLING"}); !fault.empty()) {
      faults["stm_mode"] = std::move(fault);
    }
  }
  Json values = built_in();
  faults.merge(update_values(values, updates));
  if (!faults.empty()) return faults;
  // null is the built-in default here, too.
  const Json own = built_in();
  for (const auto& [name, value] : own.items()) {
    if (!values.contains(name)) values[name] = value;
  }
  Defaults& all = shared_defaults();
  const std::lock_guard lock(all.mutex);
  all.values = std::make_shared<const Json>(std::move(values));
  return faults;
}

Json SessionConfig::effective() const {
  Json all = *defaults();
  for (const auto& [name, value] : values_.items()) all[name] = value;
  return all;
}

Json SessionConfig::value(const char* key) const {
  if (const auto own = values_.find(key); own != values_.end()) return *own;
  const std::shared_ptr<const Json> all = defaults();
  const auto found = all->find(key);
  return found != all->end() ? *found : Json();
}

double SessionConfig::recall_threshold() const { return value("recall_threshold"); }
size_t SessionConfig::max_predictions() const { return value("max_predictions"); }
size_t SessionConfig::max_pattern_length() const { return value("max_pattern_length"); }
bool SessionConfig::is_rolling() const { return value("stm_mode") == "ROLLING"; }
bool SessionConfig::use_token_matching() const { return value("use_token_matching"); }
double SessionConfig::fuzzy_token_threshold() const {
  const Json threshold = value("fuzzy_token_threshold");
  return threshold.is_number() ? threshold.get<double>() : 0;
}
match::RankKey SessionConfig::rank() const {
  return match::rank_key_named(value("rank_sort_algo").get<std::string>())
      .value_or(match::RankKey::potential);
}
std::string SessionConfig::affinity_emotive() const {
  const Json emotive = value("affinity_emotive");
  return emotive.is_string() ? emotive.get<std::string>() : std::string();
}

}  // namespace hoist::service
