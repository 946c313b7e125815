#include "placement/profile_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "placement/choose.h"
#include "placement/decide.h"
#include "placement/own_file.h"

namespace hoist::placement {

Result<UniqueFd> lock_profile() {
  const Result<ProfilePaths> paths = profile_paths();
  if (!paths) return tl::unexpected(paths.error());
  if (const Status status = make_directory(*paths); !status) {
    return tl::unexpected(status.error());
  }
  Result<UniqueFd> fd = open_own_file(paths->lock, O_RDWR | O_CREAT);
  if (!fd) return fd;
  while (::flock(fd->get(), LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    return fail(ErrorCode::io, fmt::format("lock {}: {}", paths->lock, std::strerror(errno)),
                errno);
  }
  return fd;
}

Result<Profile> read_profile() {
  const Result<ProfilePaths> paths = profile_paths();
  if (!paths) return tl::unexpected(paths.error());
  if (const Status status = check_directory(*paths); !status) {
    return tl::unexpected(status.error());
  }
  const Result<std::string> text = read_own_file(paths->profile, kProfileLimit);
  if (!text) return tl::unexpected(text.error());
  return parse_profile(*text);
}

Status write_profile(const Profile& profile) {
  const Result<ProfilePaths> paths = profile_paths();
  if (!paths) return tl::unexpected(paths.error());
  if (const Status status = make_directory(*paths); !status) return status;
  struct stat there {};
  if (::stat(paths->profile.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} is no regular file (HOIST_PROFILE): name another", paths->profile));
  }
  const Status status = write_file_atomically(paths->profile, to_json(profile));
  return status ? write_file_atomically(paths->decisions, decisions_text(profile)) : status;
}

LoadedProfile load_profile() {
  Result<Profile> profile = read_profile();
  if (!profile) {
    const bool is_missing = profile.error().code == ErrorCode::not_found;
    return {{},
            is_missing ? "no profile: conservative defaults decide; run `hoist tune`"
                       : fmt::format("conservative defaults decide: {}", profile.error().message)};
  }
  const Machine machine = this_machine();
  if (!machine.is_served_by(profile->machine)) {
    return {{},
            "the profile is of another machine or version: conservative defaults decide; run "
            "`hoist tune`"};
  }
  std::string why = fmt::format("{}, measured {}", profile_paths()->profile, profile->measured);
  if (machine.cpus > profile->machine.cpus) {
    why += fmt::format(" with {} of the {} CPUs: run `hoist tune`", profile->machine.cpus,
                       machine.cpus);
  }
  return {std::move(*profile), std::move(why)};
}

const LoadedProfile& process_profile() {
  static const LoadedProfile* const profile = new LoadedProfile(load_profile());
  return *profile;
}

bool has_measured_these_gpus() { return process_profile().profile() != nullptr; }

ProfileDescription describe_profile() {
  const LoadedProfile& loaded = process_profile();
  return {loaded.profile() != nullptr, loaded.why};
}

}  // namespace hoist::placement
