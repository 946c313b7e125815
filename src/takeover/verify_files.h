// The temporary files of --verify.
#pragma once

#include <csignal>
#include <string>

#include "base/file.h"

namespace hoist {

// A signal that is ignored for the lifetime of this object.
class IgnoredSignal {
 public:
  explicit IgnoredSignal(int signal);
  IgnoredSignal(const IgnoredSignal&) = delete;
  IgnoredSignal& operator=(const IgnoredSignal&) = delete;
  ~IgnoredSignal();

 private:
  int signal_;
  struct sigaction before_;
};

// An unlinked file in $TMPDIR (or /tmp), closed on exec; invalid where none can be had.
UniqueFd temporary_file();

// Whether the file could have grown: there is space, and no quota or size limit is reached.
bool has_room(int fd);

bool same_content(int a, int b);

// Whether the file mentions an error that comes from a lack of room. Call after setlocale().
bool mentions_lack_of_room(int fd);

// Copies all of the file `from` to the descriptor `to`.
Status copy_out(int from, int to);

}  // namespace hoist
