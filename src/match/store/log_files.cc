#include "match/store/log_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <limits>

#include "base/file.h"

namespace hoist::match {
namespace {

// A log's name is its number.
Result<std::vector<std::string>> find_logs(const std::string& folder) {
  std::vector<std::pair<uint64_t, std::string>> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != ".log") continue;
    const std::string stem = at->path().stem().string();
    uint64_t number = 0;
    const auto parsed = std::from_chars(stem.data(), stem.data() + stem.size(), number);
    if (parsed.ec == std::errc() && parsed.ptr == stem.data() + stem.size()) {
      found.emplace_back(number, at->path().string());
    }
  }
  if (error) {
    return fail(ErrorCode::io, fmt::format("cannot read ({}: {})", folder, error.message()),
                error.value());
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  for (auto& [number, path] : found) paths.push_back(std::move(path));
  return paths;
}

}  // namespace

Result<std::vector<LogFile>> read_logs(const std::string& store_path,
                                       const std::function<void(const LogWrite&)>& take) {
  const auto paths = find_logs(store_path);
  if (!paths) return paths.error();
  std::vector<LogFile> files;
  for (const std::string& path : *paths) {
    const auto bytes = read_file(path, std::numeric_limits<size_t>::max());
    // RocksDB removes a log that it needs no more.
    if (!bytes && bytes.error().system_errno == ENOENT) continue;
    if (!bytes) return bytes.error();
    LogFile& file = files.emplace_back(LogFile{path, bytes->size(), {}});
    file.scan = scan_log(*bytes, [&](uint64_t offset, std::string_view record) {
      take({files.size() - 1, offset, record});
    });
  }
  return files;
}

std::optional<std::string> damage_before_end(const std::vector<LogFile>& files) {
  for (const LogFile& file : files) {
    const bool is_last = &file == &files.back();
    if (!file.scan.damage.empty()) {
      return fmt::format("{} at byte {}", file.path, file.scan.damage.front().offset);
    }
    if (!is_last && file.scan.tail < file.size) {
      return fmt::format("{} from byte {}", file.path, file.scan.tail);
    }
  }
  return std::nullopt;
}

}  // namespace hoist::match
