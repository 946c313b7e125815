#include "match/oracle/record_oracle.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "match/oracle/oracle.h"

namespace hoist::match::oracle {
namespace {

Event flatten(const Events& events) {
  Event flat;
  for (const Event& event : events) flat.insert(flat.end(), event.begin(), event.end());
  return flat;
}

std::string join(const Event& symbols) {
  std::string text;
  for (size_t i = 0; i < symbols.size(); ++i) text += (i == 0 ? "" : " ") + symbols[i];
  return text;
}

bool contains(const Event& symbols, const std::string& symbol) {
  return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
}

// Numbers for strings, so that sequences can go to the other oracles.
class Numbering {
 public:
  Symbols of(const Event& symbols) {
    Symbols numbers;
    for (const std::string& symbol : symbols) {
      numbers.push_back(numbers_.try_emplace(symbol, numbers_.size()).first->second);
    }
    return numbers;
  }

 private:
  std::map<std::string, uint32_t> numbers_;
};

// Each symbol once, with its count, in order of first appearance.
std::vector<std::pair<std::string, double>> counted(const Event& symbols) {
  std::vector<std::pair<std::string, double>> counts;
  for (const std::string& symbol : symbols) {
    const auto at = std::find_if(counts.begin(), counts.end(),
                                 [&](const auto& count) { return count.first == symbol; });
    if (at == counts.end()) {
      counts.emplace_back(symbol, 1.0);
    } else {
      at->second += 1;
    }
  }
  return counts;
}

std::optional<double> similarity_of(const Event& pattern, const Event& state, const Rules& rules) {
  if (state.size() == 1) {
    if (pattern.front() != state.front()) return {};
    return 2.0 * 1.0 / static_cast<double>(pattern.size() + 1);
  }
  if (rules.characters) {
    const auto score =
        extract(join(pattern), join(state), std::max(0.0, rules.threshold * 100.0 - 1e-6));
    if (!score || *score / 100.0 < rules.threshold) return {};
    return *score / 100.0;
  }
  Numbering numbering;
  const size_t lcs = lcs_length(numbering.of(pattern), numbering.of(state));
  if (!kato_keeps(lcs, pattern.size(), state.size(), rules.threshold)) return {};
  return kato_similarity(lcs, pattern.size(), state.size());
}

double weight_of(const Knowledge& knowledge, const std::string& symbol) {
  const auto times = knowledge.occurrences.find(symbol);
  const auto affinity = knowledge.affinity.find(symbol);
  if (times == knowledge.occurrences.end() || affinity == knowledge.affinity.end()) return 0.01;
  return std::abs(affinity->second) / static_cast<double>(times->second) + 0.01;
}

double weight_of(const Knowledge& knowledge, const Event& symbols) {
  double sum = 0;
  for (const std::string& symbol : symbols) sum += weight_of(knowledge, symbol);
  return sum;
}

class Maker {
 public:
  Maker(const Knowledge& knowledge, const Events& state, const Rules& rules)
      : knowledge_(knowledge), events_(state), state_(flatten(state)), rules_(rules) {}

  std::optional<Prediction> make(const KnownPattern& known) const {
    const Event pattern = flatten(known.events);
    const auto similarity = similarity_of(pattern, state_, rules_);
    if (!similarity) return {};
    Numbering numbering;
    const auto blocks = matching_blocks(numbering.of(pattern), numbering.of(state_), false);
    if (blocks.empty() && rules_.threshold > 0) return {};

    Prediction p;
    p.name = known.name;
    std::vector<bool> covered(state_.size());
    for (const Block& block : blocks) {
      for (size_t k = 0; k < block.size; ++k) {
        covered[block.b + k] = true;
        if (!(rules_.fuzzy > 0)) p.matches.push_back(state_[block.b + k]);
      }
    }
    size_t flat_extras = 0;
    for (size_t j = 0; j < state_.size(); ++j) {
      const bool hit = rules_.fuzzy > 0 && match_fuzzily(pattern, state_[j], p);
      if (!covered[j] && !hit) ++flat_extras;
    }
    size_t past = 0;
    size_t present = pattern.size();
    if (!blocks.empty()) {
      past = blocks.front().a;
      present = blocks.back().a + blocks.back().size - past;
    }
    if (state_.size() == 1) {
      const auto first = pattern.begin() + static_cast<long>(past);
      const auto last = first + static_cast<long>(present);
      p.past = {{pattern.begin(), first}};
      p.present = {{first, last}};
      p.future = {{last, pattern.end()}};
    } else {
      place(known.events, past, present, p);
    }
    for (const Event& event : p.present) {
      Event& missing = p.missing.emplace_back();
      for (const std::string& s : event) {
        if (!contains(p.matches, s)) missing.push_back(s);
      }
    }
    for (const Event& event : events_) {
      Event& extras = p.extras.emplace_back();
      for (const std::string& s : event) {
        if (!contains(flatten(p.present), s)) extras.push_back(s);
      }
    }
    add_fields(known, pattern, *similarity, blocks.size(), flat_extras, p);
    return p;
  }

