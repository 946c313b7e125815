// What the commands say of a file that does not end in a commit.
#pragma once

#include "records/reader.h"

namespace hoist::cli {

// Warns of bytes behind the last commit, which are not read, and of an index that was made anew.
void warn_of_state(const records::RecordReader& reader);

}  // namespace hoist::cli
