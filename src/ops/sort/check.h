// sort -c and -C: is a file in order?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ops/sort/codes.h"
#include "ops/sort/reader.h"

namespace hoist::sort {

struct Disorder {
  uint64_t line_number = 0;  // from 1; of the line that should have come earlier
  std::string text;          // its bytes, without terminator
};

// The first line that sorts before the one above it, or with unique equals it; nothing where the
// file is in order or reading failed (reader.status()).
std::optional<Disorder> find_disorder(LineReader& reader, const Coder& coder);

// Checks the one input file of -c or -C and returns whether it is in order; with -c a disorder is
// reported on standard error as GNU sort words it. Exit codes: 0, 1, or 2 after an error.
Result<bool> check_file(std::string_view program, const Coder& coder);

}  // namespace hoist::sort
