#include "device/host_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/uio.h>

#include <cerrno>

#include "base/file.h"

namespace hoist::device {
namespace {

constexpr size_t kBlock = 4096;              // what O_DIRECT must be aligned to, at most
constexpr uint64_t kDirectFrom = 16u << 20;  // bytes: below, the page cache costs nothing
constexpr uint64_t kProbes = 16;             // places where the page cache is asked

// Whether most of the file's bytes must come from the disk: asks for single bytes without waiting.
bool is_cold(HostFile file, uint64_t size) {
  uint64_t missing = 0;
  for (uint64_t i = 0; i < kProbes; ++i) {
    std::byte byte;
    const iovec into = {&byte, 1};
    const auto at = static_cast<off_t>(file.offset + size / kProbes * i);
    if (::preadv2(file.fd, &into, 1, at, RWF_NOWAIT) >= 0) continue;
    if (errno != EAGAIN) return false;  // a file system, or kernel, that cannot tell
    ++missing;
  }
  return missing > kProbes / 2;
}

class FileReader : public HostReader {
 public:
  FileReader(HostFile file, bool is_cold, UniqueFd direct)
      : file_(file), is_cold_(is_cold), direct_(std::move(direct)) {}

  bool wants_large_reads() const override { return is_cold_; }

  Status read(uint64_t at, std::span<std::byte> into) override {
    const uint64_t offset = file_.offset + at;
    const size_t done = direct_.valid() ? read_past_cache(offset, into) : 0;
    const Result<size_t> got =
        pread_full(file_.fd, into.data() + done, into.size() - done, offset + done, "(transfer)");
    if (!got) return got.error();
    if (done + *got == into.size()) return {};
    return fail(ErrorCode::io, fmt::format("the file ends at byte {}, {} more were expected "
                                           "(transfer): was it truncated?",
                                           offset + done + *got, into.size() - done - *got));
  }

 private:
  // How many bytes came; what is left, be it the end, an odd rest or an error, is for the cache.
  size_t read_past_cache(uint64_t offset, std::span<std::byte> into) {
    const size_t whole = into.size() / kBlock * kBlock;
    const auto aligned = [](uint64_t value) { return value % kBlock == 0; };
    if (!aligned(offset) || !aligned(reinterpret_cast<uintptr_t>(into.data()))) return 0;
    const Result<size_t> got = pread_full(direct_.get(), into.data(), whole, offset, "(transfer)");
    return got ? *got / kBlock * kBlock : 0;
  }

  const HostFile file_;
  const bool is_cold_;
  const UniqueFd direct_;
};

class FileWriter : public HostWriter {
 public:
  explicit FileWriter(HostFile file) : file_(file) {}
  // A file's lock lets one writer in at a time; more only wait for it, busily.
  bool is_random_access() const override { return false; }
  Status write(uint64_t at, std::span<const std::byte> bytes) override {
    return pwrite_full(file_.fd, bytes.data(), bytes.size(), file_.offset + at, "(transfer)");
  }

 private:
  const HostFile file_;
};

}  // namespace

Result<std::shared_ptr<HostReader>> open_file_source(HostFile file, uint64_t size) {
  UniqueFd direct;
  const bool is_from_disk = size >= kDirectFrom && is_cold(file, size);
  if (is_from_disk && file.offset % kBlock == 0) {
    // A description of its own: the caller's keeps its flags.
    Result<UniqueFd> opened =
        open_file(fmt::format("/proc/self/fd/{}", file.fd), O_RDONLY | O_DIRECT);
    if (opened) direct = std::move(*opened);
  }
  return std::make_shared<FileReader>(file, is_from_disk, std::move(direct));
}

Result<std::shared_ptr<HostWriter>> open_file_sink(HostFile file) {
  return std::make_shared<FileWriter>(file);
}

}  // namespace hoist::device
