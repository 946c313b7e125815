#include "daemon/session.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "base/quiet_thread.h"
#include "device/populate.h"

namespace hoist::daemon {

using device::remote::make_message;
using device::remote::send_message;
using device::remote::set_text;

Session::Session(const Setup& setup, device::remote::SharedMemory memory, UniqueFd socket,
                 const device::remote::Peer& peer, std::string name)
    : setup_(setup),
      memory_(std::move(memory)),
      socket_(std::move(socket)),
      peer_(peer),
      name_(std::move(name)),
      pool_bytes_(memory_.pool().size()),
      queues_(memory_.queues()),
      buffers_(setup.limits, setup.of_user) {}

Session::~Session() {
  if (thread_.joinable()) thread_.join();
}

Status Session::start() {
  Result<std::thread> thread = start_quiet_thread([this] { run(); });
  if (!thread) return thread.error();
  thread_ = std::move(*thread);
  return {};
}

void Session::end(Manner manner, std::string why) {
  if (!is_ending()) why_ended_ = std::move(why);
  if (manner == Manner::abandon) ending_.abandon = true;
  ending_.begun = true;
  nudge();
}

void Session::nudge() {
  if (finished()) return;
  for (uint32_t i = 0; i < queues_; ++i) device::remote::Receiver::wake(memory_.queue(i));
}

Error Session::failure() const {
  const std::lock_guard lock(failure_mutex_);
  return failure_;
}

void Session::fail(const Error& error) {
  {
    const std::lock_guard lock(failure_mutex_);
    if (failed_.load()) return;
    failure_ = error;
    failed_ = true;
  }
  setup_.changed();
}

void Session::run() {
  if (Status served = serve(); !served) fail(served.error());
  finished_ = true;
  setup_.changed();
}

Status Session::serve() {
  const std::span<std::byte> pool = memory_.pool();
  if (setup_.on_streams) device::populate(pool);
  if (Status pinned = setup_.device.pin(pool.data(), pool.size()); !pinned) return pinned;
  Status served = serve_queues();
  Status unpinned = setup_.device.unpin(pool.data());
  return served ? unpinned : served;
}

Status Session::serve_queues() {
  Result<std::vector<Queue>> queues = create_queues();
  if (!queues) return queues.error();
  Status served = say_welcome();
  if (served) served = run_queues(*queues);
  buffers_.clear();  // before the streams that they came from
  return served;
}

Result<std::vector<Queue>> Session::create_queues() {
  std::vector<Queue> queues;
  const Queue::Context context = {setup_.device, buffers_,  memory_.pool(),    setup_.statistics,
                                  ending_,       answered_, setup_.on_streams, setup_.pinned};
  for (uint32_t i = 0; i < queues_; ++i) {
    Result<Queue> queue = Queue::create(context, memory_.queue(i));
    if (!queue) return queue.error();
    queues.push_back(std::move(*queue));
  }
  return queues;
}

Status Session::run_queues(std::vector<Queue>& queues) {
  Status status;
  std::vector<std::thread> threads;
  for (size_t i = 1; status && i < queues.size(); ++i) {
    Result<std::thread> thread = start_quiet_thread([this, &queue = queues[i]] {
      if (Status served = queue.serve(); !served) fail(served.error());
    });
    if (thread) {
      threads.push_back(std::move(*thread));
    } else {
      status = thread.error();
    }
  }
  if (status) status = queues[0].serve();
  if (!status) fail(status.error());  // which has the server end the session, and so the others
  for (std::thread& thread : threads) thread.join();
  return status;
}

Status Session::say_welcome() {
  const device::DeviceProperties& properties = setup_.device.properties();
  hoist_message welcome = make_message(HOIST_MESSAGE_WELCOME);
  welcome.pool_size = pool_bytes_;
  welcome.device_memory = properties.memory;
  welcome.memory_limit = setup_.limits.bytes;
  welcome.device_kind = properties.kind == device::DeviceKind::cpu ? 0 : 1;
  welcome.compute_major = static_cast<uint32_t>(properties.compute_major);
  welcome.compute_minor = static_cast<uint32_t>(properties.compute_minor);
  welcome.multiprocessors = static_cast<uint32_t>(properties.multiprocessors);
  set_text(welcome.name, properties.name);
  return send_message(socket_.get(), welcome);
}

}  // namespace hoist::daemon
