#include "base/private_fd.h"

#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

#include <mutex>

#include "base/fork.h"

namespace hoist {
namespace {

using Entry = PrivateFd::Entry;

constinit std::mutex entries_mutex;  // held inside a barrier only
Entry* entries = nullptr;

void close_in_child() {
  for (Entry* entry = entries; entry != nullptr; entry = entry->next) {
    ::close(entry->fd);
    entry->fd = -1;
  }
}

[[gnu::constructor]] void watch_forks() { ::pthread_atfork(nullptr, nullptr, close_in_child); }

}  // namespace

PrivateFd::PrivateFd(UniqueFd fd) : entry_(new Entry) {
  const ForkBarrier barrier;
  const std::lock_guard lock(entries_mutex);
  entry_->fd = fd.release();
  entry_->next = entries;
  if (entries != nullptr) entries->previous = entry_.get();
  entries = entry_.get();
}

void PrivateFd::Close::operator()(Entry* entry) const {
  const std::unique_ptr<Entry> owned(entry);
  const ForkBarrier barrier;
  const std::lock_guard lock(entries_mutex);
  (entry->previous == nullptr ? entries : entry->previous->next) = entry->next;
  if (entry->next != nullptr) entry->next->previous = entry->previous;
  if (entry->fd < 0) return;
  ::flock(entry->fd, LOCK_UN);
  ::close(entry->fd);
}

}  // namespace hoist
