#include "placement/profile_paths.h"

#include <climits>

#include "base/own_file.h"
#include "placement/timings_file.h"
#include "takeover/decisions.h"

namespace hoist::placement {

Result<ProfilePaths> profile_paths() {
  char decisions[PATH_MAX];
  if (!hoist_decisions_path(decisions, sizeof decisions)) {
    return fail(ErrorCode::unavailable,
                "there is no place for a profile (HOIST_PROFILE, XDG_CACHE_HOME, HOME): set HOME");
  }
  ProfilePaths paths;
  paths.decisions = decisions;
  const std::string base = paths.decisions.substr(0, paths.decisions.size() - 9);
  if (paths.decisions.ends_with(".decisions")) {
    paths.profile = base.substr(0, base.size() - 1);
    paths.timings = base + HOIST_TIMINGS_NAME;
    paths.lock = base + "lock";
  } else {
    paths.directory = base.substr(0, base.size() - 1);
    paths.profile = base + "profile.json";
    paths.timings = base + HOIST_TIMINGS_NAME;
    paths.lock = base + "profile.lock";
  }
  return paths;
}

Status check_directory(const ProfilePaths& paths) {
  if (paths.directory.empty()) return {};
  return check_own_directory(paths.directory);
}

Status make_directory(const ProfilePaths& paths) {
  if (paths.directory.empty()) return {};
  return make_own_directory(paths.directory);
}

}  // namespace hoist::placement
