#include "ops/hash/spent_descriptors.h"

#include <unistd.h>

namespace hoist::hash {
namespace {

// Few enough for the limit on open files, many enough that the call is shared.
constexpr int kMost = 16;

}  // namespace

void SpentDescriptors::add(UniqueFd fd) {
  if (count_ != 0 && fd.get() != first_ + count_) close_all();
  if (count_ == 0) first_ = fd.get();
  fd.release();
  if (++count_ == kMost) close_all();
}

void SpentDescriptors::close_all() {
  if (count_ == 0) return;
  const int end = first_ + count_;
  const auto number = [](int fd) { return static_cast<unsigned>(fd); };
  if (count_ == 1 || close_range(number(first_), number(end - 1), 0) != 0) {
    for (int fd = first_; fd < end; ++fd) ::close(fd);
  }
  count_ = 0;
}

}  // namespace hoist::hash
