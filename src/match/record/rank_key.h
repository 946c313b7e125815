// The fields of a record that records can be ranked by, in descending order of their value.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hoist::match {

struct Record;

enum class RankKey : uint8_t {
  potential,
  similarity,
  evidence,
  confidence,
  snr,
  fragmentation,
  frequency,
  normalized_entropy,
  global_normalized_entropy,
  itfdf_similarity,
  confluence,
  predictive_information,
  tfidf_score,
  bayesian_posterior,
  bayesian_prior,
  bayesian_likelihood,
  weighted_similarity,
  weighted_evidence,
  weighted_confidence,
  weighted_snr,
};
inline constexpr size_t kRankKeys = 20;

// Spelt as the enumerators.
std::string_view name(RankKey key);
std::optional<RankKey> rank_key_named(std::string_view name);

// Below every value where the record has none (weighted fields without an emotive).
double rank_value(const Record& record, RankKey key);

}  // namespace hoist::match
