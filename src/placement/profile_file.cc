#include "placement/profile_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/output_file.h"
#include "base/own_file.h"
#include "base/per_process.h"
#include "placement/choose.h"
#include "placement/decide.h"
#include "placement/profile_paths.h"

namespace hoist::placement {
namespace {

std::string read_all(int fd, size_t limit) {
  std::string text(limit, '\0');
  text.resize(pread_full(fd, text.data(), text.size(), 0).value_or(0));
  return text;
}

bool is_profile(int fd) { return looks_like_profile(read_all(fd, kProfileLimit)); }
bool is_decisions(int fd) {
  constexpr std::string_view kHead = "hoist-decisions ";  // takeover/decisions.c
  return read_all(fd, kHead.size()) == kHead;
}

OutputRule rule_of(const ProfilePaths& paths, bool (*is_own_kind)(int fd), const char* kind) {
  OutputRule rule = {.replace = Replace::own_kind,
                     .is_own_kind = is_own_kind,
                     .kind = kind,
                     .keep_permissions = false,  // readers trust it only where it is ours alone
                     .mend = "name another place with HOIST_PROFILE, or remove it"};
  // In a folder of our own whatever is there is ours, also where it is damaged.
  if (!paths.directory.empty()) rule.replace = Replace::any;
  return rule;
}

OutputRule profile_rule(const ProfilePaths& paths) {
  return rule_of(paths, is_profile, "a profile of Hoist");
}
OutputRule decisions_rule(const ProfilePaths& paths) {
  return rule_of(paths, is_decisions, "decisions of a profile");
}

// Readers follow no links, and take nothing but files.
Status check_plain(const std::string& path) {
  struct stat there {};
  if (::lstat(path.c_str(), &there) != 0 || S_ISREG(there.st_mode)) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("{} is no regular file (HOIST_PROFILE): name another", path));
}

}  // namespace

Status check_profile_place() {
  const Result<ProfilePaths> paths = profile_paths();
  if (!paths) return paths.error();
  for (const std::string& path : {paths->profile, paths->decisions}) {
    if (Status plain = check_plain(path); !plain) return plain;
  }
  // A folder that is missing is made later.
  if (!paths->directory.empty()) return {};
  Status status = check_output(paths->profile, profile_rule(*paths));
  return status ? check_output(paths->decisions, decisions_rule(*paths)) : status;
}

Result<UniqueFd> lock_profile() {
  const Result<ProfilePaths> paths = profile_paths();
  if (!paths) return paths.error();
  if (const Status status = make_directory(*paths); !status) {
    return status.error();
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
  if (!paths) return paths.error();
  if (const Status status = check_directory(*paths); !status) {
    return status.error();
  }
  const Result<std::string> text = read_own_file(paths->profile, kProfileLimit);
  if (!text) return text.error();
  return parse_profile(*text);
}

Status write_profile(const Profile& profile) {
  const Result<ProfilePaths> paths = profile_paths();
  if (!paths) return paths.error();
  if (const Status status = make_directory(*paths); !status) return status;
  if (const Status status = check_profile_place(); !status) return status;
  constexpr mode_t kMode = 0600;
  const Status status = write_output(paths->profile, to_json(profile), profile_rule(*paths), kMode);
  return status ? write_output(paths->decisions, decisions_text(profile), decisions_rule(*paths),
                               kMode)
                : status;
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
  struct Read {
    const LoadedProfile loaded = load_profile();
  };
  static constinit PerProcess<Read> read;  // no guard: a child of fork() could wait for it for good
  return read.get().loaded;
}

bool has_measured_these_gpus() { return process_profile().profile() != nullptr; }

ProfileDescription describe_profile() {
  const LoadedProfile& loaded = process_profile();
  return {loaded.profile() != nullptr, loaded.why};
}

}  // namespace hoist::placement
