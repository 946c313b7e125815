#include "cli/records/state.h"

#include <fmt/format.h>

#include "cli/report.h"

namespace hoist::cli {

void warn_of_state(const records::RecordReader& reader) {
  if (!reader.check_whole()) return;  // an error
  if (reader.is_index_rebuilt()) {
    warn(
        fmt::format("the index of {} is damaged and was made anew: all rows are there, and `hoist "
                    "records repair` writes a sound file",
                    reader.name()));
  } else if (reader.unfinished_bytes() > 0) {
    warn(
        fmt::format("{} bytes behind the last commit of {} are not read: somebody is adding rows, "
                    "or died while doing so",
                    reader.unfinished_bytes(), reader.name()));
  }
}

std::string_view state_name(const records::RecordReader& reader) {
  if (!reader.check_whole()) return "damaged";
  if (reader.is_index_rebuilt()) return "rebuilt";
  return reader.unfinished_bytes() > 0 ? "unfinished" : "committed";
}

}  // namespace hoist::cli
