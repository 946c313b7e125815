#include "ops/hash/small_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "ops/hash/checksum_line.h"
#include "ops/hash/gpu_hasher.h"

namespace hoist::hash {
namespace {

constexpr size_t kFew = 32;
constexpr size_t kSample = 64;
constexpr size_t kHeadBytes = 16 << 10;
constexpr DigestKind kKind = {Algorithm::sha256, 32};

// The bytes of `count` files, by these of them.
std::optional<uint64_t> extrapolated(uint64_t count, const std::vector<std::string>& sample) {
  uint64_t bytes = 0;
  for (const std::string& name : sample) bytes += glance_at(name).bytes;
  if (sample.empty()) return std::nullopt;
  return bytes / sample.size() * count;
}

std::optional<uint64_t> if_small(uint64_t count, std::optional<uint64_t> bytes) {
  if (!bytes || count < kFew || !GpuHasher::takes(kKind, *bytes / count)) return std::nullopt;
  return bytes;
}

std::optional<uint64_t> bytes_of_named(const Options& options) {
  const std::vector<std::string>& files = options.files;
  std::vector<std::string> sample;
  const size_t step = std::max<size_t>(files.size() / kSample, 1);
  for (size_t i = 0; i < files.size(); i += step) sample.push_back(files[i]);
  return if_small(files.size(), extrapolated(files.size(), sample));
}

// A list's first lines tell how long its lines are, and name files.
std::optional<uint64_t> bytes_of_listed(const Options& options) {
  struct stat status;
  const std::string& list = options.files.front();
  if (options.files.size() != 1 || ::stat(list.c_str(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  const UniqueFd fd(::open(list.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string head(kHeadBytes, '\0');
  const Result<size_t> got = read_full(fd.get(), head.data(), head.size());
  if (!got) return std::nullopt;
  std::string_view rest(head.data(), *got);
  ChecksumLineParser parser(options.algorithm, options.program == "cksum", options.dialect);
  std::vector<std::string> sample;
  for (size_t end; sample.size() < kSample && (end = rest.find('\n')) != rest.npos;) {
    const std::optional<ChecksumLine> line = parser.parse(rest.substr(0, end));
    if (line && line->kind == kKind) sample.push_back(line->name);
    rest.remove_prefix(end + 1);
  }
  const uint64_t seen = *got - rest.size();
  const uint64_t count =
      seen > 0 ? static_cast<uint64_t>(status.st_size) * sample.size() / seen : 0;
  return if_small(count, extrapolated(count, sample));
}

}  // namespace

std::optional<uint64_t> bytes_of_small_files(const Options& options,
                                             std::optional<uint64_t> bytes) {
  if (options.check) return bytes_of_listed(options);
  if (options.algorithm != kKind.algorithm) return std::nullopt;
  return bytes ? if_small(options.files.size(), bytes) : bytes_of_named(options);
}

}  // namespace hoist::hash
