// Where the keys of a line lie, and how whole lines compare.
#include "ops/sort/compare.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ops/sort/scratch.h"

namespace hoist::sort {
namespace {

// Walks over the fields of one line. Fields are separated by a byte (-t), which belongs to neither
// field, or by the empty text before blanks, which then begin the field.
class FieldScanner {
 public:
  FieldScanner(const Options& options, const LocaleFacts& locale, Line line)
      : separator_(options.field_separator), blank_(locale.blank), end_(line.text + line.length) {}

  const char* skip_blanks(const char* at) const {
    while (at < end_ && is_blank(*at)) ++at;
    return at;
  }

  // The end of the field at `at`.
  const char* field_end(const char* at) const {
    if (separator_ >= 0) {
      if (at == end_) return end_;
      const void* found = std::memchr(at, separator_, static_cast<size_t>(end_ - at));
      return found ? static_cast<const char*>(found) : end_;
    }
    at = skip_blanks(at);
    while (at < end_ && !is_blank(*at)) ++at;
    return at;
  }

  // The start of the field `count` fields after the one at `at`; the line's end where there is
  // none.
  const char* skip_fields(const char* at, size_t count) const {
    for (; count > 0 && at < end_; --count) {
      at = field_end(at);
      if (separator_ >= 0 && at < end_) ++at;
    }
    return at;
  }

  // `count` bytes on, but not beyond the line.
  const char* advance(const char* at, size_t count) const {
    return at + std::min(count, static_cast<size_t>(end_ - at));
  }

 private:
  bool is_blank(char c) const { return blank_[static_cast<unsigned char>(c)]; }

  const int separator_;
  const bool* const blank_;
  const char* const end_;
};

int compare_bytes(Line a, Line b) {
  const size_t common = std::min(a.length, b.length);
  if (common != 0) {
    if (const int order = std::memcmp(a.text, b.text, common)) return order;
  }
  return (a.length > b.length) - (a.length < b.length);
}

// -d, -i and -f change the text that is compared, whatever compares it.
bool changes_text(const Key& key) {
  return key.dictionary || key.ignore_nonprinting || key.fold_case;
}

Line changed_text(Line text, const Key& key, const LocaleFacts& locale, Scratch& scratch) {
  const bool* const kept = key.dictionary           ? locale.dictionary
                           : key.ignore_nonprinting ? locale.printing
                                                    : nullptr;
  char* const copy = scratch.reserve(text.length);
  size_t length = 0;
  for (size_t i = 0; i < text.length; ++i) {
    const auto byte = static_cast<unsigned char>(text.text[i]);
    if (kept != nullptr && !kept[byte]) continue;
    copy[length++] = static_cast<char>(key.fold_case ? locale.fold[byte] : byte);
  }
  return {copy, length};
}

}  // namespace

int compare_collated(Line a, Line b, const ElementEnds& ends) {
  if (a.length == b.length && (a.length == 0 || std::memcmp(a.text, b.text, a.length) == 0)) {
    return 0;
  }
  if (a.length == 0 || b.length == 0) return a.length == 0 ? -1 : 1;
  const size_t common = ends.common(a, b);
  a = {a.text + common, a.length - common};
  b = {b.text + common, b.length - common};
  Scratch left_scratch;
  Scratch right_scratch;
  const char* left = left_scratch.terminated_copy(a);
  const char* right = right_scratch.terminated_copy(b);
  const char* const left_end = left + a.length;
  const char* const right_end = right + b.length;
  for (;;) {
    if (const int order = strcoll(left, right)) return order;
    left += std::strlen(left) + 1;
    right += std::strlen(right) + 1;
    const bool left_done = left > left_end;
    const bool right_done = right > right_end;
    if (left_done || right_done) return static_cast<int>(right_done) - static_cast<int>(left_done);
  }
}

Comparator::Comparator(const Options& options) : Comparator(options, read_locale()) {}

Comparator::Comparator(const Options& options, LocaleFacts locale)
    : options_(options), locale_(std::move(locale)) {}

Line Comparator::key_range(size_t i, Line line) const {
  const Key& key = options_.keys[i];
  const FieldScanner fields(options_, locale_, line);

  const char* start = fields.skip_fields(line.text, key.start_field);
  if (key.skip_start_blanks) start = fields.skip_blanks(start);
  start = fields.advance(start, key.start_char);

  const char* end = line.text + line.length;
  if (key.end_field != Key::kEndOfLine) {
    end = fields.skip_fields(line.text, key.end_field);
    if (key.end_char == 0) {
      end = fields.field_end(end);
    } else {
      if (key.skip_end_blanks) end = fields.skip_blanks(end);
      end = fields.advance(end, key.end_char);
    }
  }
  // A key that ends before it starts is empty.
  return {start, end > start ? static_cast<size_t>(end - start) : 0};
}

int Comparator::compare_key(size_t i, Line a, Line b) const {
  const Key& key = options_.keys[i];
  Line left = key_range(i, a);
  Line right = key_range(i, b);
  Scratch left_scratch;
  Scratch right_scratch;
  if (changes_text(key)) {
    left = changed_text(left, key, locale_, left_scratch);
    right = changed_text(right, key, locale_, right_scratch);
  }
  switch (key.ordering) {
    case Ordering::numeric:
      return compare_numeric(left, right, locale_);
    case Ordering::general_numeric:
      return compare_general_numeric(left, right, options_.dialect);
    case Ordering::human_numeric:
      return compare_human_numeric(left, right, locale_, options_.dialect);
    case Ordering::month:
      return month_number(left, locale_) - month_number(right, locale_);
    case Ordering::version:
      return compare_version(left, right, options_.dialect);
    case Ordering::text:
      break;
  }
  return compare_text(left, right);
}

int Comparator::compare_text(Line a, Line b) const {
  return locale_.hard_collation ? compare_collated(a, b, locale_.element_ends)
                                : compare_bytes(a, b);
}

int Comparator::compare(Line a, Line b) const {
  for (size_t i = 0; i < options_.keys.size(); ++i) {
    const int order = compare_key(i, a, b);
    if (order != 0) return options_.keys[i].reverse ? (order > 0 ? -1 : 1) : order;
  }
  if (!options_.keys.empty() && (options_.stable || options_.unique)) return 0;
  const int order = compare_text(a, b);
  return options_.reverse ? (order < 0) - (order > 0) : order;
}

}  // namespace hoist::sort
