#include "records/prediction.h"

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

// Dense numbers of the values, in order of first appearance.
struct Groups {
  std::vector<uint32_t> of;
  size_t count = 0;
};

std::optional<Groups> number(size_t count, const auto& key) {
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

std::optional<Groups> number(std::span<const int64_t> values) {
  return number(values.size(), [&](size_t i) { return static_cast<uint64_t>(values[i]); });
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
    const bool any = prediction.predictor == Predictor::moves;
    const bool is_lag = prediction.predictor == Predictor::lag;
    good &= any || (prediction.factor >= (is_lag ? 1 : 0) &&
                    prediction.factor <= (is_lag ? INT64_MAX : int64_t{kMaxScale}));
  }
  if (!good || !in.ok()) return fail(ErrorCode::corrupt, "a column's prediction is damaged");
  return prediction;
}

std::optional<std::vector<uint32_t>> positions_before(std::span<const int64_t> group,
                                                      std::span<const int64_t> other_group) {
  constexpr uint32_t kNone = UINT32_MAX;
  std::optional<Groups> groups = number(group);
  if (groups && !other_group.empty()) {
    const std::optional<Groups> others = number(other_group);
    if (!others) return std::nullopt;
    groups = number(group.size(),
                    [&](size_t i) { return uint64_t{groups->of[i]} << 32 | others->of[i]; });
  }
  if (!groups) return std::nullopt;
  std::vector<uint32_t> last(groups->count, kNone);
  std::vector<uint32_t> before(group.size());
  for (uint32_t i = 0; i < group.size(); ++i) {
    uint32_t& position = last[groups->of[i]];
    before[i] = position == kNone ? (i == 0 ? 0 : i - 1) : position;
    position = i;
  }
  return before;
}

int64_t scaled(int64_t x, int64_t y, int64_t z) {
  if (z == 0) return 0;
  // Below 2^126, and so is every step.
  using Wide = __int128;
  const Wide product = static_cast<Wide>(x) * y;
  const Wide half = (z < 0 ? -static_cast<Wide>(z) : static_cast<Wide>(z)) / 2;
  return static_cast<int64_t>((product < 0 ? product - half : product + half) / z);
}

int64_t clock_after(int64_t time, int64_t minutes) {
  constexpr int64_t kDay = 24 * 60;
  int64_t now = time / 100 % 24 * 60 + time % 100 + minutes % kDay;
  now = (now % kDay + kDay) % kDay;
  if (now == 0) now = kDay;
  return now / 60 * 100 + now % 60;
}

int64_t power_of_ten_factor(int64_t factor) { return power_of_ten(static_cast<int>(factor)); }

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
