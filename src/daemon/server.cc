#include "daemon/server.h"

#include <fmt/core.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "base/spare_memory.h"
#include "device/remote/futex.h"

namespace hoist::daemon {
namespace {

using device::remote::make_message;
using device::remote::Peer;
using device::remote::Received;
using device::remote::send_message;
using device::remote::send_text;
using device::remote::set_text;
using device::remote::SharedMemory;
using device::remote::text_of;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kGraceNs = 5 * kSecond;
constexpr int kNudgeMilliseconds = 10;
constexpr uint64_t kMostBuffers = 65536;
constexpr size_t kMostOfOneUser = 256;
// All pools of one user, as multiples of one client's limit: the first, and up to the second where
// that is a small part of this machine's memory.
constexpr uint64_t kPoolsOfOneUser = 16;
constexpr uint64_t kMostPoolsOfOneUser = 64;
constexpr uint64_t kSmallPart = 4;
// All of all users, but for the first few.
constexpr uint64_t kLargePart = 2;
// One client gets a part of what is left to the user, so that the next finds some. The offer is
// somewhat smaller, so that it still holds when others were faster.
constexpr uint64_t kPartOfTheRest = 16;
constexpr uint64_t kUsefulPool = uint64_t{8} << 20;
// One user does not get this part of the device's memory where other users may come.
constexpr uint64_t kKeptFromOneUser = 4;

uint64_t whole_pages(uint64_t bytes) { return bytes / HOIST_RING_PAGE * HOIST_RING_PAGE; }

uint64_t memory_limit(const Options& options, const device::Device& device) {
  return options.memory_limit != 0 ? options.memory_limit : device.properties().memory / 2;
}

// The limit for all clients of one user together.
uint64_t user_memory_limit(const Server::Setup& setup) {
  if (!setup.endpoint.for_others) return UINT64_MAX;
  const uint64_t memory = setup.device.properties().memory;
  return std::max(memory - memory / kKeptFromOneUser, memory_limit(setup.options, setup.device));
}

}  // namespace

struct Server::Client {
  std::unique_ptr<Session> session;
  UniqueFd process;  // a pidfd: a fork of the client may keep the socket open after its end
};

Result<std::unique_ptr<Server>> Server::create(Setup setup) {
  Result<net::EventLoop> loop = net::EventLoop::create();
  if (!loop) return loop.error();
  std::unique_ptr<Server> server(new Server(std::move(setup), std::move(*loop)));
  if (Status prepared = server->prepare(); !prepared) return prepared.error();
  return server;
}

Server::Server(Setup setup, net::EventLoop loop)
    : setup_(std::move(setup)),
      loop_(std::move(loop)),
      started_ns_(monotonic_ns()),
      limits_({memory_limit(setup_.options, setup_.device), kMostBuffers}),
      user_memory_limit_(user_memory_limit(setup_)),
      host_memory_(memory_within_reach()),
      pinned_(setup_.device),
      changed_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      busy_ns_(started_ns_) {}

Server::~Server() { stop_listening(); }

void Server::stop_listening() {
  Endpoint& endpoint = setup_.endpoint;
  if (!endpoint.listener.socket.valid()) return;
  if (!endpoint.inherited) ::unlink(endpoint.path.c_str());
  endpoint.listener.socket.reset();
}

Status Server::prepare() {
  if (!changed_.valid()) return fail(ErrorCode::io, "no eventfd: out of descriptors");
  Status added = loop_.add(changed_.get(), [this] {
    uint64_t count;
    (void)!::read(changed_.get(), &count, sizeof count);
  });
  if (added) added = loop_.add(setup_.stop.get(), [this] { begin_to_end(); });
  if (!added) return added;
  Result<std::unique_ptr<Closer>> closer = Closer::create();
  if (!closer) return closer.error();
  closer_ = std::move(*closer);
  Result<std::unique_ptr<Reception>> reception =
      Reception::open(loop_, *closer_, setup_.endpoint.listener.socket.get(), statistics_,
                      [this](UniqueFd socket, const Peer& peer, Received first) {
                        greet(socket, peer, first);
                        closer_->close(std::move(first.descriptor));
                        closer_->hang_up(std::move(socket));
                      });
  if (!reception) return reception.error();
  reception_ = std::move(*reception);
  if (!setup_.metrics.valid()) return {};
  metrics_ = std::make_unique<net::MetricsServer>(loop_, std::move(setup_.metrics),
                                                  [this] { return to_metrics(report()); });
  return metrics_->start();
}

Status Server::run() {
  while (!is_time_to_end()) {
    if (Status ran = loop_.run_once(next_deadline()); !ran) return ran;
    look_after_sessions();
    trim_when_idle();
  }
  return lost_;
}

int Server::next_deadline() {
  int milliseconds = -1;
  const auto at_most = [&](int other) {
    if (other >= 0 && (milliseconds < 0 || other < milliseconds)) milliseconds = other;
  };
  at_most(reception_->expire());
  if (metrics_ != nullptr) at_most(metrics_->expire());
  const bool any_ending = std::any_of(clients_.begin(), clients_.end(), [](const auto& client) {
    return client->session->is_ending();
  });
  if (any_ending || end_by_ns_ != 0) at_most(kNudgeMilliseconds);
  // Requests do not wake this thread.
  if (may_be_trimmed_ || !clients_.empty()) {
    at_most(static_cast<int>(setup_.trim_after.count()) + 1);
  }
  if (setup_.options.idle && clients_.empty()) {
    at_most(static_cast<int>(std::min<int64_t>(setup_.options.idle->count(), 3600) * 1000 + 1));
  }
  return milliseconds;
}

void Server::note_use() {
  used_ns_ = monotonic_ns();
  may_be_trimmed_ = true;
}

// Others may want the memory, this user's own programs among them.
void Server::trim_when_idle() {
  const uint64_t calls = statistics_.calls();
  if (calls != calls_) note_use();
  calls_ = calls;
  // It waits for the device, as no other call on this thread does.
  if (statistics_.in_flight != 0) note_use();
  const std::chrono::nanoseconds quiet(monotonic_ns() - used_ns_);
  if (!may_be_trimmed_ || quiet < setup_.trim_after) return;
  may_be_trimmed_ = false;
  const Status trimmed = setup_.device.trim();
  if (!trimmed) log(LogLevel::warn, "{}", trimmed.error().message);
  look_after_device();
  if (!lost_ && end_by_ns_ == 0) begin_to_end();
}

void Server::look_after_device() {
  Status device = setup_.device.status();
  if (device || !lost_) return;
  log(LogLevel::error, "{}", device.error().message);
  lost_ = std::move(device);
}

bool Server::is_time_to_end() {
  const uint64_t now = monotonic_ns();
  if (!clients_.empty()) busy_ns_ = now;
  if (end_by_ns_ == 0) {
    const auto& idle = setup_.options.idle;
    const bool bored = idle && clients_.empty() &&
                       now - busy_ns_ >= static_cast<uint64_t>(idle->count()) * kSecond;
    if (bored) log(LogLevel::info, "no client for {} s: the end", idle->count());
    return bored;
  }
  if (clients_.empty()) return true;
  if (now < end_by_ns_) return false;
  // Threads that hang in the device cannot be joined; their context goes with the process.
  log(LogLevel::error, "{} sessions do not end: given up", clients_.size());
  std::_Exit(1);
}

void Server::begin_to_end() {
  loop_.remove(setup_.stop.get());
  reception_->close();
  stop_listening();  // whoever comes now is told so at once
  end_by_ns_ = monotonic_ns() + kGraceNs;
  for (const auto& client : clients_) {
    end_session(*client, Session::Manner::finish, "hoistd ends");
  }
}

void Server::refuse(int socket, const Peer& peer, const std::string& why) {
  log(LogLevel::info, "pid {} of user {} refused: {}", peer.pid, peer.uid, why);
  statistics_.refused.fetch_add(1, std::memory_order_relaxed);
  hoist_message refusal = make_message(HOIST_MESSAGE_REFUSED);
  set_text(refusal.text, why);
  (void)send_message(socket, refusal);
}

// A pool that is smaller than what was asked for.
void Server::offer(int socket, const Peer& peer, uint64_t most_pool) {
  const bool is_limit = most_pool == setup_.options.pool_limit;
  const uint64_t offered =
      is_limit ? most_pool
               : std::max(whole_pages(most_pool / 4 * 3), std::min(most_pool, kUsefulPool));
  if (offered < kUsefulPool) statistics_.refused.fetch_add(1, std::memory_order_relaxed);
  log(LogLevel::info, "pid {} of user {} offered a pool of {} bytes", peer.pid, peer.uid, offered);
  hoist_message refusal = make_message(HOIST_MESSAGE_REFUSED);
  refusal.pool_size = offered;
  set_text(refusal.text,
           fmt::format("a pool of this user has at most {} bytes now (--pool)", most_pool));
  (void)send_message(socket, refusal);
}

void Server::greet(UniqueFd& socket, const Peer& peer, Received& first) {
  if (first.message.type == HOIST_MESSAGE_STATUS) {
    const bool sees_all = peer.uid == 0 || peer.uid == ::geteuid();
    (void)send_text(socket.get(), to_json(report(), sees_all ? nullptr : &peer.uid));
    return;
  }
  if (Status accepted = check_hello(first.message, peer); !accepted) {
    return refuse(socket.get(), peer, accepted.error().message);
  }
  if (const uint64_t most = most_pool_for(peer.uid); first.message.pool_size > most) {
    return offer(socket.get(), peer, most);
  }
  Result<SharedMemory> memory =
      SharedMemory::adopt(first.descriptor.get(), first.message.queues, first.message.pool_size);
  if (!memory) return refuse(socket.get(), peer, memory.error().message);
  first.descriptor.reset();  // it is plain memory, whose pages it would keep
  begin_session(socket, peer, std::move(*memory), text_of(first.message.name));
}

Status Server::check_hello(const hoist_message& hello, const Peer& peer) const {
  const auto refused = [](std::string why) {
    return fail(ErrorCode::invalid_argument, std::move(why));
  };
  if (hello.type != HOIST_MESSAGE_HELLO) return refused("not a greeting");
  if (hello.version < HOIST_RING_OLDEST_VERSION || hello.oldest_version > HOIST_RING_VERSION) {
    return refused(fmt::format("this hoistd speaks versions {} to {} of the ring",
                               +HOIST_RING_OLDEST_VERSION, +HOIST_RING_VERSION));
  }
  if (!setup_.endpoint.for_others && peer.uid != ::geteuid() && peer.uid != 0) {
    return refused("it serves its own user only (--group)");
  }
  const auto of_user = std::count_if(clients_.begin(), clients_.end(), [&](const auto& client) {
    return client->session->peer().uid == peer.uid;
  });
  if (clients_.size() >= setup_.options.client_limit ||
      static_cast<size_t>(of_user) >= kMostOfOneUser) {
    return refused("too many clients (--clients)");
  }
  return setup_.device.status();
}

// Pinned pages count as the daemon's where the client did not touch them before.
uint64_t Server::most_pool_for(uid_t user) const {
  constexpr uint64_t kMost = uint64_t{1} << 46;
  const uint64_t limit = std::min(setup_.options.pool_limit, kMost);
  const uint64_t first_ones = kPoolsOfOneUser * limit;
  uint64_t of_user = std::clamp(host_memory_ / kSmallPart, first_ones, kMostPoolsOfOneUser * limit);
  uint64_t of_all = std::max(host_memory_ / kLargePart, first_ones);
  for (const auto& client : clients_) {
    const uint64_t pool = client->session->pool_bytes();
    of_all -= std::min(of_all, pool);
    if (client->session->peer().uid == user) of_user -= std::min(of_user, pool);
  }
  const uint64_t left = std::min(of_user, of_all);
  const uint64_t share = std::max(left / kPartOfTheRest, std::min(left, kUsefulPool));
  return std::min(whole_pages(share), limit);
}

// Shared with the sessions that the user has, those that are ending included.
std::shared_ptr<UserMemory> Server::memory_of(uid_t user) const {
  for (const auto& client : clients_) {
    if (client->session->peer().uid == user) return client->session->buffers().of_user();
  }
  return std::make_shared<UserMemory>(user_memory_limit_);
}

void Server::begin_session(UniqueFd& socket, const Peer& peer, SharedMemory memory,
                           std::string name) {
  const Session::Setup setup = {
      setup_.device, statistics_, limits_, memory_of(peer.uid), pinned_, setup_.on_streams, [this] {
        const uint64_t one = 1;
        (void)!::write(changed_.get(), &one, sizeof one);
      }};
  auto client = std::make_unique<Client>();
  client->session =
      std::make_unique<Session>(setup, std::move(memory), std::move(socket), peer, std::move(name));
  Session& session = *client->session;
  Status begun = watch(*client);
  if (begun) begun = session.start();
  if (!begun) {
    unwatch(*client);
    refuse(session.socket(), peer, begun.error().message);
    return closer_->hang_up(session.take_socket());
  }
  clients_.push_back(std::move(client));
  statistics_.connections.fetch_add(1, std::memory_order_relaxed);
  log(LogLevel::info, "pid {} of user {} connected", peer.pid, peer.uid);
}

// A session ends with its socket, or with the process that opened it where that can be watched.
Status Server::watch(Client& client) {
  const pid_t pid = client.session->peer().pid;
  if (pid > 0) client.process = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (client.process.valid()) {
    Status added = loop_.add(client.process.get(), [this, &client] {
      end_session(client, Session::Manner::abandon, "its process ended");
    });
    if (!added) return added;
  }
  return loop_.add(client.session->socket(), [this, &client] { hear(client); });
}

void Server::hear(Client& client) {
  std::vector<UniqueFd> unwanted;
  auto received = device::remote::receive_message(client.session->socket(), 0, &unwanted);
  if (received && *received) unwanted.push_back(std::move((*received)->descriptor));
  closer_->close(std::move(unwanted));
  if (received && !*received) return;
  const bool gone = !received && received.error().code == ErrorCode::unavailable;
  end_session(client, Session::Manner::abandon, gone ? "it closed" : "it spoke out of turn");
}

void Server::unwatch(Client& client) {
  loop_.remove(client.session->socket());
  if (client.process.valid()) loop_.remove(client.process.get());
}

void Server::end_session(Client& client, Session::Manner manner, const std::string& why) {
  unwatch(client);
  client.session->end(manner, why);
}

void Server::look_after_sessions() {
  for (const auto& client : clients_) {
    Session& session = *client->session;
    if (session.has_failed() && !session.is_ending()) {
      const Error failure = session.failure();
      if (failure.code == ErrorCode::corrupt) {
        statistics_.broken.fetch_add(1, std::memory_order_relaxed);
      }
      end_session(*client, Session::Manner::abandon, failure.message);
      look_after_device();
    }
    if (session.is_ending()) session.nudge();
  }
  clients_.remove_if([this](const std::unique_ptr<Client>& client) {
    Session& session = *client->session;
    if (!session.finished() || !session.is_ending()) return false;
    log(LogLevel::info, "pid {} of user {} left: {}", session.peer().pid, session.peer().uid,
        session.why_ended());
    hoist_message goodbye = make_message(HOIST_MESSAGE_GOODBYE);
    set_text(goodbye.text, session.why_ended());
    (void)send_message(session.socket(), goodbye);  // where somebody is left to hear it
    closer_->hang_up(session.take_socket());
    note_use();
    return true;
  });
  if (!lost_ && end_by_ns_ == 0) begin_to_end();
}

Report Server::report() const {
  Report report = {setup_.device.properties(),
                   statistics_,
                   static_cast<double>(monotonic_ns() - started_ns_) / 1e9,
                   setup_.options.pool_limit,
                   limits_.bytes,
                   user_memory_limit_,
                   {}};
  for (const auto& client : clients_) {
    const Session& session = *client->session;
    report.clients.push_back({session.peer().pid, session.peer().uid, session.name(),
                              session.pool_bytes(), session.buffers().count(),
                              session.buffers().bytes(), session.queues(), session.requests(),
                              session.is_ending()});
  }
  return report;
}

}  // namespace hoist::daemon