 private:
  bool match_fuzzily(const Event& pattern, const std::string& token, Prediction& p) const {
    double best = -1;
    std::string expected;
    for (const std::string& candidate : pattern) {
      const auto score = extract(token, candidate, rules_.fuzzy * 100.0);
      if (score && *score > best) {
        best = *score;
        expected = candidate;
      }
    }
    if (best < 0) return false;
    p.matches.push_back(token);
    if (expected != token) p.anomalies.push_back({token, expected, best / 100.0});
    return true;
  }

  static void place(const Events& events, size_t past, size_t present, Prediction& p) {
    size_t e = 0;
    size_t symbols = 0;
    while (symbols < past) symbols += events[e++].size();
    const size_t begin = e;
    while (symbols < past + present) symbols += events[e++].size();
    p.past.assign(events.begin(), events.begin() + static_cast<long>(begin));
    p.present.assign(events.begin() + static_cast<long>(begin),
                     events.begin() + static_cast<long>(e));
    p.future.assign(events.begin() + static_cast<long>(e), events.end());
    if (!p.past.empty() && !p.matches.empty() && contains(p.past.back(), p.matches.front())) {
      p.present.insert(p.present.begin(), p.past.back());
      p.past.pop_back();
    }
  }

  void add_fields(const KnownPattern& known, const Event& pattern, double similarity, size_t blocks,
                  size_t flat_extras, Prediction& p) const {
    const auto matches = static_cast<double>(p.matches.size());
    const auto extras = static_cast<double>(flat_extras);
    const Event present = flatten(p.present);
    auto& f = p.fields;
    f["frequency"] = static_cast<double>(known.frequency);
    f["similarity"] = similarity;
    f["evidence"] = matches / static_cast<double>(pattern.size());
    f["confidence"] = present.empty() ? 0.0 : matches / static_cast<double>(present.size());
    f["snr"] = 2.0 * matches + extras > 0 ? (2.0 * matches - extras) / (2.0 * matches + extras) : 0;
    f["fragmentation"] = static_cast<double>(blocks) - 1;
    f["own_potential"] = (f["evidence"] + f["confidence"]) * f["snr"] + fragment(p);
    f["potential"] = f["own_potential"];  // of a single symbol
    if (rules_.weighted) {
      const double matched = weight_of(knowledge_, p.matches);
      const double whole = weight_of(knowledge_, pattern);
      const double here = weight_of(knowledge_, present);
      const double extra = weight_of(knowledge_, flatten(p.extras));
      f["weighted_similarity"] = 2.0 * matched / (weight_of(knowledge_, state_) + whole);
      f["weighted_evidence"] = whole > 0 ? matched / whole : 0.0;
      f["weighted_confidence"] = here > 0 ? matched / here : 0.0;
      f["weighted_snr"] = matched + extra > 0 ? matched / (matched + extra) : 0.0;
      f["potential"] =
          (f["weighted_evidence"] + f["weighted_confidence"]) * f["weighted_snr"] + fragment(p);
    }
    std::map<std::string, double> counts;
    for (const auto& entry : known.emotives) {
      for (const auto& emotive : entry) {
        const auto at = std::find_if(p.emotives.begin(), p.emotives.end(),
                                     [&](const auto& e) { return e.first == emotive.first; });
        if (at == p.emotives.end()) {
          p.emotives.push_back(emotive);
        } else {
          at->second += emotive.second;
        }
        counts[emotive.first] += 1;
      }
    }
    for (auto& [key, value] : p.emotives) value /= counts[key];
  }

