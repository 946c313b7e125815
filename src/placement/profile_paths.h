// Where the profile and what belongs to it are; read and written as base/own_file.h says.
#pragma once

#include <string>

#include "base/result.h"

namespace hoist::placement {

struct ProfilePaths {
  std::string profile;    // …/profile.json
  std::string decisions;  // takeover/decisions.h
  std::string timings;    // record.h
  std::string lock;       // held while any of them is replaced
  std::string directory;  // ours alone; empty under HOIST_PROFILE, whose place is the user's choice
};

// `unavailable` where the environment names no place, or in a program with raised privileges.
Result<ProfilePaths> profile_paths();

// As check_own_directory() and make_own_directory(); under HOIST_PROFILE there is nothing to do.
Status check_directory(const ProfilePaths& paths);
Status make_directory(const ProfilePaths& paths);

}  // namespace hoist::placement
