// Files that are read only where no other user can have written them.
#pragma once

#include <string>

#include "base/file.h"

namespace hoist::placement {

// Where the profile and what belongs to it are.
struct ProfilePaths {
  std::string profile;    // …/profile.json
  std::string decisions;  // takeover/decisions.h
  std::string timings;    // record.h
  std::string lock;       // held while any of them is replaced
  std::string directory;  // ours alone; empty under HOIST_PROFILE, whose place is the user's choice
};

// `unavailable` where the environment names no place, or in a program with raised privileges.
Result<ProfilePaths> profile_paths();

// Whether the directory is there, belongs to the effective user, and nobody else may write it.
Status check_directory(const ProfilePaths& paths);
// Makes it (mode 0700) with its parents where it is missing, then checks it.
Status make_directory(const ProfilePaths& paths);

// Opens a regular file that belongs to the effective user and that nobody else may write;
// symbolic links are not followed, and nothing that stands there can make the call wait.
Result<UniqueFd> open_own_file(const std::string& path, int flags, mode_t mode = 0600);
// The whole of it, at most `limit` bytes.
Result<std::string> read_own_file(const std::string& path, size_t limit);

}  // namespace hoist::placement
