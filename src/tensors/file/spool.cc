#include "tensors/file/spool.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <random>

namespace hoist::tensors {

Result<Spool> Spool::create(const std::string& output) {
  const std::filesystem::path parent = std::filesystem::path(output).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  const std::string shown = fmt::format("working space for {}", output);
  Result<UniqueFd> fd = open_file(folder, O_TMPFILE | O_RDWR);
  if (fd) return Spool(std::move(*fd), shown);
  std::random_device random;
  const std::string path = fmt::format("{}.{:08x}{:08x}.tmp", output, random(), random());
  fd = open_file(path, O_CREAT | O_EXCL | O_RDWR);
  if (!fd) return fd.error();
  ::unlink(path.c_str());
  return Spool(std::move(*fd), shown);
}

Status Spool::check_process() const {
  if (process_.is_current()) return {};
  return fail(ErrorCode::unavailable,
              fmt::format("this process is a fork of the one that has the {}: write there, or "
                          "another file here",
                          name_));
}

Status Spool::append(std::span<const std::byte> bytes) {
  if (Status here = check_process(); !here) return here;
  Status written = pwrite_full(fd_.get(), bytes.data(), bytes.size(), size_, name_);
  if (written) size_ += bytes.size();
  return written;
}

Status Spool::read(uint64_t offset, std::span<std::byte> into) const {
  const Result<size_t> got = pread_full(fd_.get(), into.data(), into.size(), offset, name_);
  if (!got) return got.error();
  if (*got == into.size()) return {};
  return fail(ErrorCode::io, fmt::format("{} became shorter", name_));
}

}  // namespace hoist::tensors
