#include "match/record/rank_key.h"

#include <algorithm>
#include <array>
#include <limits>

#include "match/record/record.h"

namespace hoist::match {
namespace {

constexpr std::array<std::string_view, kRankKeys> kNames = {"potential",
                                                            "similarity",
                                                            "evidence",
                                                            "confidence",
                                                            "snr",
                                                            "fragmentation",
                                                            "frequency",
                                                            "normalized_entropy",
                                                            "global_normalized_entropy",
                                                            "itfdf_similarity",
                                                            "confluence",
                                                            "predictive_information",
                                                            "tfidf_score",
                                                            "bayesian_posterior",
                                                            "bayesian_prior",
                                                            "bayesian_likelihood",
                                                            "weighted_similarity",
                                                            "weighted_evidence",
                                                            "weighted_confidence",
                                                            "weighted_snr"};

double weighted(const Record& record, double WeightedFields::*field) {
  return record.weighted ? (*record.weighted).*field : -std::numeric_limits<double>::infinity();
}

}  // namespace

std::string_view name(RankKey key) { return kNames[static_cast<size_t>(key)]; }

std::optional<RankKey> rank_key_named(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return {};
  return static_cast<RankKey>(found - kNames.begin());
}

double rank_value(const Record& record, RankKey key) {
  switch (key) {
    case RankKey::potential:
      return record.potential;
    case RankKey::similarity:
      return record.similarity;
    case RankKey::evidence:
      return record.evidence;
    case RankKey::confidence:
      return record.confidence;
    case RankKey::snr:
      return record.snr;
    case RankKey::fragmentation:
      return record.fragmentation;
    case RankKey::frequency:
      return static_cast<double>(record.frequency);
    case RankKey::normalized_entropy:
      return record.normalized_entropy;
    case RankKey::global_normalized_entropy:
      return record.global_normalized_entropy;
    case RankKey::itfdf_similarity:
      return record.itfdf_similarity;
    case RankKey::confluence:
      return record.confluence;
    case RankKey::predictive_information:
      return record.predictive_information;
    case RankKey::tfidf_score:
      return record.tfidf_score;
    case RankKey::bayesian_posterior:
      return record.bayesian_posterior;
    case RankKey::bayesian_prior:
      return record.bayesian_prior;
    case RankKey::bayesian_likelihood:
      return record.bayesian_likelihood;
    case RankKey::weighted_similarity:
      return weighted(record, &WeightedFields::similarity);
    case RankKey::weighted_evidence:
      return weighted(record, &WeightedFields::evidence);
    case RankKey::weighted_confidence:
      return weighted(record, &WeightedFields::confidence);
    case RankKey::weighted_snr:
      return weighted(record, &WeightedFields::snr);
  }
  return 0;
}

}  // namespace hoist::match
