// What a column's values have been seen to be, of which its type follows.
#pragma once

#include <cstdint>
#include <string_view>

#include "records/number_text.h"
#include "records/tokens.h"
#include "records/typed/typed_values.h"

namespace hoist::records::typed {

struct Seen {
  bool boolean = false, integer = false, hex = false, real = false, text = false;
  bool zoned = false, unzoned = false;
  uint8_t places = 0;  // behind the point, of reals
  uint8_t fraction = 0;
  size_t whole = 0, scale = 0;  // digits of numbers, at most
  bool inexact = false;         // a number that is no decimal
  bool no_utf8 = false;
  int64_t least = 0, most = 0;  // seconds of dates

  void take(std::string_view value, Format format, ColumnKind kind, bool& missing);
  void take_date(const DateForm& form, int64_t seconds);
  // Values of a form other than dates.
  void take_form(const NumberForm& form, Format format);
  // All that the other has seen.
  void take_all(const Seen& more);

  ValueKind kind() const;
  bool is_decimal() const { return real && !inexact && whole + scale <= kMostDigits; }

 private:
  bool date() const { return zoned || unzoned; }
  bool dates_fit() const;
  void take_size(std::string_view number);
};

// The different texts of a column, as long as they are few for its values.
class SeenTexts {
 public:
  void add(std::string_view text);
  void add(const SeenTexts& more);
  // So many more values, of texts that were added.
  void add_values(size_t count) { values_ += count; }
  void refuse();

  bool few() const { return few_ && values_ > 0 && texts_.entries.size() <= values_ / 2; }
  const TextDictionary& texts() const { return texts_; }

 private:
  TextDictionary texts_;
  size_t bytes_ = 0;
  size_t values_ = 0;  // seen
  bool few_ = true;
};

}  // namespace hoist::records::typed
