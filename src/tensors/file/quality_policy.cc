#include "tensors/file/quality_policy.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace hoist::tensors {
namespace {

// Greedy, going back to the last star only: linear but for the product with the pattern's length.
bool matches_whole(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

template <typename Number>
bool parse(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

bool matches(std::string_view pattern, std::string_view name) {
  if (matches_whole(pattern, name)) return true;
  for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    if (matches_whole(pattern, name.substr(dot + 1))) return true;
  }
  return false;
}

QualityPolicy::QualityPolicy(double otherwise) : otherwise_(std::clamp(otherwise, 0.0, 1.0)) {}

void QualityPolicy::add(LayerQualityTarget rule) {
  rule.quality = std::clamp(rule.quality, 0.0, 1.0);
  const auto behind = std::find_if(rules_.begin(), rules_.end(), [&](const auto& other) {
    return other.priority < rule.priority;
  });
  rules_.insert(behind, std::move(rule));
}

double QualityPolicy::target(std::string_view name) const {
  const auto found = std::find_if(rules_.begin(), rules_.end(),
                                  [&](const auto& rule) { return matches(rule.pattern, name); });
  return found == rules_.end() ? otherwise_ : found->quality;
}

Result<LayerQualityTarget> parse_layer_target(const std::string& text) {
  LayerQualityTarget rule;
  const size_t equals = text.rfind('=');
  std::string_view rest = std::string_view(text).substr(equals == text.npos ? 0 : equals + 1);
  const size_t at = rest.find('@');
  const bool has_priority = at != std::string_view::npos;
  const bool priority_fits = !has_priority || parse(rest.substr(at + 1), rule.priority);
  if (equals == text.npos || equals == 0 || !priority_fits ||
      !parse(rest.substr(0, at), rule.quality) || !(rule.quality >= 0 && rule.quality <= 1)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("no rule for layers ('{}'): write PATTERN=QUALITY or "
                            "PATTERN=QUALITY@PRIORITY, as in '*attention.*=0.999@10'",
                            text));
  }
  rule.pattern = text.substr(0, equals);
  return rule;
}

}  // namespace hoist::tensors
