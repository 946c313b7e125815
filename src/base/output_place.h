// Where a name that a user gave for an output leads.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/result.h"

namespace hoist {

struct OutputPlace {
  enum class Holds {
    nothing,
    file,
    special,  // a device, a pipe, a socket, or a descriptor that the process has: never replaced
  };

  std::string path;  // links resolved, unless they lead into /dev or /proc
  Holds holds = Holds::nothing;
  struct stat info = {};  // of what is there
  int descriptor = -1;    // of our own that the name stands for: /dev/stdout, /dev/fd/N

  // For messages: "out.svg", "link, which leads to /data/out.svg".
  std::string shown;
};

// Symbolic links stand for what they lead to, also where that does not exist yet.
// `invalid_argument` for an empty name and for a folder, `io` where links lead in a circle or a
// folder on the way cannot be looked into.
Result<OutputPlace> find_output_place(const std::string& name);

// Whether a path names something of the kernel's, in /dev or /proc: what lies there is written to
// and never replaced. /dev/shm holds files.
bool is_kernels(const std::string& path);

// The folder that holds `path`: "." where it names none.
std::string folder_of(const std::string& path);

}  // namespace hoist
