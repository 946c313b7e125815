// One client: its memory, its buffers, its queues. All of it goes when the session ends, and not
// before the device has finished with it: the pool stays mapped and pinned until then.
//
// The session's thread pins the pool, says welcome and serves queue 0; other queues have threads of
// their own. Members may be called from one thread (the server's) only, except where noted.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "daemon/buffers.h"
#include "daemon/queue.h"
#include "daemon/statistics.h"
#include "device/device.h"
#include "device/pinned_pool.h"
#include "device/remote/message.h"
#include "device/remote/shared_memory.h"

namespace hoist::daemon {

class Session {
 public:
  struct Setup {
    device::Device& device;
    Statistics& statistics;
    BufferTable::Limits limits;
    std::shared_ptr<UserMemory> of_user;
    device::PinnedPool& pinned;     // of the device, for all sessions
    bool on_streams;                // a GPU's way; the CPU device works faster without
    std::function<void()> changed;  // called on other threads: has_ended() or finished() is true
  };

  Session(const Setup& setup, device::remote::SharedMemory memory, UniqueFd socket,
          const device::remote::Peer& peer, std::string name);
  ~Session();  // finished() must be true, or start() have failed
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Status start();
  // Begins the end, from this side (`why` is said to the client) or because the client is gone.
  // It takes effect when finished() is true; call nudge() from time to time until then.
  enum class Manner { finish, abandon };
  void end(Manner manner, std::string why);
  void nudge();

  bool is_ending() const { return ending_.begun.load(); }
  // Whether a queue came to an end by itself; then why. `corrupt`: by the client's doing.
  bool has_failed() const { return failed_.load(); }
  Error failure() const;
  // All threads are done and all memory is given back.
  bool finished() const { return finished_.load(); }

  int socket() const { return socket_.get(); }
  // For who closes it, when finished() is true or start() has failed.
  UniqueFd take_socket() { return std::move(socket_); }
  const device::remote::Peer& peer() const { return peer_; }
  const std::string& name() const { return name_; }
  const std::string& why_ended() const { return why_ended_; }
  const BufferTable& buffers() const { return buffers_; }
  uint64_t pool_bytes() const { return pool_bytes_; }
  uint32_t queues() const { return queues_; }
  uint64_t requests() const { return answered_.load(std::memory_order_relaxed); }

 private:
  void run();
  Status serve();
  Status serve_queues();
  Result<std::vector<Queue>> create_queues();
  Status say_welcome();
  Status run_queues(std::vector<Queue>& queues);
  void fail(const Error& error);

  const Setup setup_;
  device::remote::SharedMemory memory_;
  UniqueFd socket_;
  const device::remote::Peer peer_;
  const std::string name_;
  const uint64_t pool_bytes_;
  const uint32_t queues_;
  BufferTable buffers_;
  Ending ending_;
  std::atomic<uint64_t> answered_ = 0;
  std::string why_ended_;

  mutable std::mutex failure_mutex_;
  Error failure_;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> finished_ = false;
  std::thread thread_;
};

}  // namespace hoist::daemon
