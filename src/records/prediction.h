// What a sequence of integers (a column's numbers, or the codes of its dictionary) is predicted
// from: itself, or columns before it in the block. Differences are stored instead of values.
//
// New predictions get new numbers. Arithmetic is modulo 2^64.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
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
  uint32_t other_group = 0;
  int64_t factor = 0;
};

bool has_first(Predictor predictor);
bool has_second(Predictor predictor);
bool has_group(Predictor predictor);
bool has_other_group(Predictor predictor);
bool has_factor(Predictor predictor);
// The first value has no prediction, and is stored as it is.
bool starts_with_value(Predictor predictor);

// Calls body with the number of each source.
template <typename Body>
void for_sources(const Prediction& prediction, const Body& body) {
  if (has_first(prediction.predictor)) body(prediction.first);
  if (has_second(prediction.predictor)) body(prediction.second);
  if (has_group(prediction.predictor)) body(prediction.group);
  if (has_other_group(prediction.predictor)) body(prediction.other_group);
}

void write_prediction(const Prediction& prediction, std::string& out);
// `corrupt` where a source is not below `columns`, or the factor is none.
Result<Prediction> read_prediction(ByteReader& in, size_t columns);

struct Sources {
  std::span<const int64_t> first;
  std::span<const int64_t> second;
  std::span<const uint32_t> before;  // j of each i
  int64_t factor = 0;
};

// Dense numbers of the groups that positions are in, by values or by pairs of them.
struct Groups {
  std::vector<uint32_t> of;
  size_t count = 0;
};
// Nothing where values were made to collide.
std::optional<Groups> number_groups(std::span<const int64_t> values);
// Both have as many positions.
std::optional<Groups> number_pairs(const Groups& a, const Groups& b);

std::vector<uint32_t> positions_before(const Groups& groups);
// j of the definition above for each position; that of the first is 0. Nothing where values were
// made to collide. The second group is empty where there is one group alone.
std::optional<std::vector<uint32_t>> positions_before(std::span<const int64_t> group,
                                                      std::span<const int64_t> other_group);

int64_t power_of_ten_factor(int64_t factor);

// The factor of scaled sums and differences.
struct SumScales {
  int first = 0;   // digits that the first source is widened by
  int second = 0;  // the second
  int sum = 0;     // digits that their sum is narrowed by
};
inline constexpr int64_t kSumScales = 19;  // of each there are so many
constexpr int64_t factor_of(const SumScales& scales) {
  return scales.first + kSumScales * (scales.second + kSumScales * scales.sum);
}
// From scales of the sources to that of own; nothing where a step has too many digits.
std::optional<SumScales> sum_scales(int first, int second, int own);

int64_t scaled_sum(int64_t a, int64_t b, int64_t factor);
int64_t scaled_difference(int64_t a, int64_t b, int64_t factor);

inline int64_t add_modulo(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t subtract_modulo(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

// Position i's prediction from `own` before it. i is at least 1 if the first value is stored; all
// spans that the predictor uses have as many values as `own`.
inline int64_t predict(Predictor predictor, std::span<const int64_t> own, const Sources& sources,
                       size_t i) {
  const std::span<const int64_t> a = sources.first;
  const std::span<const int64_t> b = sources.second;
  switch (predictor) {
    case Predictor::none:
      return 0;
    case Predictor::last:
      return own[i - 1];
    case Predictor::line:
      return i == 1 ? own[0] : subtract_modulo(add_modulo(own[i - 1], own[i - 1]), own[i - 2]);
    case Predictor::other:
      return a[i];
    case Predictor::other_last:
      return a[i - 1];
    case Predictor::group_last:
    case Predictor::pair_last:
      return own[sources.before[i]];
    case Predictor::group_other:
    case Predictor::pair_other:
      return a[sources.before[i]];
    case Predictor::larger:
      return a[i] > b[i] ? a[i] : b[i];
    case Predictor::smaller:
      return a[i] < b[i] ? a[i] : b[i];
    case Predictor::sum:
      return add_modulo(a[i], b[i]);
    case Predictor::difference:
      return subtract_modulo(a[i], b[i]);
    case Predictor::product:
      return scaled(a[i], b[i], power_of_ten_factor(sources.factor));
    case Predictor::quotient:
      return scaled(a[i], power_of_ten_factor(sources.factor), b[i]);
    case Predictor::ratio:
      return scaled(own[i - 1], a[i], a[i - 1]);
    case Predictor::group_ratio:
      return scaled(own[sources.before[i]], a[i], a[sources.before[i]]);
    case Predictor::running:
      return add_modulo(own[i - 1], a[i]);
    case Predictor::running_last:
      return add_modulo(own[i - 1], a[i - 1]);
    case Predictor::moves:
      return static_cast<int64_t>(static_cast<uint64_t>(own[i - 1]) +
                                  static_cast<uint64_t>(sources.factor) *
                                      static_cast<uint64_t>(subtract_modulo(a[i], a[i - 1])));
    case Predictor::lag:
      return own[i < static_cast<uint64_t>(sources.factor)
                     ? i - 1
                     : i - static_cast<uint64_t>(sources.factor)];
    case Predictor::clock:
      return clock_after(a[i], b[i]);
    case Predictor::scaled_sum:
      return scaled_sum(a[i], b[i], sources.factor);
    case Predictor::scaled_difference:
      return scaled_difference(a[i], b[i], sources.factor);
  }
  return 0;
}

// Calls body with the predictor as a constant: the loops in it are then made for each.
template <typename Body>
void with_constant(Predictor predictor, const Body& body) {
  const auto calls = [&]<uint8_t... numbers>(std::integer_sequence<uint8_t, numbers...>) {
    ((predictor == static_cast<Predictor>(numbers)
          ? body(std::integral_constant<Predictor, static_cast<Predictor>(numbers)>())
          : void()),
     ...);
  };
  calls(std::make_integer_sequence<uint8_t, kPredictors>());
}

// The differences from the predictions, all but that of a first value that is stored.
std::vector<int64_t> differences(Predictor predictor, std::span<const int64_t> values,
                                 const Sources& sources);
// The inverse; `values` holds the differences at the end, behind the first value if that is stored.
void add_predictions(Predictor predictor, std::span<int64_t> values, const Sources& sources);

}  // namespace hoist::records
