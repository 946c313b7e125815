#include "records/number_column.h"

#include <algorithm>

#include "base/varint.h"

namespace hoist::records {
namespace {

using Texts = std::span<const std::string_view>;

constexpr size_t kSample = 48;

size_t most_exceptions(size_t count) { return count / 4; }

// Takes every text by `parse`; nothing where too many are exceptions.
template <typename Parse>
std::optional<NumberColumn> take_all(Texts texts, const NumberForm& form, const Parse& parse) {
  NumberColumn column;
  column.form = form;
  column.values.reserve(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    if (const std::optional<int64_t> value = parse(texts[i])) {
      column.values.push_back(*value);
      continue;
    }
    column.exceptions.push_back(static_cast<int64_t>(i));
    if (column.exceptions.size() > most_exceptions(texts.size())) return std::nullopt;
  }
  return column;
}

struct Decimals {
  std::vector<std::optional<Decimal>> parsed;
  uint8_t scale = 0;
  size_t exceptions = 0;
};

// The largest scale at which the values still fit counts; the others become exceptions.
std::optional<Decimals> parse_decimals(Texts texts) {
  Decimals decimals;
  decimals.parsed.reserve(texts.size());
  for (const std::string_view text : texts) {
    decimals.parsed.push_back(parse_decimal(text));
    if (decimals.parsed.back()) {
      decimals.scale = std::max(decimals.scale, decimals.parsed.back()->scale);
    } else if (++decimals.exceptions > most_exceptions(texts.size())) {
      return std::nullopt;
    }
  }
  return decimals;
}

std::optional<int64_t> scaled(const Decimal& decimal, uint8_t scale) {
  int64_t value = 0;
  if (__builtin_mul_overflow(decimal.mantissa, power_of_ten(scale - decimal.scale), &value)) {
    return std::nullopt;
  }
  return value;
}

// The style that the fewest values break; `own` where each would be broken often.
void choose_style(const Decimals& decimals, NumberForm& form) {
  size_t fixed = 0;
  size_t shortest[2] = {0, 0};
  size_t all = 0;
  for (const std::optional<Decimal>& decimal : decimals.parsed) {
    if (!decimal) continue;
    ++all;
    const uint8_t digits = decimal->scale;
    fixed += static_cast<size_t>(digits == form.scale);
    const bool ends_in_zero = digits > 0 && decimal->mantissa % 10 == 0;
    shortest[0] += static_cast<size_t>(!ends_in_zero);
    shortest[1] += static_cast<size_t>(digits == 1 || (digits > 1 && !ends_in_zero));
  }
  const size_t most = std::max({fixed, shortest[0], shortest[1]});
  if (all - most > all / 32) {
    form.style = DecimalStyle::own;
  } else if (fixed == most) {
    form.style = DecimalStyle::fixed;
  } else {
    form.style = DecimalStyle::shortest;
    form.least = shortest[1] == most ? 1 : 0;
  }
}

std::optional<NumberColumn> as_decimals(Texts texts) {
  const std::optional<Decimals> decimals = parse_decimals(texts);
  if (!decimals) return std::nullopt;
  NumberColumn column;
  column.form.type = NumberType::decimal;
  column.form.scale = decimals->scale;
  choose_style(*decimals, column.form);
  column.values.reserve(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::optional<Decimal>& decimal = decimals->parsed[i];
    std::optional<int64_t> value;
    if (decimal) value = scaled(*decimal, decimals->scale);
    if (value && column.form.style != DecimalStyle::own) {
      const uint8_t digits = column.form.style == DecimalStyle::fixed
                                 ? column.form.scale
                                 : shortest_digits(*value, column.form.scale, column.form.least);
      if (digits != decimal->scale) value.reset();
    }
    if (value) {
      column.values.push_back(*value);
      if (column.form.style == DecimalStyle::own) column.digits.push_back(decimal->scale);
    } else {
      column.exceptions.push_back(static_cast<int64_t>(i));
      if (column.exceptions.size() > most_exceptions(texts.size())) return std::nullopt;
    }
  }
  return column;
}

std::optional<NumberColumn> as_digits(Texts texts, std::string_view example, uint8_t base) {
  NumberForm form;
  form.type = NumberType::digits;
  form.base = base;
  form.width = static_cast<uint8_t>(example.size());
  if (example.empty() || example.size() > (base == 16 ? 16 : 18)) return std::nullopt;
  form.upper_case = example.find_first_of("ABCDEF") != std::string_view::npos;
  return take_all(texts, form, [&](std::string_view text) { return parse_digits(form, text); });
}

std::optional<NumberColumn> as_dates(Texts texts, std::string_view example) {
  const std::optional<DateForm> date = date_form(example);
  if (!date) return std::nullopt;
  NumberForm form;
  form.type = NumberType::date;
  form.date = *date;
  return take_all(texts, form, [&](std::string_view text) { return parse_date(*date, text); });
}

bool begins_as_number(std::string_view text) {
  const size_t sign = text.starts_with('-') ? 1 : 0;
  return text.size() > sign && text[sign] >= '0' && text[sign] <= '9';
}

// What most of a sample looks like.
struct Sample {
  size_t size = 0;
  size_t integers = 0;
  size_t decimals = 0;  // integers too
  size_t addresses = 0;
  size_t dates = 0;
  size_t hexadecimal = 0;
  std::string_view date = {};
  std::string_view letters = {};  // hexadecimal with letters

