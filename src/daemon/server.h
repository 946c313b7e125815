// hoistd itself: one epoll loop that receives clients, watches over their sessions and answers
// questions. What takes time (pinning, copies, operations) happens on the sessions' threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "daemon/closer.h"
#include "daemon/endpoint.h"
#include "daemon/options.h"
#include "daemon/reception.h"
#include "daemon/report.h"
#include "daemon/session.h"
#include "daemon/statistics.h"
#include "device/device.h"
#include "device/pinned_pool.h"
#include "net/event_loop.h"
#include "net/metrics_server.h"

namespace hoist::daemon {

class Server {
 public:
  struct Setup {
    const Options& options;
    device::Device& device;
    Endpoint endpoint;
    UniqueFd stop;     // readable when it is time to end: a signalfd, an eventfd
    UniqueFd metrics;  // listens; none: no metrics
    bool on_streams;   // Session::Setup
    // After so long without a request the device's pool gives back what it keeps.
    std::chrono::milliseconds trim_after{10'000};
  };
  static Result<std::unique_ptr<Server>> create(Setup setup);
  ~Server();

  // Until told to stop (every session's requests are finished first, those that are not within
  // five seconds are given up), without clients for the idle time, or the device is lost, which
  // only a new process mends: `unavailable`.
  Status run();

 private:
  struct Client;

  explicit Server(Setup setup, net::EventLoop loop);
  Status prepare();

  // Takes the socket where a session begins with it.
  void greet(UniqueFd& socket, const device::remote::Peer& peer, device::remote::Received& first);
  void refuse(int socket, const device::remote::Peer& peer, const std::string& why);
  void offer(int socket, const device::remote::Peer& peer, uint64_t most_pool);
  Status check_hello(const hoist_message& hello, const device::remote::Peer& peer) const;
  uint64_t most_pool_for(uid_t user) const;
  std::shared_ptr<UserMemory> memory_of(uid_t user) const;
  void begin_session(UniqueFd& socket, const device::remote::Peer& peer,
                     device::remote::SharedMemory memory, std::string name);
  void hear(Client& client);
  Status watch(Client& client);
  void unwatch(Client& client);
  void end_session(Client& client, Session::Manner manner, const std::string& why);
  void look_after_sessions();
  void begin_to_end();
  void stop_listening();
  bool is_time_to_end();
  int next_deadline();
  void note_use();
  void trim_when_idle();
  void look_after_device();
  Report report() const;

  Setup setup_;
  net::EventLoop loop_;
  const uint64_t started_ns_;
  uint64_t calls_ = 0;           // requests that were seen
  uint64_t used_ns_ = 0;         // when the last was, or a session's buffers went
  bool may_be_trimmed_ = false;  // the device was used since its pool gave back what it kept
  const BufferTable::Limits limits_;
  const uint64_t user_memory_limit_;  // bytes of the device's
  const uint64_t host_memory_;        // base/spare_memory.h
  Statistics statistics_;
  device::PinnedPool pinned_;
  UniqueFd changed_;  // an eventfd: sessions' threads have news
  std::unique_ptr<Closer> closer_;
  std::unique_ptr<Reception> reception_;
  std::unique_ptr<net::MetricsServer> metrics_;
  std::list<std::unique_ptr<Client>> clients_;
  uint64_t busy_ns_ = 0;    // when there was a client last
  uint64_t end_by_ns_ = 0;  // 0: not ending
  Status lost_;
};

}  // namespace hoist::daemon
