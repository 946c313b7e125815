// What a file of records is like that does not end in a commit, in words: for all who open it.
#pragma once

#include <string>
#include <string_view>

#include "records/reader.h"

namespace hoist::records {

// "committed", "unfinished" (bytes follow the last commit), "rebuilt" (the index was) or "damaged"
// (rows are lost).
std::string_view state_name(const RecordReader& reader);

// What a user should know of a file that is not damaged: bytes behind the last commit, which are
// not read, or an index that was made anew. Empty where all is well, and where rows are lost, which
// is an error.
std::string state_warning(const RecordReader& reader);

}  // namespace hoist::records
