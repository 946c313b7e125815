// Where `hoist run --stats=FILE` leaves its JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hoist::cli {

// A plain file is replaced as a whole, so that a reader sees the old text or the new one. Whatever
// else the name leads to stays what it is and is written through: devices, pipes, descriptors
// (/dev/stdout, also where that is a file), files with other names or of another owner, and files
// in folders that take no new ones. Symbolic links are followed, not replaced.
class StatsFile {
 public:
  // Finds out before the program runs for an hour. `invalid_argument` for an empty name or a
  // folder, `io` where nothing can be written.
  static Result<StatsFile> find(const std::string& name);

  Status write(std::string_view text) const;

 private:
  std::string path_;     // links resolved, unless they lead to devices
  int descriptor_ = -1;  // of our own that the name stands for
  int flags_ = 0;        // how to open it for writing through; 0: replace it
};

}  // namespace hoist::cli
