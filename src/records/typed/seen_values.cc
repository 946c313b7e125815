#include "records/typed/seen_values.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "records/typed/scalars.h"

namespace hoist::records::typed {
namespace {

// What 64 bits hold has no more.
constexpr size_t kWordDigits = 19;

constexpr size_t kMostEntries = size_t{1} << 16;
constexpr size_t kMostBytes = size_t{8} << 20;
// With more entries than these, half of the values so far must be among them.
constexpr size_t kManyEntries = 1000;

}  // namespace

void Seen::take_date(const DateForm& form, int64_t seconds) {
  if (form.style == DateForm::time) {
    text = true;
    return;
  }
  (form.zone.empty() ? unzoned : zoned) = true;
  fraction = std::max(fraction, unit_of(form));
  least = std::min(least, seconds);
  most = std::max(most, seconds);
}

// Whether 64 bits hold all dates in the unit that they share, with room for what zones add.
bool Seen::dates_fit() const {
  constexpr int64_t kZones = 200 * 3600;
  const int64_t limit = std::numeric_limits<int64_t>::max() / power_of_ten(fraction) - kZones;
  return -limit < least && most < limit;
}

void Seen::take_size(std::string_view number) {
  const std::optional<DecimalSize> size = decimal_size(number);
  inexact |= !size;
  if (!size) return;
  whole = std::max(whole, size->whole);
  scale = std::max(scale, size->scale);
}

void Seen::take(std::string_view value, Format format, ColumnKind kind, bool& missing) {
  if (is_missing(value, format, kind)) {
    missing = true;
  } else if (typed::boolean(value, format, kind)) {
    boolean = true;
  } else if (parse_integer(value)) {
    integer = true;
    take_size(value);
  } else if (is_real(value) || value == "NaN" || value == "nan") {
    real = true;
    take_size(value);
    const std::optional<Decimal> decimal = parse_decimal(value);
    places = std::max(places, decimal ? decimal->scale : kNoPlaces);
  } else if (const std::optional<DateForm> form = date_form(value); form) {
    if (const std::optional<int64_t> count = parse_date(*form, value); count) {
      take_date(*form, *count / date_units(*form));
    } else {
      text = true;
    }
  } else {
    text = true;
  }
}

// Digits of a fixed width are names of things (00042, beef), except in symbolic lines, whose times
// are such.
void Seen::take_form(const NumberForm& form, Format format) {
  const size_t scale_of_form = form.type == NumberType::decimal ? form.scale : 0;
  whole = std::max<size_t>(whole, kWordDigits - scale_of_form);
  scale = std::max(scale, scale_of_form);
  switch (form.type) {
    case NumberType::decimal:
      real = true;
      places = std::max(places, form.scale);
      break;
    case NumberType::digits:
      (format != Format::symbolic ? text : form.base == 16 ? hex : integer) = true;
      break;
    case NumberType::address:
      text = true;
      break;
    default:
      integer = true;
      break;
  }
}

void Seen::take_all(const Seen& more) {
  boolean |= more.boolean;
  integer |= more.integer;
  hex |= more.hex;
  real |= more.real;
  text |= more.text;
  zoned |= more.zoned;
  unzoned |= more.unzoned;
  places = std::max(places, more.places);
  fraction = std::max(fraction, more.fraction);
  whole = std::max(whole, more.whole);
  scale = std::max(scale, more.scale);
  inexact |= more.inexact;
  no_utf8 |= more.no_utf8;
  least = std::min(least, more.least);
  most = std::max(most, more.most);
}

ValueKind Seen::kind() const {
  const bool number = integer || hex || real;
  if (text || boolean + number + date() != 1 || (hex && (integer || real)) || (zoned && unzoned) ||
      (date() && !dates_fit())) {
    return ValueKind::text;
  }
  if (boolean) return ValueKind::boolean;
  if (date()) return ValueKind::timestamp;
  return real ? ValueKind::real : ValueKind::integer;
}

void SeenTexts::add(std::string_view text) {
  if (!few_) return;
  ++values_;
  const auto [found, is_new] =
      texts_.codes.try_emplace(std::string(text), static_cast<int32_t>(texts_.entries.size()));
  if (!is_new) return;
  texts_.entries.emplace_back(text);
  bytes_ += text.size();
  const size_t entries = texts_.entries.size();
  if (entries > kMostEntries || bytes_ > kMostBytes ||
      (entries > kManyEntries && entries > values_ / 2)) {
    refuse();
  }
}

void SeenTexts::add(const SeenTexts& more) {
  if (!more.few_) refuse();
  values_ += more.values_;
  for (const std::string& text : more.texts_.entries) add(text);
}

void SeenTexts::refuse() {
  few_ = false;
  texts_ = {};
}

}  // namespace hoist::records::typed
