#include "graph/circuit/gate_rules.h"

#include <algorithm>
#include <utility>

namespace hoist::graph::circuit {
namespace {

constexpr int kMostRounds = 100;

struct Rule {
  std::string_view name;
  std::vector<Gate> pattern;
  std::vector<Gate> replacement;
};

// The most specific first, as the reference ranks them; the last one is ours.
const std::vector<Rule>& rules() {
  using enum Gate;
  static const std::vector<Rule> kRules = {
      {"HXH = Z", {copy, x, x, copy, x}, {z}},
      {"H² = I", {copy, x, copy, x}, {identity}},
      {"X² = I", {x, x}, {identity}},
      {"Z² = I", {z, z}, {identity}},
      {"S² = Z", {s, s}, {z}},
      {"I.I = I", {identity, identity}, {identity}},
  };
  return kRules;
}

// Replaces each match, from the left.
std::vector<Gate> replace(const std::vector<Gate>& word, const Rule& rule) {
  std::vector<Gate> result;
  for (auto at = word.begin(); at != word.end();) {
    const auto found = std::search(at, word.end(), rule.pattern.begin(), rule.pattern.end());
    result.insert(result.end(), at, found);
    if (found == word.end()) break;
    result.insert(result.end(), rule.replacement.begin(), rule.replacement.end());
    at = found + static_cast<long>(rule.pattern.size());
  }
  return result;
}

// I.A and A.I are A.
bool drop_identities(std::vector<Gate>& word) {
  const auto is_other = [](Gate gate) { return gate != Gate::identity; };
  if (std::all_of(word.begin(), word.end(), is_other)) return false;
  if (std::none_of(word.begin(), word.end(), is_other)) return false;
  std::erase(word, Gate::identity);
  return true;
}

// The name of the first rule that changes the word; empty where none does.
std::string_view apply_one(std::vector<Gate>& word) {
  for (const Rule& rule : rules()) {
    std::vector<Gate> replaced = replace(word, rule);
    if (replaced.size() == word.size()) continue;
    word = std::move(replaced);
    return rule.name;
  }
  return drop_identities(word) ? "I.A = A" : "";
}

}  // namespace

Shortened shorten(std::vector<Gate> word) {
  Shortened result;
  for (int round = 0; round < kMostRounds; ++round) {
    const std::string_view rule = apply_one(word);
    if (rule.empty()) break;
    const auto known = std::find(result.rules.begin(), result.rules.end(), rule);
    if (known == result.rules.end()) result.rules.push_back(rule);
  }
  result.word = std::move(word);
  return result;
}

}  // namespace hoist::graph::circuit
