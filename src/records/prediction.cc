#include "records/prediction.h"

#include <algorithm>
#include <utility>

#include "base/varint.h"
#include "codec/numbering.h"
#include "records/number_text.h"

namespace hoist::records {
namespace {

struct Needs {
  bool first = false;
  bool second = false;
  bool group = false;
  bool other_group = false;
  bool factor = false;
  bool value = false;  // the first, stored
};

Needs needs(Predictor predictor) {
  switch (predictor) {
    case Predictor::none:
      return {};
    case Predictor::last:
    case Predictor::line:
      return {.value = true};
    case Predictor::other:
      return {.first = true};
    case Predictor::other_last:
    case Predictor::ratio:
    case Predictor::running:
    case Predictor::running_last:
      return {.first = true, .value = true};
    case Predictor::group_last:
      return {.group = true, .value = true};
    case Predictor::group_other:
    case Predictor::group_ratio:
      return {.first = true, .group = true, .value = true};
    case Predictor::larger:
    case Predictor::smaller:
    case Predictor::sum:
    case Predictor::difference:
    case Predictor::clock:
      return {.first = true, .second = true};
    case Predictor::product:
    case Predictor::quotient:
    case Predictor::scaled_sum:
    case Predictor::scaled_difference:
      return {.first = true, .second = true, .factor = true};
    case Predictor::moves:
      return {.first = true, .factor = true, .value = true};
    case Predictor::lag:
      return {.factor = true, .value = true};
    case Predictor::pair_last:
      return {.group = true, .other_group = true, .value = true};
    case Predictor::pair_other:
      return {.first = true, .group = true, .other_group = true, .value = true};
  }
  return {};
}

// The least and the largest factor.
std::pair<int64_t, int64_t> factors(Predictor predictor) {
  switch (predictor) {
    case Predictor::moves:
      return {INT64_MIN, INT64_MAX};
    case Predictor::lag:
      return {1, INT64_MAX};
    case Predictor::scaled_sum:
    case Predictor::scaled_difference:
      return {0, kSumScales * kSumScales * kSumScales - 1};
    default:
      return {0, kMaxScale};
  }
}

int64_t scaled_sum(int64_t a, int64_t b, int64_t factor, bool is_difference) {
  const auto power = [](int64_t digits) { return power_of_ten(static_cast<int>(digits)); };
  const int64_t y = power(factor / kSumScales % kSumScales);
  return scaled_sum_of(a, power(factor % kSumScales), b, is_difference ? -y : y,
                       power(factor / (kSumScales * kSumScales)));
}

// The table that numbers values directly may have so many entries for each of them.
constexpr uint64_t kEntriesAValue = 8;

// key(i) is below `keys`, which is at least 1.
Groups number_by_table(size_t count, uint64_t keys, const auto& key) {
  std::vector<uint32_t> table(keys, UINT32_MAX);
  Groups groups{.of = std::vector<uint32_t>(count)};
  for (size_t i = 0; i < count; ++i) {
    uint32_t& number = table[key(i)];
    if (number == UINT32_MAX) number = static_cast<uint32_t>(groups.count++);
    groups.of[i] = number;
  }
  return groups;
}

std::optional<Groups> number_by_hash(size_t count, const auto& key) {
  codec::Numbering<uint64_t> numbering(count);
  Groups groups{.of = std::vector<uint32_t>(count)};
  uint64_t last = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t value = key(i);
    if (i > 0 && value == last) {
      groups.of[i] = groups.of[i - 1];
      continue;
    }
    const std::optional<uint32_t> number = numbering.number(value);
    if (!number) return std::nullopt;
    groups.of[i] = *number;
    last = value;
  }
  groups.count = std::move(numbering).take_values().size();
  return groups;
}

}  // namespace

bool has_first(Predictor predictor) { return needs(predictor).first; }
bool has_second(Predictor predictor) { return needs(predictor).second; }
bool has_group(Predictor predictor) { return needs(predictor).group; }
bool has_other_group(Predictor predictor) { return needs(predictor).other_group; }
bool has_factor(Predictor predictor) { return needs(predictor).factor; }
bool starts_with_value(Predictor predictor) { return needs(predictor).value; }

void write_prediction(const Prediction& prediction, std::string& out) {
  out.push_back(static_cast<char>(prediction.predictor));
  for_sources(prediction, [&](uint32_t source) { write_varint(out, source); });
  if (needs(prediction.predictor).factor) write_varint(out, zigzag(prediction.factor));
}

