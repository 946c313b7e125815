#include "device/module_cache.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/own_file.h"

namespace hoist::device {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'H', 'O', 'I', 'S', 'T', 'K', 'R', '1'};
constexpr const char* kSuffix = ".kernel";
// What a process that was killed has left unfinished.
constexpr auto kAbandonedAfter = std::chrono::hours(1);

struct EntryHeader {
  char magic[8];
  uint64_t size;       // of the code behind it
  Blake3Digest key;    // an entry under another's name is none
  Blake3Digest check;  // of the code
};
static_assert(sizeof(EntryHeader) == 80);

EntryHeader header_for(const ModuleCache::Key& key, std::span<const std::byte> code) {
  EntryHeader header;
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.size = code.size();
  header.key = key;
  header.check = blake3(code.data(), code.size());
  return header;
}

// With its length before it, so that no two lists of parts are the same bytes.
void add(Blake3& hash, std::string_view part) {
  const uint64_t size = part.size();
  hash.update(&size, sizeof size);
  hash.update(part.data(), part.size());
}

struct Found {
  fs::path path;
  uint64_t size;
  fs::file_time_type used;
};

}  // namespace

ModuleCache::Key ModuleCache::key(const ModuleSource& source) {
  Blake3 hash;
  add(hash, HOIST_VERSION);
  add(hash, source.target);
  add(hash, source.text);
  for (const std::string& option : source.options) add(hash, option);
  return hash.finish();
}

Result<ModuleCache> ModuleCache::open() {
  const Result<std::string> folder = user_cache_directory();
  if (!folder) return folder.error();
  if (Status made = make_own_directory(*folder); !made) return made.error();
  return open(*folder + "/kernels", kDefaultLimit);
}

Result<ModuleCache> ModuleCache::open(std::string folder, uint64_t limit) {
  if (Status made = make_own_directory(folder); !made) return made.error();
  return ModuleCache(std::move(folder), limit);
}

std::string ModuleCache::path_of(const Key& key) const {
  std::string path = folder_ + '/';
  for (const uint8_t byte : key) path += fmt::format("{:02x}", byte);
  return path + kSuffix;
}

Result<std::vector<std::byte>> ModuleCache::find(const Key& key) const {
  if (Status own = check_own_directory(folder_); !own) return own.error();
  const std::string path = path_of(key);
  const Result<UniqueFd> fd = open_own_file(path, O_RDONLY);
  if (!fd) return fd.error();
  const auto damaged = [&] {
    return fail(ErrorCode::corrupt, fmt::format("{} is damaged (kernel cache)", path));
  };
  struct stat info;
  EntryHeader header;
  const Result<size_t> got = read_full(fd->get(), &header, sizeof header, path);
  if (!got) return got.error();
  if (*got != sizeof header || ::fstat(fd->get(), &info) != 0 ||
      std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.key != key ||
      header.size > limit_ || static_cast<uint64_t>(info.st_size) != sizeof header + header.size) {
    return damaged();
  }
  std::vector<std::byte> code(header.size);
  const Result<size_t> read = read_full(fd->get(), code.data(), code.size(), path);
  if (!read) return read.error();
  if (*read != code.size() || blake3(code.data(), code.size()) != header.check) return damaged();
  (void)::futimens(fd->get(), nullptr);  // used now
  return code;
}

Status ModuleCache::put(const Key& key, std::span<const std::byte> code) const {
  if (Status own = check_own_directory(folder_); !own) return own;
  if (sizeof(EntryHeader) + code.size() > limit_) {
    return fail(ErrorCode::exhausted,
                fmt::format("code of {} bytes, the kernel cache holds {}", code.size(), limit_));
  }
  const EntryHeader header = header_for(key, code);
  std::string content(reinterpret_cast<const char*>(&header), sizeof header);
  content.append(reinterpret_cast<const char*>(code.data()), code.size());
  if (Status written = write_file_atomically(path_of(key), content); !written) return written;
  remove_oldest();
  return {};
}

// Others may do the same at the same time: what is gone already is none of our business.
void ModuleCache::remove_oldest() const {
  std::vector<Found> entries;
  uint64_t sum = 0;
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const Found found = {at->path(), at->file_size(gone), at->last_write_time(gone)};
    if (gone) continue;
    if (found.path.extension() == kSuffix) {
      sum += found.size;
      entries.push_back(found);
    } else if (found.path.stem().extension() == kSuffix && now - found.used > kAbandonedAfter) {
      fs::remove(found.path, gone);
    }
  }
  std::ranges::sort(entries, {}, &Found::used);
  for (const Found& oldest : entries) {
    if (sum <= limit_) break;
    std::error_code gone;
    fs::remove(oldest.path, gone);
    sum -= oldest.size;
  }
}

}  // namespace hoist::device
