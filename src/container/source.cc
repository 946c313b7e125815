#include "container/source.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

namespace hoist::container {
namespace {

class NamedSource : public Source {
 public:
  NamedSource(uint64_t size, std::string name) : size_(size), name_(std::move(name)) {}

  uint64_t size() const final { return size_; }
  const std::string& name() const final { return name_; }

 protected:
  // The bytes of all parts, where they lie within the source.
  Result<size_t> length_within(uint64_t offset, std::span<const MutableBytes> parts) const {
    size_t length = 0;
    for (const MutableBytes& part : parts) length += part.size();
    if (offset > size_ || length > size_ - offset) {
      return fail(ErrorCode::corrupt, fmt::format("{} bytes from {} on reach beyond the end ({}, "
                                                  "{} bytes)",
                                                  length, offset, name_, size_));
    }
    return length;
  }

 private:
  uint64_t size_;
  std::string name_;
};

class FileSource final : public NamedSource {
 public:
  FileSource(UniqueFd fd, uint64_t size, std::string name)
      : NamedSource(size, std::move(name)), fd_(std::move(fd)) {}

  using Source::read;
  Status read(uint64_t offset, std::span<const MutableBytes> parts) const override {
    if (auto length = length_within(offset, parts); !length) {
      return length.error();
    }
    if (parts.size() == 2) return read_pair(offset, parts[0], parts[1]);
    for (const MutableBytes& part : parts) {
      if (Status done = read_part(offset, part); !done) return done;
      offset += part.size();
    }
    return {};
  }

 private:
  // A frame's header and its payload in one call; what that leaves is read in the plain way.
  Status read_pair(uint64_t offset, MutableBytes first, MutableBytes second) const {
    const iovec vectors[] = {{first.data(), first.size()}, {second.data(), second.size()}};
    const ssize_t got = ::preadv(fd_.get(), vectors, 2, static_cast<off_t>(offset));
    const size_t done = got < 0 ? 0 : static_cast<size_t>(got);
    const size_t in_first = std::min(done, first.size());
    if (Status rest = read_part(offset + in_first, first.subspan(in_first)); !rest) return rest;
    const size_t in_second = done - in_first;
    return read_part(offset + first.size() + in_second, second.subspan(in_second));
  }

  Status read_part(uint64_t offset, MutableBytes into) const {
    if (into.empty()) return {};
    Result<size_t> got = pread_full(fd_.get(), into.data(), into.size(), offset, name());
    if (!got) return got.error();
    if (*got == into.size()) return {};
    return fail(
        ErrorCode::corrupt,
        fmt::format("the file became shorter while it was read ({}): get it again", name()));
  }

  UniqueFd fd_;
};

class MemorySource : public NamedSource {
 public:
  MemorySource(Bytes bytes, std::string name)
      : NamedSource(bytes.size(), std::move(name)), bytes_(bytes) {}

  using Source::read;
  Status read(uint64_t offset, std::span<const MutableBytes> parts) const override {
    if (auto length = length_within(offset, parts); !length) {
      return length.error();
    }
    const std::byte* from = bytes_.data() + offset;
    for (const MutableBytes& part : parts) {
      if (!part.empty()) std::memcpy(part.data(), from, part.size());
      from += part.size();
    }
    return {};
  }
  const std::byte* data() const override { return bytes_.data(); }

 private:
  Bytes bytes_;
};

class MappedSource final : public MemorySource {
 public:
  MappedSource(Bytes mapping, std::string name)
      : MemorySource(mapping, std::move(name)), mapping_(mapping) {}
  ~MappedSource() override { ::munmap(const_cast<std::byte*>(mapping_.data()), mapping_.size()); }

 private:
  Bytes mapping_;
};

class RangeSource final : public NamedSource {
 public:
  RangeSource(uint64_t size, FetchRange fetch, std::string name)
      : NamedSource(size, std::move(name)), fetch_(std::move(fetch)) {}

