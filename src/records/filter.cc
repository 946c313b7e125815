#include "records/filter.h"

#include <charconv>

namespace hoist::records {
namespace {

std::optional<double> number_in(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number != number) {
    return std::nullopt;
  }
  return number;
}

template <typename T>
bool holds(Comparison comparison, const T& value, const T& than) {
  switch (comparison) {
    case Comparison::equal:
      return value == than;
    case Comparison::unequal:
      return value != than;
    case Comparison::less:
      return value < than;
    case Comparison::less_equal:
      return value <= than;
    case Comparison::greater:
      return value > than;
    case Comparison::greater_equal:
      return value >= than;
  }
  return false;
}

// Whether some number in the range may hold.
bool may_hold(Comparison comparison, const ColumnRange& range, double than) {
  switch (comparison) {
    case Comparison::equal:
      return range.least <= than && than <= range.most;
    case Comparison::unequal:
      return true;
    case Comparison::less:
    case Comparison::less_equal:
      return range.least <= than;
    case Comparison::greater:
    case Comparison::greater_equal:
      return range.most >= than;
  }
  return true;
}

bool is_date(const DecodedColumn& column) {
  return column.type == ColumnType::numbers && column.numbers.form.type == NumberType::date;
}

}  // namespace

std::optional<double> number_of(const Condition& condition) { return number_in(condition.value); }

bool may_hold(const Condition& condition, const ColumnRange& range) {
  const std::optional<double> than = number_of(condition);
  return !than || may_hold(condition.comparison, range, *than);
}

bool holds(const Condition& condition, std::string_view text) {
  const std::optional<double> than = number_of(condition);
  if (!than) return holds(condition.comparison, text, std::string_view(condition.value));
  // What is no number is unequal to every one.
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return condition.comparison == Comparison::unequal;
  }
  return holds(condition.comparison, number, *than);
}

Result<Condition> parse_condition(std::string_view text) {
  const size_t at = text.find_first_of("<>=!");
  const auto wrong = [&] {
    return fail(ErrorCode::invalid_argument,
                "no condition (" + std::string(text) +
                    "): write COLUMN=VALUE, or !=, <, <=, >, >= in place of =");
  };
  if (at == std::string_view::npos || at == 0) return wrong();
  Condition condition{.path = std::string(text.substr(0, at)), .value = {}};
  const bool with_equal = at + 1 < text.size() && text[at + 1] == '=';
  switch (text[at]) {
    case '<':
      condition.comparison = with_equal ? Comparison::less_equal : Comparison::less;
      break;
    case '>':
      condition.comparison = with_equal ? Comparison::greater_equal : Comparison::greater;
      break;
    case '!':
      if (!with_equal) return wrong();
      condition.comparison = Comparison::unequal;
      break;
    default:
      condition.comparison = Comparison::equal;
  }
  condition.value = text.substr(at + (with_equal ? 2 : 1));
  return condition;
}

bool is_path(std::string_view written, std::string_view path) {
  return written == path || (path.starts_with('/') && written == path.substr(1));
}

Status apply(const Condition& condition, const Block& block, std::vector<bool>& keep) {
  const std::optional<double> than = number_in(condition.value);
  std::vector<bool> held(keep.size());
  for (size_t i = 0; i < block.columns().size(); ++i) {
    const BlockColumn& column = block.columns()[i];
    if (column.kind == ColumnKind::length || !is_path(condition.path, column.path)) continue;
    if (than && column.range && !may_hold(condition.comparison, *column.range, *than)) continue;
    const Result<ColumnValues> values = block.read(i);
    if (!values) return values.error();
    const bool as_numbers = than && !is_date(*values->column);
    ColumnCursor cursor(*values->column);
    for (const uint32_t row : values->rows) {
      bool holding = false;
      if (as_numbers) {
        // An exception among the numbers is no number, and unequal to every one.
        const std::optional<double> number = cursor.number();
        holding = number ? holds(condition.comparison, *number, *than)
                         : condition.comparison == Comparison::unequal;
      } else {
        holding = holds(condition.comparison, cursor.text(), std::string_view(condition.value));
      }
      if (holding) held[row] = true;
    }
  }
  for (size_t row = 0; row < keep.size(); ++row) keep[row] = keep[row] && held[row];
  return {};
}

}  // namespace hoist::records