  static double fragment(const Prediction& p) {
    const double fragmentation = p.fields.at("fragmentation");
    return fragmentation == -1 ? 0.0 : 1.0 / (fragmentation + 1);
  }

  const Knowledge& knowledge_;
  Events events_;
  Event state_;
  Rules rules_;
};

double patterns_with(const Knowledge& knowledge, const std::string& symbol) {
  double count = 0;
  for (const KnownPattern& known : knowledge.patterns) {
    if (contains(flatten(known.events), symbol)) count += 1;
  }
  return count;
}

void add_ensemble(const Knowledge& knowledge, const Event& state, const Rules& rules,
                  std::vector<Prediction>& ensemble) {
  const auto patterns = static_cast<double>(knowledge.patterns.size());
  std::set<std::string> vocabulary;
  for (const KnownPattern& known : knowledge.patterns) {
    for (const std::string& s : flatten(known.events)) vocabulary.insert(s);
  }
  const auto base = static_cast<double>(vocabulary.size());
  std::map<std::string, double> probability;
  double frequencies = 0;
  for (const Prediction& p : ensemble) {
    frequencies += p.fields.at("frequency");
    for (const std::string& s : p.matches) probability[s] = patterns_with(knowledge, s) / patterns;
    for (const std::string& s : flatten(p.missing)) {
      probability[s] = patterns_with(knowledge, s) / patterns;
    }
  }
  const auto known_probability = [&](const std::string& s) {
    return probability.contains(s) ? probability[s] : 0.0;
  };
  double state_squares = 0;
  for (const auto& [s, count] : counted(state)) {
    state_squares += known_probability(s) * count * (known_probability(s) * count);
  }
  const double state_norm = std::sqrt(state_squares);
  for (Prediction& p : ensemble) {
    auto& f = p.fields;
    const Event present = flatten(p.present);
    double squares = 0;
    for (const auto& [s, count] : counted(present)) {
      squares += known_probability(s) * count * (known_probability(s) * count);
    }
    double dot = 0;
    for (const auto& [s, count] : counted(state)) {
      const auto here = static_cast<double>(std::count(present.begin(), present.end(), s));
      dot += known_probability(s) * here * (known_probability(s) * count);
    }
    const double norms = std::sqrt(squares) * state_norm;
    const double distance = state_norm > 0 ? 1.0 - (norms > 0 ? dot / norms : 0.0) : 1.0;
    f["itfdf_similarity"] = frequencies > 0 ? 1 - distance * f["frequency"] / frequencies : 0.0;

    double exponent = 0;
    for (const std::string& s : present) {
      exponent += std::log10(known_probability(s) > 0 ? known_probability(s) : 1e-10);
    }
    f["confluence"] = present.empty() || knowledge.total_pattern_frequencies == 0
                          ? 0.0
                          : f["frequency"] /
                                static_cast<double>(knowledge.total_pattern_frequencies) *
                                (1 - std::pow(10.0, exponent));

    Event measured = present;
    if (rules.whole_pattern_entropy) {
      for (const KnownPattern& known : knowledge.patterns) {
        if (known.name == p.name) measured = flatten(known.events);
      }
    }
    double entropy = 0;
    double normalized = 0;
    double global = 0;
    double tfidf = 0;
    const auto counts = counted(measured);
    const auto length = static_cast<double>(measured.size());
    for (const auto& [s, count] : counts) {
      const double share = count / length;
      entropy -= share * std::log2(share);
      if (base > 1) normalized -= share * (std::log(share) / std::log(base));
      const auto with = std::max(1.0, std::floor(known_probability(s) * patterns));
      tfidf += share * (std::log2(patterns / with) + 1);
    }
    for (const std::string& s : std::set<std::string>(measured.begin(), measured.end())) {
      const double share = known_probability(s);
      if (base > 1 && share > 0) global -= share * (std::log(share) / std::log(base));
    }
    f["entropy"] = entropy;
    f["normalized_entropy"] = normalized;
    f["global_normalized_entropy"] = global;
    f["tfidf_score"] = measured.empty() ? 0.0 : tfidf / static_cast<double>(counts.size());

    f["pattern_probability"] = frequencies > 0 ? f["frequency"] / frequencies : 0.0;
    f["weighted_strength"] = f["similarity"] * f["pattern_probability"];
    f["bayesian_prior"] = f["pattern_probability"];
    f["bayesian_likelihood"] = f["similarity"];
    const std::string prefix = rules.weighted ? "weighted_" : "";
    f["potential"] = (f[prefix + "evidence"] + f[prefix + "confidence"]) * f[prefix + "snr"] +
                     f["itfdf_similarity"] +
                     (f["fragmentation"] == -1 ? 0.0 : 1.0 / (f["fragmentation"] + 1));
  }
  double evidence = 0;
  for (const Prediction& p : ensemble) {
    evidence += p.fields.at("similarity") * p.fields.at("bayesian_prior");
  }
  for (Prediction& p : ensemble) {
    auto& f = p.fields;
    f["bayesian_posterior"] = evidence > 0 ? f["similarity"] * f["bayesian_prior"] / evidence : 0.0;
  }
}

Events sorted_inside(Events events) {
  for (Event& event : events) std::sort(event.begin(), event.end());
  return events;
}

std::vector<Future> add_futures(std::vector<Prediction>& ensemble) {
  std::vector<Future> futures;
  const auto find = [&](const Prediction& p) {
    return std::find_if(futures.begin(), futures.end(), [&](const Future& future) {
      return sorted_inside(future.events) == sorted_inside(p.future);
    });
  };
  for (const Prediction& p : ensemble) {
    if (p.future.empty()) continue;
    auto at = find(p);
    if (at == futures.end()) at = futures.insert(futures.end(), {p.future, 0, 0, 0});
    at->patterns += 1;
    at->frequency += p.fields.at("frequency") * p.fields.at("similarity");
  }
  double total = 0;
  for (const Future& future : futures) total += future.frequency;
  for (Future& future : futures) future.potential = total > 0 ? future.frequency / total : 0.0;
  for (Prediction& p : ensemble) {
    auto& information = p.fields["predictive_information"];
    information = 0;
    if (p.future.empty()) continue;
    const double potential = find(p)->potential;
    if (potential > 0) information = p.fields["weighted_strength"] / potential;
  }
  std::stable_sort(futures.begin(), futures.end(),
                   [](const Future& x, const Future& y) { return x.potential > y.potential; });
  return futures;
}

void rank(std::vector<Prediction>& predictions, const std::string& key, size_t most) {
  std::sort(predictions.begin(), predictions.end(), [&](const Prediction& x, const Prediction& y) {
    const auto value = [&](const Prediction& p) {
      return p.fields.contains(key) ? p.fields.at(key) : key.rfind("weighted", 0) == 0 ? -1e300 : 0;
    };
    if (value(x) != value(y)) return value(x) > value(y);
    return x.name < y.name;
  });
  if (predictions.size() > most) predictions.resize(most);
}

// The predictions over which the ensemble's sums run, by name, complete.
std::vector<Prediction> make_ensemble(const Knowledge& knowledge, const Events& state,
                                      const Rules& rules, std::vector<Future>& futures) {
  const Maker maker(knowledge, state, rules);
  std::vector<Prediction> ensemble;
  for (const KnownPattern& known : knowledge.patterns) {
    if (auto prediction = maker.make(known)) ensemble.push_back(std::move(*prediction));
  }
  const bool single = flatten(state).size() == 1;
  if (!single && ensemble.size() > 3 * rules.max_predictions) {
    rank(ensemble, "own_potential", 3 * rules.max_predictions);
  }
  std::sort(ensemble.begin(), ensemble.end(),
            [](const Prediction& x, const Prediction& y) { return x.name < y.name; });
  if (!single) {
    add_ensemble(knowledge, flatten(state), rules, ensemble);
    futures = add_futures(ensemble);
  }
  return ensemble;
}

}  // namespace

std::vector<Prediction> predict(const Knowledge& knowledge, const Events& state,
                                const Rules& rules) {
  if (flatten(state).empty()) return {};
  std::vector<Future> unused;
  std::vector<Prediction> ensemble = make_ensemble(knowledge, state, rules, unused);
  rank(ensemble, rules.rank, rules.max_predictions);
  return ensemble;
}

std::vector<Future> futures(const Knowledge& knowledge, const Events& state, const Rules& rules) {
  std::vector<Future> result;
  make_ensemble(knowledge, state, rules, result);
  return result;
}

}  // namespace hoist::match::oracle
