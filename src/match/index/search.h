// What a search of an index takes and gives.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "match/score/scorer.h"

namespace hoist::match {

struct Tiers;

struct IndexSearchOptions {
  Scorer scorer = Scorer::kato;
  // The least normalised score that is found; at 0 every pattern is found. difflib takes the
  // pattern as its first sequence and the state as its second.
  double threshold = 0.1;
  size_t top = 0;             // the best so many; 0: all
  std::stop_token stop = {};  // once it is true, `cancelled` is returned soon
};

struct IndexHit {
  double score;       // as the scorer defines it (match/score/scorer.h)
  double normalized;  // 0..1
  uint32_t id;        // of the pattern, for as long as it is in the index
  uint32_t tier;      // where the pattern is: stable tiers first, then recent ones
  uint32_t place;
};

// By descending normalised score, then by ascending name.
struct IndexSearchResult {
  std::string name(const IndexHit& hit) const;

  std::vector<IndexHit> hits;
  std::shared_ptr<const Tiers> tiers;  // of the moment of the search
};

}  // namespace hoist::match
