// GNU sort's order, stated plainly: the oracle that every faster path is checked against, and the
// comparison that decides where a faster path cannot.
//
// Thread-safe after construction. Call after setlocale(LC_ALL, "").
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ops/sort/element_ends.h"
#include "ops/sort/line.h"
#include "ops/sort/options.h"

namespace hoist::sort {

// What of the locale matters to sort, read once.
struct LocaleFacts {
  bool hard_collation = false;  // strcoll() decides; false for C and POSIX, and for a locale whose
                                // collation is proven to be byte order (C.UTF-8)
  ElementEnds element_ends;     // of its collation; none where it is not hard
  std::string decimal_point = ".";  // one byte where GNU would use it; GNU takes '.' otherwise
  // The bytes that group thousands; -1: none. GNU sort skips one outside ASCII only where -h looks
  // for the unit, not where it reads the value. Where the locale has none, values skip the byte
  // 0x80, as experiments with releases 9.1 and 9.4 show.
  int thousands_separator = 0x80;  // of values
  int unit_separator = -1;
  bool blank[256];          // isblank, and '\n' (GNU counts it among the blanks)
  unsigned char fold[256];  // toupper
  bool printing[256];
  bool dictionary[256];  // blank or alphanumeric
  // Upper-cased abbreviations without blanks, each with its number from 1 to 12, in byte order.
  std::vector<std::pair<std::string, int>> months;
};
LocaleFacts read_locale();

class Comparator {
 public:
  explicit Comparator(const Options& options);
  Comparator(const Options& options, LocaleFacts locale);

  // < 0, 0, > 0 as GNU sort orders the lines: keys in turn, then (unless stable or unique) the
  // whole lines; `reverse` applied. Zero means that input order decides.
  int compare(Line a, Line b) const;

  // Only keys[i], its reverse not applied.
  int compare_key(size_t i, Line a, Line b) const;

  // The part of the line that key i looks at (blanks skipped as its options say).
  Line key_range(size_t i, Line line) const;

  const Options& options() const { return options_; }
  const LocaleFacts& locale() const { return locale_; }

 private:
  int compare_text(Line a, Line b) const;

  const Options& options_;
  LocaleFacts locale_;
};

// The pieces, each usable and tested alone. Texts need not be NUL-terminated and may hold NULs.
int compare_numeric(Line a, Line b, const LocaleFacts& locale);
int compare_general_numeric(Line a, Line b, Dialect dialect = {});
int compare_human_numeric(Line a, Line b, const LocaleFacts& locale, Dialect dialect = {});
// The power of a thousand that -h reads off the number's suffix (K: 1, M: 2, …), negated for a
// negative number; 0 for zero. -h compares by it before it compares values.
int human_unit(Line text, const LocaleFacts& locale, Dialect dialect = {});
int month_number(Line text, const LocaleFacts& locale);  // 0: none
int compare_version(Line a, Line b, Dialect dialect = {});
// 8 bytes, from `depth` on, of a spelling of the text whose byte order is version order without
// suffixes: texts that differ in it compare so.
uint64_t version_code(Line text, uint32_t depth, Dialect dialect = {});
// strcoll over each NUL-terminated piece in turn; a text that ends first sorts first. strcoll does
// not see what `ends` says it need not.
int compare_collated(Line a, Line b, const ElementEnds& ends = {});

}  // namespace hoist::sort
