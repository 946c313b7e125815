// The command line of GNU sort, parsed to what the engine needs to know.
//
// parse_options() accepts exactly what GNU sort accepts and what this engine does; everything else
// (errors included: the original words them best) is an Error whose message is the reason to step
// aside. GNU's getopt_long rules hold: permutation unless POSIXLY_CORRECT, abbreviated long
// options, bundled short options, `--`; obsolete keys (+1 -2) where GNU takes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hoist::sort {

enum class Ordering { text, numeric, general_numeric, human_numeric, month, version };

// One -k, resolved: global ordering options are inherited as GNU does it. A sort without -k but
// with global ordering options has one key that spans the line; a plain sort has none.
struct Key {
  static constexpr size_t kEndOfLine = SIZE_MAX;
  size_t start_field = 0;         // counted from 0
  size_t start_char = 0;          // counted from 0, from the start of the field
  size_t end_field = kEndOfLine;  // counted from 0; kEndOfLine: the key ends with the line
  size_t end_char = 0;            // -kA,B.C: C, as GNU counts it; 0: the end of field `end_field`
  bool skip_start_blanks = false;
  bool skip_end_blanks = false;
  Ordering ordering = Ordering::text;
  bool dictionary = false;          // -d
  bool ignore_nonprinting = false;  // -i; -d wins where both are given, as in GNU sort
  bool fold_case = false;           // -f
  bool reverse = false;
};

enum class Mode { sort, merge, check, check_quiet };

// Where the releases of coreutils whose sort this engine answers for differ in their order.
struct Dialect {
  bool ronna_and_quetta = false;  // -h knows the suffixes R and Q
  bool nans_by_sign = false;      // -g tells NaNs apart by sign alone, else by all their bytes
  bool keeps_stem = false;        // -V never takes the whole of a name (".a.b") for its suffix
};

struct Options {
  Mode mode = Mode::sort;
  std::vector<Key> keys;
  bool stable = false;
  bool unique = false;
  bool reverse = false;  // of the last resort, and of a sort without keys
  char terminator = '\n';
  int field_separator = -1;                        // -1: blanks; else a byte (0 for -t '\0')
  std::string output;                              // empty: standard output
  std::vector<std::string> temporary_directories;  // as given; empty: $TMPDIR or /tmp
  uint64_t memory_limit = 0;                       // bytes, from -S; 0: the default
  int threads = 0;                                 // --parallel; 0: not given
  unsigned batch_size = 16;
  std::string compress_program;
  std::vector<std::string> files;  // "-" for standard input; never empty
  Dialect dialect;
};

// `argv[0]` is the program; `version` is that of the coreutils to answer for ("9.1"; empty where
// unknown: orders that differ between releases are then unsupported). Reads --files0-from where
// given; a list read from standard input is put back there (as a memory file), so that stepping
// aside stays possible. Every error has the code `unsupported`. Uses getopt's global state: one
// caller at a time. Call after setlocale().
Result<Options> parse_options(const std::vector<std::string>& argv, std::string_view version = {});

}  // namespace hoist::sort