Result<Prediction> read_prediction(ByteReader& in, size_t columns) {
  Prediction prediction;
  const auto number = in.read<uint8_t>();
  if (number >= kPredictors) {
    return fail(ErrorCode::unsupported,
                "a column has an unknown prediction: this version of Hoist is too old");
  }
  prediction.predictor = static_cast<Predictor>(number);
  const Needs need = needs(prediction.predictor);
  bool good = true;
  const auto source = [&](bool needed) {
    const uint64_t column = needed ? read_varint(in) : 0;
    good &= !needed || column < columns;
    return static_cast<uint32_t>(column);
  };
  prediction.first = source(need.first);
  prediction.second = source(need.second);
  prediction.group = source(need.group);
  prediction.other_group = source(need.other_group);
  if (need.factor) {
    prediction.factor = unzigzag(read_varint(in));
    const auto [least, most] = factors(prediction.predictor);
    good &= prediction.factor >= least && prediction.factor <= most;
  }
  if (!good || !in.ok()) return fail(ErrorCode::corrupt, "a column's prediction is damaged");
  return prediction;
}

std::optional<Groups> number_groups(std::span<const int64_t> values) {
  if (values.empty()) return Groups();
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const uint64_t base = static_cast<uint64_t>(*least);
  const uint64_t range = static_cast<uint64_t>(*most) - base;
  const auto key = [&](size_t i) { return static_cast<uint64_t>(values[i]) - base; };
  if (range < kEntriesAValue * values.size()) {
    return number_by_table(values.size(), range + 1, key);
  }
  return number_by_hash(values.size(), key);
}

std::optional<Groups> number_pairs(const Groups& a, const Groups& b) {
  const uint64_t keys = uint64_t{a.count} * b.count;
  const auto key = [&](size_t i) { return uint64_t{a.of[i]} * b.count + b.of[i]; };
  if (keys > 0 && keys <= kEntriesAValue * a.of.size()) {
    return number_by_table(a.of.size(), keys, key);
  }
  return number_by_hash(a.of.size(), key);
}

std::vector<uint32_t> positions_before(const Groups& groups) {
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> last(groups.count, kNone);
  std::vector<uint32_t> before(groups.of.size());
  for (uint32_t i = 0; i < groups.of.size(); ++i) {
    uint32_t& position = last[groups.of[i]];
    before[i] = position == kNone ? (i == 0 ? 0 : i - 1) : position;
    position = i;
  }
  return before;
}

std::optional<std::vector<uint32_t>> positions_before(std::span<const int64_t> group,
                                                      std::span<const int64_t> other_group) {
  std::optional<Groups> groups = number_groups(group);
  if (groups && !other_group.empty()) {
    const std::optional<Groups> others = number_groups(other_group);
    if (!others) return std::nullopt;
    groups = number_pairs(*groups, *others);
  }
  if (!groups) return std::nullopt;
  return positions_before(*groups);
}

int64_t power_of_ten_factor(int64_t factor) { return power_of_ten(static_cast<int>(factor)); }

std::optional<SumScales> sum_scales(int first, int second, int own) {
  // In units of the finest of the three.
  const int finest = std::max({first, second, own});
  const SumScales scales{.first = finest - first, .second = finest - second, .sum = finest - own};
  if (std::max({scales.first, scales.second, scales.sum}) > kMaxScale) return std::nullopt;
  return scales;
}

int64_t scaled_sum(int64_t a, int64_t b, int64_t factor) { return scaled_sum(a, b, factor, false); }

int64_t scaled_difference(int64_t a, int64_t b, int64_t factor) {
  return scaled_sum(a, b, factor, true);
}

std::vector<int64_t> differences(Predictor predictor, std::span<const int64_t> values,
                                 const Sources& sources) {
  const size_t first = needs(predictor).value && !values.empty() ? 1 : 0;
  std::vector<int64_t> out(values.size() - first);
  with_constant(predictor, [&](auto constant) {
    for (size_t i = first; i < values.size(); ++i) {
      out[i - first] = subtract_modulo(values[i], predict(constant(), values, sources, i));
    }
  });
  return out;
}

void add_predictions(Predictor predictor, std::span<int64_t> values, const Sources& sources) {
  const size_t first = needs(predictor).value ? 1 : 0;
  with_constant(predictor, [&](auto constant) {
    for (size_t i = first; i < values.size(); ++i) {
      values[i] = add_modulo(values[i], predict(constant(), values, sources, i));
    }
  });
}

}  // namespace hoist::records
