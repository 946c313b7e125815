// What of the locale matters to sort.
#include <langinfo.h>

#include <algorithm>
#include <cctype>
#include <clocale>
#include <cstdint>
#include <cstring>

#include "ops/sort/compare.h"

namespace hoist::sort {
namespace {

// Whether strcoll() is strcmp() in this locale. glibc's strcoll() and strxfrm() fall back to
// strcmp() and a plain copy exactly where the locale has no collation rules (string/strcoll_l.c);
// C, POSIX and C.UTF-8 have none. Every single byte is transformed too, in case another libc
// means something else by the number of rules. Byte order over the NUL-terminated pieces of two
// texts, a missing piece first, is memcmp() order of the texts, a prefix first.
bool collates_by_bytes() {
  const char* name = std::setlocale(LC_COLLATE, nullptr);
  if (name == nullptr || std::strcmp(name, "C") == 0 || std::strcmp(name, "POSIX") == 0) {
    return true;
  }
  // The item is a 32-bit word that glibc returns in place of a pointer.
  const auto rules = reinterpret_cast<uintptr_t>(nl_langinfo(_NL_COLLATE_NRULES));
  if (static_cast<uint32_t>(rules) != 0) return false;
  for (int byte = 1; byte < 256; ++byte) {
    const char text[2] = {static_cast<char>(byte), '\0'};
    char transformed[8];
    if (std::strxfrm(transformed, text, sizeof transformed) != 1 || transformed[0] != text[0]) {
      return false;
    }
  }
  return true;
}

std::string month_name(nl_item item, const LocaleFacts& facts) {
  std::string name;
  for (const char* c = nl_langinfo(item); *c != '\0'; ++c) {
    const auto byte = static_cast<unsigned char>(*c);
    if (!isblank(byte)) name.push_back(static_cast<char>(facts.fold[byte]));
  }
  return name;
}

}  // namespace

LocaleFacts read_locale() {
  LocaleFacts facts;
  facts.hard_collation = !collates_by_bytes();
  if (facts.hard_collation) facts.element_ends = ElementEnds::of_locale();

  // Separators of more than one byte are not supported by GNU sort: it then takes '.' for the
  // decimal point and skips no separator.
  const lconv* conventions = localeconv();
  const std::string decimal_point = conventions->decimal_point;
  if (decimal_point.size() == 1) facts.decimal_point = decimal_point;
  const std::string thousands = conventions->thousands_sep;
  if (thousands.size() == 1) {
    facts.unit_separator = static_cast<unsigned char>(thousands[0]);
    facts.thousands_separator = facts.unit_separator < 0x80 ? facts.unit_separator : -1;
  }

  for (int byte = 0; byte < 256; ++byte) {
    facts.blank[byte] = isblank(byte) != 0 || byte == '\n';
    facts.fold[byte] = static_cast<unsigned char>(toupper(byte));
    facts.printing[byte] = isprint(byte) != 0;
    facts.dictionary[byte] = facts.blank[byte] || isalnum(byte) != 0;
  }

  constexpr nl_item kMonths[] = {ABMON_1, ABMON_2, ABMON_3, ABMON_4,  ABMON_5,  ABMON_6,
                                 ABMON_7, ABMON_8, ABMON_9, ABMON_10, ABMON_11, ABMON_12};
  for (int month = 1; month <= 12; ++month) {
    facts.months.emplace_back(month_name(kMonths[month - 1], facts), month);
  }
  std::stable_sort(facts.months.begin(), facts.months.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return facts;
}

}  // namespace hoist::sort
