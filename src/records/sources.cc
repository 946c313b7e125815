#include "records/sources.h"

#include <algorithm>

namespace hoist::records {

std::vector<int64_t> filled(const NumberRows& rows) {
  std::vector<int64_t> out;
  out.reserve(rows.count);
  size_t next = 0;
  int64_t last = 0;
  for (const int64_t exception : rows.exceptions) {
    const auto stretch = static_cast<size_t>(exception) - out.size();
    const std::span<const int64_t> numbers = rows.numbers.subspan(next, stretch);
    out.insert(out.end(), numbers.begin(), numbers.end());
    next += stretch;
    if (!out.empty()) last = out.back();
    out.push_back(last);
  }
  out.insert(out.end(), rows.numbers.begin() + static_cast<ptrdiff_t>(next), rows.numbers.end());
  return out;
}

std::optional<LinedUpSources::Column> LinedUpSources::line_up(const NumberRows& source,
                                                              const NumberRows& own) {
  if (std::ranges::equal(source.exceptions, own.exceptions))
    return Column{.view = source.numbers, .copy = {}};
  if (own.count > kMaxLinedUp) return std::nullopt;
  Column column{.view = {}, .copy = filled(source)};
  if (own.exceptions.empty()) return column;
  std::vector<int64_t> picked;
  picked.reserve(own.numbers.size());
  size_t at = 0;
  for (const int64_t exception : own.exceptions) {
    const auto end = static_cast<size_t>(exception);
    picked.insert(picked.end(), column.copy.begin() + static_cast<ptrdiff_t>(at),
                  column.copy.begin() + static_cast<ptrdiff_t>(end));
    at = end + 1;
  }
  picked.insert(picked.end(), column.copy.begin() + static_cast<ptrdiff_t>(at), column.copy.end());
  column.copy = std::move(picked);
  return column;
}

std::optional<LinedUpSources> LinedUpSources::make(
    const Prediction& prediction, const NumberRows& own,
    const std::function<std::optional<NumberRows>(uint32_t)>& rows_of) {
  LinedUpSources sources;
  sources.factor_ = prediction.factor;
  const Predictor predictor = prediction.predictor;
  const auto lined_up = [&](uint32_t number, Column& out) {
    const std::optional<NumberRows> source = rows_of(number);
    if (!source || source->count != own.count) return false;
    std::optional<Column> column = line_up(*source, own);
    if (column) out = std::move(*column);
    return column.has_value();
  };
  Column group;
  Column other_group;
  if ((has_first(predictor) && !lined_up(prediction.first, sources.first_)) ||
      (has_second(predictor) && !lined_up(prediction.second, sources.second_)) ||
      (has_group(predictor) && !lined_up(prediction.group, group)) ||
      (has_other_group(predictor) && !lined_up(prediction.other_group, other_group))) {
    return std::nullopt;
  }
  if (!has_group(predictor)) return sources;
  if (own.count > kMaxLinedUp) return std::nullopt;
  auto before = positions_before(group.get(), other_group.get());
  if (!before) return std::nullopt;
  sources.before_ = std::move(*before);
  return sources;
}

Sources LinedUpSources::get() const {
  return {.first = first_.get(), .second = second_.get(), .before = before_, .factor = factor_};
}

}  // namespace hoist::records
