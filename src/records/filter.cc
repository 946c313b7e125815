#include "records/filter.h"

#include <algorithm>

#include "records/column_layout.h"
#include "records/exact_number.h"
#include "records/limits.h"

namespace hoist::records {
namespace {

constexpr std::string_view kComparisons = "<>=!";

// `order`: that of the value with what it is compared with, as of memcmp().
bool holds(Comparison comparison, int order) {
  switch (comparison) {
    case Comparison::equal:
      return order == 0;
    case Comparison::unequal:
      return order != 0;
    case Comparison::less:
      return order < 0;
    case Comparison::less_equal:
      return order <= 0;
    case Comparison::greater:
      return order > 0;
    case Comparison::greater_equal:
      return order >= 0;
  }
  return false;
}

// Whether some number in the range may hold. The range and `than` are rounded alike, which keeps
// the order.
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

bool is_plain_number(const NumberForm& form) {
  return form.type == NumberType::integer || form.type == NumberType::decimal;
}

// A condition's value against the values of columns.
class Comparer {
 public:
  explicit Comparer(const Condition& condition)
      : condition_(condition), number_(ExactNumber::parse(condition.value)) {}

  bool may_hold_in(const BlockColumn& column) const {
    if (!number_ || !column.range || column.type != ColumnType::numbers) return true;
    // The ranges of other forms are those of what their digits stand for.
    const Result<ColumnLayout> layout = read_layout(column.bytes, column.values, kMaxColumns + 1);
    if (!layout || !is_plain_number(layout->form)) return true;
    const std::optional<double> than = nearest_double(condition_.value);
    return !than || may_hold(condition_.comparison, *column.range, *than);
  }

  // An entry for each value.
  std::vector<bool> compare(const DecodedColumn& column) const {
    std::vector<bool> held;
    held.reserve(column.count);
    if (column.type == ColumnType::constant) {
      held.assign(column.count, holds_for(column.texts.strings[0]));
    } else if (column.type == ColumnType::dictionary) {
      std::vector<bool> entries;
      for (const std::string_view text : column.texts.strings) entries.push_back(holds_for(text));
      for (const int64_t code : column.codes) held.push_back(entries[static_cast<size_t>(code)]);
    } else if (column.type == ColumnType::numbers && number_ &&
               is_plain_number(column.numbers.form)) {
      compare_numbers(column, held);
    } else {
      for (ColumnCursor cursor(column); !cursor.at_end();) held.push_back(holds_for(cursor.text()));
    }
    return held;
  }

  bool holds_for(std::string_view text) const {
    if (number_) {
      if (const std::optional<ExactNumber> value = ExactNumber::parse(text); value) {
        return holds(condition_.comparison, value->compare(*number_));
      }
      if (!is_ordered_text(text)) return condition_.comparison == Comparison::unequal;
    }
    return holds(condition_.comparison, text.compare(condition_.value));
  }

 private:
  void compare_numbers(const DecodedColumn& column, std::vector<bool>& held) const {
    const NumberColumn& numbers = column.numbers;
    const bool is_decimal = numbers.form.type == NumberType::decimal;
    const ExactNumber::Bound bound = number_->bound(is_decimal ? numbers.form.scale : 0);
    size_t exception = 0;
    size_t number = 0;
    for (size_t i = 0; i < column.count; ++i) {
      const bool is_exception = exception < numbers.exceptions.size() &&
                                static_cast<size_t>(numbers.exceptions[exception]) == i;
      held.push_back(
          is_exception ? holds_for(column.texts.strings[exception++])
                       : holds(condition_.comparison, bound.compare_to(numbers.values[number++])));
    }
  }

  const Condition& condition_;
  std::optional<ExactNumber> number_;
};

}  // namespace

std::optional<WrittenPath> read_path(std::string_view text, std::string_view ends) {
  WrittenPath written;
  if (!text.starts_with('"')) {
    written.size = std::min(text.find_first_of(ends), text.size());
    written.path = text.substr(0, written.size);
    return written;
  }
  size_t at = 1;
  for (;; ++at) {
    if (at >= text.size()) return std::nullopt;
    if (text[at] == '"') {
      if (at + 1 >= text.size() || text[at + 1] != '"') break;
      ++at;
    }
    written.path += text[at];
  }
  written.size = at + 1;
  const bool is_followed = written.size < text.size();
  if (is_followed && ends.find(text[written.size]) == std::string_view::npos) return std::nullopt;
  return written;
}

std::optional<ExactNumber> number_of(const Condition& condition) {
  return ExactNumber::parse(condition.value);
}

bool may_hold(const Condition& condition, const BlockColumn& column) {
  return Comparer(condition).may_hold_in(column);
}

bool holds(const Condition& condition, std::string_view text) {
  return Comparer(condition).holds_for(text);
}

Result<Condition> parse_condition(std::string_view text) {
  std::optional<WrittenPath> path = read_path(text, kComparisons);
  const auto wrong = [&] {
    return fail(ErrorCode::invalid_argument,
                "no condition (" + std::string(text) +
                    "): write COLUMN=VALUE, or !=, <, <=, >, >= in place of =; a COLUMN with such "
                    "a sign in its name stands between double quotes");
  };
  if (!path || path->path.empty() || path->size >= text.size()) return wrong();
  const size_t at = path->size;
  Condition condition{.path = std::move(path->path), .value = {}};
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
  const Comparer comparer(condition);
  std::vector<bool> held(keep.size());
  for (size_t i = 0; i < block.columns().size(); ++i) {
    const BlockColumn& column = block.columns()[i];
    if (column.kind == ColumnKind::length || !is_path(condition.path, column.path)) continue;
    if (!comparer.may_hold_in(column)) continue;
    const Result<ColumnValues> values = block.read(i);
    if (!values) return values.error();
    const std::vector<bool> which = comparer.compare(*values->column);
    for (size_t value = 0; value < which.size(); ++value) {
      if (which[value]) held[values->rows[value]] = true;
    }
  }
  for (size_t row = 0; row < keep.size(); ++row) keep[row] = keep[row] && held[row];
  return {};
}

}  // namespace hoist::records
