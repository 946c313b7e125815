// The small languages inside sort's option arguments: counts, sizes, ordering letters, keys.
//
// Every parser answers "no" (empty or false) where GNU sort reports an error.
#pragma once

#include <cstdint>
#include <optional>

#include "ops/sort/options.h"

namespace hoist::sort {

// A decimal number as C reads it (white space and '+' may precede it) and what follows it. `value`
// is the largest uint64_t where the number is larger (`overflow`).
struct Number {
  uint64_t value = 0;
  bool overflow = false;
  const char* rest = nullptr;
};
std::optional<Number> scan_number(const char* text);
// The same with nothing after it.
std::optional<Number> scan_whole_number(const char* text);

// The argument of -S in bytes: a number with a unit (KiB where there is none), or with '%' of the
// physical memory.
std::optional<uint64_t> scan_buffer_size(const char* text);

// The ordering letters of a key, or the global ones.
struct OrderingLetters {
  bool skip_start_blanks = false;
  bool skip_end_blanks = false;
  bool dictionary = false;
  bool ignore_nonprinting = false;
  bool fold_case = false;
  bool general_numeric = false;
  bool human_numeric = false;
  bool month = false;
  bool numeric = false;
  bool random = false;
  bool reverse = false;
  bool version = false;

  // Whether a key with these letters keeps to itself: it inherits no global letter. A lone 'r'
  // does not count.
  bool own() const;
  // Whether GNU sort takes the letters together.
  bool compatible() const;
  // Copies what they say into `key`.
  void apply(Key& key) const;
};

enum class BlankSide { start, end, both };
// Takes ordering letters from the front of `text`; 'b' applies to `side`. Returns the rest.
const char* scan_ordering(const char* text, BlankSide side, OrderingLetters& letters);

// A key as written, before it inherits anything.
struct KeySpec {
  Key key;
  OrderingLetters letters;
};

// The argument of -k: F[.C][LETTERS][,F[.C][LETTERS]].
std::optional<KeySpec> scan_key(const char* text);
// The obsolete start "+F[.C][LETTERS]". Where it is not one, the argument is a file's name.
std::optional<KeySpec> scan_obsolete_start(const char* text);
// The obsolete end "-F[.C][LETTERS]" of such a key.
bool scan_obsolete_end(const char* text, KeySpec& spec);
// Whether a position of the key is so large that GNU sort's pointer arithmetic wraps around.
bool position_wraps(const Key& key);

}  // namespace hoist::sort
