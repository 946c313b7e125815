// The profile on disk, with the decisions and timings beside it (profile_paths.h says where).
#pragma once

#include <optional>
#include <string>

#include "base/file.h"
#include "placement/profile.h"

namespace hoist::placement {

// Held while the profile is replaced; released with the object. Waits for another holder.
Result<UniqueFd> lock_profile();

// The profile whatever machine it is from. `not_found` where there is none.
Result<Profile> read_profile();

// Whether write_profile() may write where HOIST_PROFILE says: profile and decisions replace only
// files of their own kind, empty ones and none, and never links. To be asked before measuring.
Status check_profile_place();

// Writes profile and decisions, each atomically, decisions last: a reader sees old or new ones.
Status write_profile(const Profile& profile);

// The profile that counts for this process, or why none does.
struct LoadedProfile {
  std::optional<Profile> value;
  std::string
      why;  // "/home/u/.cache/hoist/profile.json, measured 2026-11-20", or why there is none

  const Profile* profile() const { return value ? &*value : nullptr; }
};
LoadedProfile load_profile();
// The same, read once.
const LoadedProfile& process_profile();
// Whether a decision for a GPU, of which the decisions' file does not say which, was made with the
// GPUs and the driver of this machine.
bool has_measured_these_gpus();

}  // namespace hoist::placement
