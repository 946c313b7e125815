#include "placement/record.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>

#include "base/checksum.h"
#include "base/load.h"
#include "base/own_file.h"
#include "placement/profile_paths.h"
#include "takeover/decisions.h"

namespace hoist::placement {
namespace {

// As it lies in the file; native byte order, since the file never leaves the machine.
struct Record {
  uint32_t magic;
  uint32_t cpus;
  uint64_t key;
  uint64_t time;
  uint64_t bytes;
  uint64_t items;
  double seconds;
  char variant[48];
  char implementation[24];
  uint64_t checksum;  // XXH3 of all before
};
static_assert(sizeof(Record) == kTimingSize);
constexpr uint32_t kMagic = 0x31544d48;  // "HMT1"

uint64_t checksum_of(const Record& record) { return xxh3_64(&record, offsetof(Record, checksum)); }

template <size_t size>
void put_text(char (&field)[size], std::string_view text) {
  std::memcpy(field, text.data(), std::min(text.size(), size - 1));
}

template <size_t size>
std::string take_text(const char (&field)[size]) {
  return {field, ::strnlen(field, size)};
}

// The file, new where it has grown too long.
Result<UniqueFd> open_timings(const ProfilePaths& paths) {
  const std::string& path = paths.timings;
  constexpr int kFlags = O_RDWR | O_APPEND | O_CREAT;
  Result<UniqueFd> fd = open_own_file(path, kFlags);
  struct stat info;
  if (!fd || ::fstat(fd->get(), &info) != 0) return fd;
  char head[sizeof kMagic];
  const Result<size_t> read = pread_full(fd->get(), head, sizeof head, 0, path);
  const bool may_be_foreign = paths.directory.empty() && info.st_size > 0;
  if (may_be_foreign && !begins_with_timing({head, read.value_or(0)})) {
    return fail(ErrorCode::invalid_argument, fmt::format("{} holds no timings", path));
  }
  if (static_cast<size_t>(info.st_size) + kTimingSize <= kTimingsLimit) return fd;
  ::unlink(path.c_str());
  return open_own_file(path, kFlags);
}

}  // namespace

bool begins_with_timing(std::string_view bytes) {
  return bytes.size() >= sizeof kMagic && std::memcmp(bytes.data(), &kMagic, sizeof kMagic) == 0;
}

std::string encode_timing(const Timing& timing) {
  Record record = {};
  record.magic = kMagic;
  record.cpus = static_cast<uint32_t>(timing.cpus);
  record.key = timing.key;
  record.time = timing.time;
  record.bytes = timing.shape.bytes;
  record.items = timing.shape.items;
  record.seconds = timing.seconds;
  put_text(record.variant, timing.variant);
  put_text(record.implementation, timing.implementation);
  record.checksum = checksum_of(record);
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

std::vector<Timing> decode_timings(std::string_view bytes) {
  std::vector<Timing> timings;
  for (; bytes.size() >= kTimingSize; bytes.remove_prefix(kTimingSize)) {
    Record record;
    std::memcpy(&record, bytes.data(), sizeof record);
    const bool is_sound = record.magic == kMagic && record.checksum == checksum_of(record) &&
                          std::isfinite(record.seconds) && record.seconds > 0 && record.cpus >= 1 &&
                          record.cpus <= 1u << 20;
    if (!is_sound) continue;
    timings.push_back({take_text(record.variant),
                       take_text(record.implementation),
                       {record.bytes, record.items},
                       record.seconds,
                       static_cast<int>(record.cpus),
                       record.key,
                       record.time});
  }
  return timings;
}

void record(std::string_view operation, std::string_view variant, std::string_view implementation,
            const Shape& shape, double seconds) {
  const Result<ProfilePaths> paths = profile_paths();
  if (!paths || ::access(paths->profile.c_str(), F_OK) != 0 || !check_directory(*paths)) return;
  const Timing timing = {std::string(operation) + "/" + std::string(variant),
                         std::string(implementation),
                         shape,
                         seconds,
                         free_cpus(),
                         hoist_machine_key(),
                         static_cast<uint64_t>(std::time(nullptr))};
  const Result<UniqueFd> fd = open_timings(*paths);
  if (!fd) return;
  const std::string bytes = encode_timing(timing);
  if (may_grow(fd->get(), bytes.size())) (void)!::write(fd->get(), bytes.data(), bytes.size());
}

}  // namespace hoist::placement
