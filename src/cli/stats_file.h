// Where `hoist run --stats=FILE` leaves its JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hoist::cli {

// A plain file is replaced as a whole, so that a reader sees the old text or the new one; only one
// that an earlier run has left, or an empty one (base/output_file.h). Whatever else the name leads
// to stays what it is and is written through: devices, pipes, descriptors (/dev/stdout, also where
// that is a file), files with other names or of another owner, and files in folders that take no
// new ones. Symbolic links are followed, not replaced.
class StatsFile {
 public:
  // Finds out before the program runs for an hour. `invalid_argument` for an empty name, a folder
  // and a file of another kind, `io` where nothing can be written.
  static Result<StatsFile> find(const std::string& name);

  Status write(std::string_view text) const;

 private:
  std::string path_;       // links resolved, unless they lead to devices
  bool in_place_ = false;  // the file is written anew instead of being replaced
};

}  // namespace hoist::cli
