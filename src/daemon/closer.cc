#include "daemon/closer.h"

#include <sys/socket.h>

#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/quiet_thread.h"

namespace hoist::daemon {

struct Closer::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<UniqueFd> descriptors;
  bool closing = false;
  bool ending = false;

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return ending || !descriptors.empty(); });
      if (descriptors.empty()) return;
      std::vector<UniqueFd> taken = std::exchange(descriptors, {});
      closing = true;
      lock.unlock();
      taken.clear();
      lock.lock();
      closing = false;
    }
  }
};

Result<std::unique_ptr<Closer>> Closer::create() {
  std::unique_ptr<Closer> closer(new Closer(std::make_shared<State>()));
  Result<std::thread> thread = start_quiet_thread([state = closer->state_] { state->run(); });
  if (!thread) return thread.error();
  closer->thread_ = std::move(*thread);
  return closer;
}

Closer::~Closer() {
  bool hangs = false;
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
    hangs = state_->closing || !state_->descriptors.empty();
  }
  state_->changed.notify_one();
  if (!thread_.joinable()) return;
  if (hangs) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void Closer::close(UniqueFd descriptor) {
  if (!descriptor.valid()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->descriptors.push_back(std::move(descriptor));
  }
  state_->changed.notify_one();
}

void Closer::hang_up(UniqueFd socket) {
  if (socket.valid()) ::shutdown(socket.get(), SHUT_RDWR);
  close(std::move(socket));
}

void Closer::close(std::vector<UniqueFd> descriptors) {
  for (UniqueFd& descriptor : descriptors) close(std::move(descriptor));
}

}  // namespace hoist::daemon
