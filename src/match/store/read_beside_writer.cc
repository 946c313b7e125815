#include "match/store/read_beside_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>

namespace hoist::match {
namespace {

namespace fs = std::filesystem;

// The names of a store's files, which RocksDB numbers and never uses again, and the sizes of its
// manifests. A log may grow meanwhile: that moves nothing.
std::map<std::string, uintmax_t> files_of(const std::string& folder) {
  std::map<std::string, uintmax_t> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    std::error_code gone;
    const uintmax_t size = name.starts_with("MANIFEST") ? at->file_size(gone) : 0;
    files.emplace(std::move(name), gone ? 0 : size);
  }
  return files;
}

}  // namespace

Status read_beside_writer(const std::string& folder, const std::function<Status()>& read,
                          std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kLongestPause{64};
  const auto end = std::chrono::steady_clock::now() + patience;
  auto before = files_of(folder);
  for (std::chrono::milliseconds pause{1};; pause = std::min(2 * pause, kLongestPause)) {
    Status done = read();
    if (done) return done;
    auto after = files_of(folder);
    if (after == before) return done;
    if (std::chrono::steady_clock::now() >= end) {
      return fail(ErrorCode::unavailable,
                  fmt::format("another process changes the store all the time ({}), so that it "
                              "could not be read for {} s: try again (the last try: {})",
                              folder, patience.count() / 1000, done.error().message));
    }
    std::this_thread::sleep_for(pause);
    before = files_of(folder);
  }
}

}  // namespace hoist::match
