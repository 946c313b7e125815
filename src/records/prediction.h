// What a sequence of integers (a column's numbers, or the codes of its dictionary) is predicted
// from: itself, or columns before it in the block. Differences are stored instead of values.
//
// New predictions get new numbers. Arithmetic is modulo 2^64.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "records/predictor.h"

namespace hoist::records {

struct Prediction {
  Predictor predictor = Predictor::none;
  // Numbers of columns.
  uint32_t first = 0;
  uint32_t second = 0;
  uint32_t group = 0;
};

bool has_first(Predictor predictor);
bool has_second(Predictor predictor);
bool has_group(Predictor predictor);
// The first value has no prediction, and is stored as it is.
bool starts_with_value(Predictor predictor);

// Calls body with the number of each source.
template <typename Body>
void for_sources(const Prediction& prediction, const Body& body) {
  if (has_first(prediction.predictor)) body(prediction.first);
  if (has_second(prediction.predictor)) body(prediction.second);
  if (has_group(prediction.predictor)) body(prediction.group);
}

void write_prediction(const Prediction& prediction, std::string& out);
// `corrupt` where a source is not below `columns`.
Result<Prediction> read_prediction(ByteReader& in, size_t columns);

struct Sources {
  std::span<const int64_t> first;
  std::span<const int64_t> second;
  std::span<const uint32_t> before;
};

// before(i) of the definition above; before(0) is 0. Codes are from 0 to `codes` - 1.
std::vector<uint32_t> positions_before(std::span<const int64_t> group, size_t codes);

// Position i's prediction from `own` before it. i is at least 1 if starts_with_value(); all spans
// that the predictor uses have as many values as `own`.
inline int64_t predict(Predictor predictor, std::span<const int64_t> own, const Sources& sources,
                       size_t i) {
  switch (predictor) {
    case Predictor::none:
      return 0;
    case Predictor::last:
      return own[i - 1];
    case Predictor::line:
      if (i == 1) return own[0];
      return static_cast<int64_t>(2 * static_cast<uint64_t>(own[i - 1]) -
                                  static_cast<uint64_t>(own[i - 2]));
    case Predictor::other:
      return sources.first[i];
    case Predictor::other_last:
      return sources.first[i - 1];
    case Predictor::group_last:
      return own[sources.before[i]];
    case Predictor::group_other:
      return sources.first[sources.before[i]];
    case Predictor::larger:
      return sources.first[i] > sources.second[i] ? sources.first[i] : sources.second[i];
    case Predictor::smaller:
      return sources.first[i] < sources.second[i] ? sources.first[i] : sources.second[i];
  }
  return 0;
}

// The differences from the predictions, all but that of a first value that is stored.
std::vector<int64_t> differences(Predictor predictor, std::span<const int64_t> values,
                                 const Sources& sources);
// The inverse; `values` holds the differences at the end, behind the first value if that is stored.
void add_predictions(Predictor predictor, std::span<int64_t> values, const Sources& sources);

}  // namespace hoist::records
