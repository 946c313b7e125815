#include "match/lines/line_blocks.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hoist::match {
namespace {

bool is_regular_file(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

LineBlocks::LineBlocks(int fd, std::string name, LineBlockSizes sizes)
    : fd_(fd), name_(std::move(name)), sizes_(sizes), is_regular_(is_regular_file(fd)) {}

// Appends what one read gives; 0 at the end.
Result<size_t> LineBlocks::read_more(std::string& block) {
  const size_t before = block.size();
  block.resize(before + sizes_.block);
  ssize_t got = 0;
  do {
    got = ::read(fd_, block.data() + before, sizes_.block);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    return fail(ErrorCode::io, fmt::format("cannot read ({}): {}", name_, std::strerror(errno)),
                errno);
  }
  block.resize(before + static_cast<size_t>(got));
  return static_cast<size_t>(got);
}

Result<bool> LineBlocks::next(std::string& block) {
  block.assign(rest_);
  rest_.clear();
  while (!ended_) {
    if (block.size() > sizes_.longest) {
      return fail(ErrorCode::exhausted, fmt::format("a line of more than {} MiB ({}:{}): split it",
                                                    sizes_.longest >> 20, name_, lines_ + 1));
    }
    const size_t before = block.size();
    const auto got = read_more(block);
    if (!got) return got.error();
    ended_ = *got == 0;
    const size_t last = std::string_view(block).substr(before).rfind('\n');
    if (last == std::string_view::npos) continue;
    rest_.assign(block, before + last + 1);
    block.resize(before + last + 1);
    lines_ += static_cast<uint64_t>(std::count(block.begin(), block.end(), '\n'));
    return true;
  }
  return !block.empty();
}

bool LineBlocks::is_ready() const {
  if (is_regular_ || ended_) return true;
  pollfd wanted = {fd_, POLLIN, 0};
  return ::poll(&wanted, 1, 0) > 0;
}

void find_line_ends(std::string_view block, std::vector<uint32_t>& ends) {
  ends.clear();
  for (size_t begin = 0; begin < block.size();) {
    const size_t end = std::min(block.find('\n', begin), block.size() - 1) + 1;
    ends.push_back(static_cast<uint32_t>(end));
    begin = end;
  }
}

std::string_view line_of(std::string_view block, const std::vector<uint32_t>& ends, size_t i) {
  const size_t begin = i == 0 ? 0 : ends[i - 1];
  const std::string_view line = block.substr(begin, ends[i] - begin);
  return line.ends_with('\n') ? line.substr(0, line.size() - 1) : line;
}

}  // namespace hoist::match