  using Source::read;
  Status read(uint64_t offset, std::span<const MutableBytes> parts) const override {
    Result<size_t> length = length_within(offset, parts);
    if (!length) return length.error();
    if (*length == 0) return {};
    Result<std::string> bytes = fetch_(offset, *length);
    if (!bytes) return bytes.error();
    if (bytes->size() != *length) {
      return fail(ErrorCode::io, fmt::format("asked for {} bytes from {} on, got {} ({})", *length,
                                             offset, bytes->size(), name()));
    }
    const char* from = bytes->data();
    for (const MutableBytes& part : parts) {
      if (!part.empty()) std::memcpy(part.data(), from, part.size());
      from += part.size();
    }
    return {};
  }

 private:
  FetchRange fetch_;
};

struct OpenFile {
  UniqueFd fd;
  uint64_t size;
};

// What a download or a clone leaves where a large file should be, in words; none for other files.
struct StandIn {
  const char* what;
  const char* mend;
};
std::optional<StandIn> stand_in(std::string_view first) {
  if (first.starts_with("version https://git-lfs.github.com/spec/")) {
    return StandIn{"a Git LFS pointer, not the file itself", "fetch the file with `git lfs pull`"};
  }
  std::string text(first.substr(std::min(first.find_first_not_of(" \t\r\n"), first.size())));
  for (char& letter : text)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  if (text.starts_with("<!doctype html") || text.starts_with("<html")) {
    return StandIn{"an HTML page, not the file itself",
                   "download the file, not the page that shows it"};
  }
  return std::nullopt;
}

Status refuse_stand_in(int fd, const std::string& name) {
  char first[64];
  const ssize_t size = ::pread(fd, first, sizeof first, 0);
  if (size <= 0) return {};  // a reader will find out
  const auto found = stand_in(std::string_view(first, static_cast<size_t>(size)));
  if (!found) return {};
  return fail(ErrorCode::corrupt, fmt::format("{} ({}): {}", found->what, name, found->mend));
}

Result<OpenFile> check_regular(UniqueFd fd, const std::string& name) {
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) {
    return fail(ErrorCode::io, fmt::format("stat {}: {}", name, std::strerror(errno)), errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("not a regular file ({}): save it to a file first", name));
  }
  if (Status real = refuse_stand_in(fd.get(), name); !real) return real.error();
  return OpenFile{std::move(fd), static_cast<uint64_t>(info.st_size)};
}

Result<OpenFile> open_regular(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  Result<UniqueFd> fd = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!fd) return fd.error();
  return check_regular(std::move(*fd), path);
}

}  // namespace

Result<std::unique_ptr<Source>> open_file_source(const std::string& path) {
  Result<OpenFile> file = open_regular(path);
  if (!file) return file.error();
  return std::make_unique<FileSource>(std::move(file->fd), file->size, path);
}

Result<std::unique_ptr<Source>> file_source(UniqueFd fd, const std::string& name) {
  Result<OpenFile> file = check_regular(std::move(fd), name);
  if (!file) return file.error();
  return std::make_unique<FileSource>(std::move(file->fd), file->size, name);
}

Result<std::unique_ptr<Source>> map_file_source(const std::string& path) {
  Result<OpenFile> file = open_regular(path);
  if (!file) return file.error();
  if (file->size == 0) return memory_source({}, path);
  if (file->size > std::numeric_limits<size_t>::max() / 2) {
    return fail(ErrorCode::exhausted, fmt::format("too large to be mapped ({})", path));
  }
  void* memory = ::mmap(nullptr, file->size, PROT_READ, MAP_SHARED, file->fd.get(), 0);
  if (memory == MAP_FAILED) {
    return fail(ErrorCode::io, fmt::format("mmap {}: {}", path, std::strerror(errno)), errno);
  }
  return std::make_unique<MappedSource>(Bytes(static_cast<const std::byte*>(memory), file->size),
                                        path);
}

std::unique_ptr<Source> memory_source(Bytes bytes, std::string name) {
  return std::make_unique<MemorySource>(bytes, std::move(name));
}

std::unique_ptr<Source> range_source(uint64_t size, FetchRange fetch, std::string name) {
  return std::make_unique<RangeSource>(size, std::move(fetch), std::move(name));
}

}  // namespace hoist::container
