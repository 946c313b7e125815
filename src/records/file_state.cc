#include "records/file_state.h"

namespace hoist::records {

std::string_view state_name(const RecordReader& reader) {
  if (!reader.check_whole()) return "damaged";
  if (reader.is_index_rebuilt()) return "rebuilt";
  return reader.unfinished_bytes() > 0 ? "unfinished" : "committed";
}

std::string state_warning(const RecordReader& reader) {
  if (!reader.check_whole()) return {};
  if (reader.is_index_rebuilt()) {
    return "the index of " + reader.name() +
           " is damaged and was made anew: all rows are there, and `hoist records repair` writes a "
           "sound file";
  }
  if (reader.unfinished_bytes() == 0) return {};
  return std::to_string(reader.unfinished_bytes()) + " bytes behind the last commit of " +
         reader.name() + " are not read: somebody is adding rows, or died while doing so";
}

}  // namespace hoist::records
