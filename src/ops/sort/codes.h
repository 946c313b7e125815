// Lines as 64-bit codes whose unsigned order agrees with the sort order.
//
// A line's order is a sequence of stages: for every key one or more codes, then (unless stable or
// unique) the whole line. code(line, stage) < code(line', stage) implies that the lines compare
// so, given that all earlier codes were equal. Equal codes lead to next(): another stage, `done`
// (the lines are equal to the sort), `compare` (codes cannot tell: ask Comparator), or `collate`
// (only the lower levels of a collated text are left: append_collation_key() or Comparator).
//
// In a locale whose order is not that of the bytes the codes of text are a guess (see Collation):
// guessed() says so, and whoever sorts by them must prove the result with the Comparator.
//
//   text:     7 bytes of the text, then a byte that says how many of them there are, or that more
//             follow; so equal codes either end the text on both sides or go on on both sides.
//   numbers:  sign, number of integer digits, 16 leading digits, whether a non-zero digit is left
//             over. Human sizes have the suffix before the digits, general numbers are doubles.
#pragma once

#include <cstdint>
#include <string>

#include "ops/sort/collate.h"
#include "ops/sort/compare.h"
#include "ops/sort/line.h"
#include "ops/sort/options.h"

namespace hoist::sort {

struct Stage {
  uint32_t key = 0;    // index into Options::keys; keys.size() is the last resort
  uint32_t depth = 0;  // bytes of the (transformed) text told by the codes before this one
};

enum class Next { stage, done, compare, collate };

class Coder {
 public:
  explicit Coder(const Comparator& comparator);

  Stage first_stage() const { return Stage{}; }
  uint64_t code(Line line, Stage stage) const;

  // What decides between lines whose codes at `stage` were equal to `code`; moves `stage` on where
  // the answer is Next::stage.
  Next next(uint64_t code, Stage& stage) const;

  // The same for lines whose stage_text() is known to be identical: it decides nothing more.
  Next next_if_identical(Stage& stage) const;

  // How long a line is that is nothing but the number which `code` at `stage` tells, without zeros
  // in front or at the end of decimals: lines of that length with that code are the same bytes. 0:
  // no line is.
  uint64_t length_of_bare_number(uint64_t code, Stage stage) const;

  bool guessed() const { return guessed_; }

  // Whether strcoll() has the last word about what `stage` looks at.
  bool is_collated(Stage stage) const;
  // Whether `stage` reads bytes of the line as they are, so that they may be skipped by counting.
  bool is_plain_text(Stage stage) const;
  // The part of the line that the stage's key (or last resort) looks at, the first `depth` bytes
  // left out where it is plain text.
  Line stage_text(Line line, Stage stage) const;

  // The longest text that a collation key is made of: strxfrm() is quick up to there.
  static constexpr size_t kMaximumCollated = 4095;
  // Appends what strxfrm() makes of the text that `stage`, one of a collated text, looks at, up to
  // the first NUL. The byte order of two keys that differ is nearly always the order of the lines
  // (reversed where is_reversed()). False, and nothing appended, for a longer text.
  bool append_collation_key(Line line, Stage stage, std::string& keys) const;
  // Whether lines come in the reverse order of what `stage` looks at.
  bool is_reversed(Stage stage) const;

  const Comparator& comparator() const { return comparator_; }

 private:
  uint64_t key_code(size_t index, Line text, uint32_t depth) const;
  uint64_t text_code(Line text, uint32_t depth, const Key* key) const;
  static bool is_translated(const Key& key);
  template <typename Visit>
  void visit_translated(Line text, const Key& key, const Visit& visit) const;
  size_t translate(Line text, const Key& key, uint32_t depth, unsigned char* out) const;
  std::string translated(Line text, const Key& key) const;
  uint64_t numeric_code(Line text) const;
  uint64_t human_code(Line text) const;
  Next after_key(Stage& stage) const;

  const Comparator& comparator_;
  const Options& options_;
  Collation collation_;
  bool guessed_ = false;
  uint64_t reverse_last_resort_ = 0;  // all ones: reversed
};

}  // namespace hoist::sort
