// How `hoist top` finds the counters that engines keep in memory of their own: as descriptors of
// running processes.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "base/counters.h"
#include "base/file.h"

namespace hoist {
namespace {

namespace fs = std::filesystem;

// The names in a folder of /proc, whose processes come and go meanwhile.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    entries.push_back(at->path());
  }
  return entries;
}

std::string target_of(const fs::path& link) {
  std::error_code error;
  return fs::read_symlink(link, error).native();
}

// Looking through the descriptors of all processes would take long.
bool is_engine(const fs::path& process) {
  struct stat info;
  const std::string number = process.filename();
  if (number.find_first_not_of("0123456789") != std::string::npos) return false;
  if (::stat(process.c_str(), &info) != 0 || info.st_uid != ::geteuid()) return false;
  return fs::path(target_of(process / "exe")).filename().native().starts_with("hoist-");
}

}  // namespace

std::vector<std::unique_ptr<Counters>> Counters::open_private() {
  constexpr std::string_view kMemory = "/memfd:" HOIST_COUNTERS_MEMORY;
  std::vector<std::unique_ptr<Counters>> found;
  std::set<std::pair<dev_t, ino_t>> known;  // a child may have its parent's
  for (const fs::path& process : entries_of("/proc")) {
    if (!is_engine(process)) continue;
    for (const fs::path& descriptor : entries_of(process / "fd")) {
      if (!target_of(descriptor).starts_with(kMemory)) continue;
      const Result<UniqueFd> fd = open_file(descriptor, O_RDWR);
      struct stat info;
      if (!fd || ::fstat(fd->get(), &info) != 0) continue;
      if (!known.emplace(info.st_dev, info.st_ino).second) continue;
      Result<std::unique_ptr<Counters>> counters = open(*fd, descriptor, false);
      if (counters) found.push_back(std::move(*counters));
    }
  }
  return found;
}

}  // namespace hoist
