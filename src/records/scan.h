// The end of a value by its first stop byte: how a line is matched with a known shape.
#pragma once

#include <array>
#include <cstdint>

#include "records/line_parser.h"

namespace hoist::records {

using StopTable = std::array<bool, 256>;

class Scanner {
 public:
  explicit Scanner(char delimiter);

  // Where the value that begins at `at` ends; nullptr where none can be there.
  const char* find_end(Scan scan, const char* at, const char* line_end) const {
    if (scan == Scan::none) return nullptr;
    const StopTable& stops = tables_[static_cast<size_t>(scan)];
    const char* end = at;
    for (;;) {
      while (end != line_end && !stops[static_cast<uint8_t>(*end)]) ++end;
      if (end == line_end) break;
      if (scan == Scan::json_text && *end == '\\') {
        if (line_end - end < 2) return nullptr;
        end += 2;
        continue;
      }
      if (scan == Scan::quoted && line_end - end >= 2 && end[1] == '"') {
        end += 2;
        continue;
      }
      break;
    }
    return end == at && scan == Scan::json_bare ? nullptr : end;
  }

 private:
  std::array<StopTable, 7> tables_{};
};

}  // namespace hoist::records