  bool mostly(size_t some) const { return some * 4 >= size * 3; }
};

Sample take_sample(Texts texts) {
  Sample sample;
  sample.size = std::min(texts.size(), kSample);
  for (size_t i = 0; i < sample.size; ++i) {
    const std::string_view text = texts[i * texts.size() / sample.size];
    if (text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos &&
        !text.empty()) {
      ++sample.hexadecimal;
      if (text.find_first_of("abcdefABCDEF") != std::string_view::npos) sample.letters = text;
    }
    if (!begins_as_number(text)) continue;
    sample.integers += static_cast<size_t>(parse_integer(text).has_value());
    sample.decimals += static_cast<size_t>(parse_decimal(text).has_value());
    sample.addresses += static_cast<size_t>(parse_address(text).has_value());
    if (date_form(text)) {
      ++sample.dates;
      if (sample.date.empty()) sample.date = text;
    }
  }
  return sample;
}

}  // namespace

std::optional<NumberColumn> as_numbers(Texts texts) {
  const Sample sample = take_sample(texts);
  std::optional<NumberColumn> column;
  if (sample.integers == sample.size) {
    NumberForm form;
    column = take_all(texts, form, parse_integer);
    // Integers of one width may have others with zeros in front among them: digits, then.
    if (column && column->exceptions.empty()) return column;
  }
  if (sample.mostly(sample.hexadecimal) && sample.size > 0) {
    const std::string_view example = sample.letters.empty() ? texts[0] : sample.letters;
    auto digits = as_digits(texts, example, sample.letters.empty() ? 10 : 16);
    if (digits && (!column || digits->exceptions.size() < column->exceptions.size())) return digits;
  }
  if (column) return column;
  if (sample.mostly(sample.decimals)) {
    column = as_decimals(texts);
  } else if (sample.mostly(sample.addresses)) {
    NumberForm form;
    form.type = NumberType::address;
    column = take_all(texts, form, parse_address);
  } else if (sample.mostly(sample.dates)) {
    column = as_dates(texts, sample.date);
  }
  return column;
}

void write_form(const NumberForm& form, std::string& out) {
  const auto byte = [&](auto value) { out.push_back(static_cast<char>(value)); };
  byte(form.type);
  switch (form.type) {
    case NumberType::decimal:
      byte(form.scale);
      byte(form.style);
      byte(form.least);
      break;
    case NumberType::digits:
      byte(form.base);
      byte(form.width);
      byte(form.upper_case ? 1 : 0);
      break;
    case NumberType::date:
      byte(form.date.style);
      byte(form.date.between);
      byte(form.date.point);
      byte(form.date.fraction);
      byte(form.date.zone.size());
      out += form.date.zone;
      break;
    default:
      break;
  }
}

Result<NumberForm> read_form(ByteReader& in) {
  NumberForm form;
  const auto kind = in.read<uint8_t>();
  form.type = static_cast<NumberType>(kind);
  bool good = kind <= static_cast<uint8_t>(NumberType::date);
  if (form.type == NumberType::decimal) {
    form.scale = in.read<uint8_t>();
    const auto style = in.read<uint8_t>();
    form.style = static_cast<DecimalStyle>(style);
    form.least = in.read<uint8_t>();
    good = form.scale <= kMaxScale && style <= 2 && form.least <= form.scale;
  } else if (form.type == NumberType::digits) {
    form.base = in.read<uint8_t>();
    form.width = in.read<uint8_t>();
    const auto upper_case = in.read<uint8_t>();
    form.upper_case = upper_case == 1;
    good = (form.base == 10 || form.base == 16) && form.width >= 1 && form.width <= 18 &&
           upper_case <= 1;
  } else if (form.type == NumberType::date) {
    const auto style = in.read<uint8_t>();
    form.date.style = static_cast<DateForm::Style>(style);
    form.date.between = in.read<char>();
    form.date.point = in.read<char>();
    form.date.fraction = in.read<uint8_t>();
    const auto zone = in.read<uint8_t>();
    good = style <= DateForm::time && form.date.fraction <= 9 && zone <= 6;
    const auto bytes = in.take(good ? zone : 0);
    form.date.zone.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  if (!good || !in.ok()) return fail(ErrorCode::corrupt, "the form of a column is damaged");
  return form;
}

}  // namespace hoist::records
