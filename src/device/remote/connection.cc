#include "device/remote/connection.h"

#include <errno.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/option_values.h"
#include "base/options.h"
#include "device/backoff.h"
#include "device/remote/futex.h"
#include "device/remote/message.h"

namespace hoist::device::remote {
namespace {

// How long a death goes unnoticed by those who wait; a thread that watches would be one too many
// in somebody else's program.
constexpr uint64_t kLookNs = 20'000'000;

Error unavailable(std::string why) {
  return fail(ErrorCode::unavailable, fmt::format("no hoistd: {}", why));
}

// The socket of a daemon that may see our data.
Result<UniqueFd> connect_trusted(const std::string& path) {
  Result<UniqueFd> socket = connect_to(path);
  if (!socket) return socket;
  const Result<Peer> peer = peer_of(socket->get());
  if (!peer) return peer.error();
  if (peer->uid != 0 && peer->uid != ::geteuid()) {
    return unavailable(fmt::format("the one at {} is user {}'s", path, peer->uid));
  }
  return socket;
}

Result<UniqueFd> connect_to_first(const std::string& path) {
  if (hoist_is_off()) return unavailable("HOIST=off");
  if (gpu_use() == HOIST_GPU_OFF) return unavailable("HOIST_GPU=off");
  Result<UniqueFd> socket = unavailable("no path to its socket");
  for (const std::string& candidate :
       path.empty() ? socket_paths() : std::vector<std::string>{path}) {
    socket = connect_trusted(candidate);
    if (socket || socket.error().code != ErrorCode::not_found) return socket;
  }
  return socket;
}

// The daemon's answer to hello.
Result<hoist_message> receive_answer(int socket, int milliseconds) {
  const Result<std::optional<Received>> received = receive_message(socket, milliseconds);
  if (!received) return received.error();
  if (!*received) return unavailable("it does not answer");
  return (*received)->message;
}

Status check_welcome(const hoist_message& message) {
  if (message.type == HOIST_MESSAGE_REFUSED || message.type == HOIST_MESSAGE_GOODBYE) {
    const bool versions_meet = message.oldest_version <= HOIST_RING_VERSION &&
                               message.version >= HOIST_RING_OLDEST_VERSION;
    return fail(versions_meet ? ErrorCode::unavailable : ErrorCode::unsupported,
                fmt::format("hoistd refuses: {}", text_of(message.text)));
  }
  if (message.type != HOIST_MESSAGE_WELCOME || message.version < HOIST_RING_OLDEST_VERSION ||
      message.version > HOIST_RING_VERSION) {
    return fail(ErrorCode::corrupt, "hoistd answers what was not asked (socket)");
  }
  return {};
}

// The pool that a daemon which refused one of `asked` bytes would take; 0: none that is of use.
uint64_t offered_pool(const hoist_message& answer, uint64_t asked) {
  constexpr uint64_t kLeast = uint64_t{8} << 20;
  if (answer.type != HOIST_MESSAGE_REFUSED) return 0;
  const uint64_t offered = answer.pool_size / HOIST_RING_PAGE * HOIST_RING_PAGE;
  return offered >= kLeast && offered < asked ? offered : 0;
}

}  // namespace

struct Ticket::Pending {
  std::atomic<bool> done = false;  // and `completion` is there
  hoist_completion completion = {};
  std::array<uint64_t, HOIST_RING_MAX_RANGES> blocks = {};  // of the pool, kept until the answer
  size_t block_count = 0;
  uint64_t work_ns = 0;
};

struct Connection::Queue {
  explicit Queue(hoist_ring_queue* shared_queue) : shared(shared_queue), submitter(shared_queue) {}

  hoist_ring_queue* shared;
  std::mutex mutex;
  Submitter submitter;
  std::array<std::shared_ptr<Ticket::Pending>, HOIST_RING_ENTRIES> pending;
  Ticket last;
  uint64_t overdue = 0;               // the newest request whose patience ran out
  std::atomic<uint64_t> work_ns = 0;  // that the requests which are not answered may take

  bool is_overdue() const { return overdue > submitter.reaped(); }
};

// A daemon's answer to a pool of one size.
struct Connection::Attempt {
  SharedMemory memory;
  UniqueFd socket;
  uint64_t pool_size;
  hoist_message answer;
};

Result<Connection::Attempt> Connection::attempt(const ConnectOptions& options, uint64_t pool_size) {
  Result<UniqueFd> socket = connect_to_first(options.path);
  if (!socket) return socket.error();
  Result<SharedMemory> memory = SharedMemory::create(options.queues, pool_size);
  if (!memory) return memory.error();
  hoist_message hello = make_message(HOIST_MESSAGE_HELLO);
  hello.queues = options.queues;
  hello.pool_size = pool_size;
  set_text(hello.name, ::program_invocation_short_name);
  if (Status sent = send_message(socket->get(), hello, memory->fd()); !sent) {
    return sent.error();
  }
  memory->close_descriptor();  // which a child would keep, and with it the memory
  const Result<hoist_message> answer =
      receive_answer(socket->get(), static_cast<int>(options.handshake.count()));
  if (!answer) return answer.error();
  return Attempt{std::move(*memory), std::move(*socket), pool_size, *answer};
}

Status Connection::ask(const std::string& path, std::chrono::milliseconds patience) {
  const Result<UniqueFd> socket = connect_to_first(path);
  if (!socket) return socket.error();
  if (Status sent = send_message(socket->get(), make_message(HOIST_MESSAGE_STATUS)); !sent) {
    return sent;
  }
  const Result<std::string> answer =
      receive_text(socket->get(), static_cast<int>(patience.count()), kLongestStatus);
  return answer ? Status() : answer.error();
}

Result<std::shared_ptr<Connection>> Connection::open(const ConnectOptions& options) {
  Result<Attempt> made = attempt(options, options.pool_size);
  // Others who come at the same time may take what was offered.
  constexpr int kMostAgain = 32;
  for (int again = 0; made && again < kMostAgain; ++again) {
    const uint64_t offered = offered_pool(made->answer, made->pool_size);
    if (offered == 0) break;
    made = attempt(options, offered);
  }
  if (!made) return made.error();
  if (Status welcome = check_welcome(made->answer); !welcome) {
    return welcome.error();
  }
  return std::shared_ptr<Connection>(new Connection(std::move(*made), options));
}

Connection::Connection(Attempt attempt, const ConnectOptions& options)
    : memory_(std::move(attempt.memory)),
      socket_(std::move(attempt.socket)),
      pool_(attempt.pool_size),
      patience_ns_(static_cast<uint64_t>(std::chrono::nanoseconds(options.patience).count())),
      welcome_(attempt.answer) {
  for (uint32_t i = 0; i < memory_.queues(); ++i) {
    queues_.push_back(std::make_unique<Queue>(memory_.queue(i)));
  }
}

Connection::~Connection() {
  // A child that was forked meanwhile may have the socket, too, and keep it for long.
  if (process_.is_current()) ::shutdown(socket_.get(), SHUT_RDWR);
}

Status Connection::status() {
  if (Status alive = check_alive(); !alive) return alive;
  if (Status connected = check_socket(); !connected) return connected;
  return check_patience();
}

Error Connection::overdue() {
  return unavailable("it has not answered for too long; it may be stopped");
}

// Whether all queues have answered in time, or late. While one has not, no queue takes requests: a
// stream that gave up waiting there would overtake itself in another.
Status Connection::check_patience() {
  const uint64_t count = overdue_.load(std::memory_order_acquire);
  if (count == settled_.load(std::memory_order_acquire)) return {};
  for (const std::unique_ptr<Queue>& queue : queues_) {
    const std::lock_guard lock(queue->mutex);
    reap(*queue);
    if (queue->is_overdue()) return overdue();
  }
  settled_.store(count, std::memory_order_release);  // of later ones somebody else finds out
  return {};
}

Status Connection::check_process() const {
  if (process_.is_current()) return {};
  return unavailable("this process is a fork of the one it serves");
}

Status Connection::check_alive() {
  if (Status here = check_process(); !here) return here;
  if (!lost_.load(std::memory_order_acquire)) return {};
  return why_lost_;
}

Status Connection::check_socket() {
  const Result<std::optional<Received>> received = receive_message(socket_.get(), 0);
  if (!received) return lose(received.error());
  if (!*received) return {};
  const hoist_message& message = (*received)->message;
  return lose({ErrorCode::unavailable,
               fmt::format("no hoistd: it ended the session: {}",
                           message.type == HOIST_MESSAGE_GOODBYE ? text_of(message.text)
                                                                 : "in confusion")});
}

// The first reason stays.
Status Connection::lose(Error why) {
  why.code = ErrorCode::unavailable;
  const std::lock_guard lock(lost_mutex_);
  if (!lost_.load(std::memory_order_relaxed)) {
    why_lost_ = std::move(why);
    lost_.store(true, std::memory_order_release);
  }
  return why_lost_;
}

Result<void*> Connection::allocate(uint64_t size) {
  if (Status alive = check_alive(); !alive) return alive.error();
  std::optional<uint64_t> offset = pool_.allocate(size);
  if (!offset) {
    // What nobody has looked for may have been answered.
    for (const std::unique_ptr<Queue>& queue : queues_) {
      const std::lock_guard lock(queue->mutex);
      reap(*queue);
    }
    offset = pool_.allocate(size);
  }
  if (!offset) return fail(ErrorCode::exhausted, "the pool is full (hoistd's client)");
  return memory_.pool().data() + *offset;
}

void Connection::free(void* memory) {
  if (memory == nullptr || !process_.is_current()) return;
  pool_.free(static_cast<uint64_t>(static_cast<std::byte*>(memory) - memory_.pool().data()));
}

std::optional<uint64_t> Connection::pool_offset(const void* data, uint64_t size) const {
  const std::span<std::byte> pool = memory_.pool();
  const auto address = reinterpret_cast<uintptr_t>(data);
  const auto begin = reinterpret_cast<uintptr_t>(pool.data());
  if (address < begin || address - begin > pool.size() || size > pool.size() - (address - begin)) {
    return std::nullopt;
  }
  return address - begin;
}

// When a wait that begins now gives up: the device may be busy with other queues' work first.
uint64_t Connection::patience_ends(uint64_t now) const {
  uint64_t work_ns = 0;
  for (const std::unique_ptr<Queue>& queue : queues_) {
    work_ns += queue->work_ns.load(std::memory_order_relaxed);
  }
  return now + patience_ns_ + work_ns;
}

Result<Ticket> Connection::submit(uint32_t index, const hoist_request& request,
                                  std::chrono::nanoseconds work) {
  if (Status ready = check_alive(); !ready) return ready.error();
  if (Status ready = check_patience(); !ready) return ready.error();
  if (index >= queues_.size() || request.range_count > HOIST_RING_MAX_RANGES) {
    return fail(ErrorCode::invalid_argument, "no such queue or too many ranges (hoistd's client)");
  }
  const auto pending = std::make_shared<Ticket::Pending>();
  const auto release = [&] {
    for (size_t i = 0; i < pending->block_count; ++i) pool_.release(pending->blocks[i]);
  };
  for (size_t i = 0; i < request.range_count; ++i) {
    const hoist_range& range = request.ranges[i];
    if (range.buffer != 0) continue;
    const std::optional<uint64_t> block = pool_.retain(range.offset, range.length);
    if (!block) {
      release();
      return fail(ErrorCode::invalid_argument, "a range that is not in one block (hoistd's pool)");
    }
    pending->blocks[pending->block_count++] = *block;
  }

  Queue& queue = *queues_[index];
  const std::lock_guard lock(queue.mutex);
  reap(queue);
  if (queue.is_overdue() || queue.submitter.full()) {
    release();
    return queue.is_overdue() ? overdue() : unavailable("the queue is full");
  }
  hoist_request timed = request;
  timed.deadline_ns = request.operation == HOIST_REQUEST_FREE ? 0 : patience_ends(monotonic_ns());
  pending->work_ns = static_cast<uint64_t>(std::max<int64_t>(work.count(), 0));
  queue.work_ns += pending->work_ns;
  Ticket ticket;
  ticket.queue_ = index;
  ticket.pending_ = pending;
  queue.pending[(queue.submitter.submitted() + 1) % HOIST_RING_ENTRIES] = pending;
  ticket.sequence_ = queue.submitter.submit(timed);
  queue.last = ticket;
  return ticket;
}

// Moves the answers that are there from the ring to those who wait. The queue is locked.
void Connection::reap(Queue& queue) {
  hoist_completion completion;
  while (queue.submitter.reap(completion)) {
    std::shared_ptr<Ticket::Pending>& slot =
        queue.pending[queue.submitter.reaped() % HOIST_RING_ENTRIES];
    slot->completion = completion;
    slot->done = true;
    for (size_t i = 0; i < slot->block_count; ++i) pool_.release(slot->blocks[i]);
    queue.work_ns -= slot->work_ns;
    slot.reset();
  }
}

// Without the queue's lock, for who looks again and again: whether the answer is not there yet. (Of
// a ticket that was reaped the entry may be another's by now.)
bool Connection::is_pending(const Ticket& ticket) const {
  return !ticket.pending_->done.load(std::memory_order_acquire) &&
         Submitter::progress(queues_[ticket.queue_]->shared, ticket.sequence_) ==
             Submitter::Progress::pending;
}

Result<bool> Connection::is_done(const Ticket& ticket) {
  if (ticket.pending_ == nullptr) return true;
  if (!process_.is_current()) return check_alive().error();
  if (is_pending(ticket)) {
    if (Status alive = check_alive(); !alive) return alive.error();
    return false;
  }
  Queue& queue = *queues_[ticket.queue_];
  const std::lock_guard lock(queue.mutex);
  reap(queue);
  if (ticket.pending_->done) return true;
  if (Status alive = check_alive(); !alive) return alive.error();
  return false;
}

Result<hoist_completion> Connection::wait(const Ticket& ticket) {
  if (ticket.pending_ == nullptr) return hoist_completion{};
  if (!process_.is_current()) return check_alive().error();
  Queue& queue = *queues_[ticket.queue_];
  const uint64_t deadline = patience_ends(monotonic_ns());
  // Short work is done before a thread that sleeps could be woken.
  for (Backoff backoff({}, {}); is_pending(ticket) && !backoff.will_sleep();) backoff.wait();
  while (true) {
    const uint64_t now = monotonic_ns();
    {
      const std::lock_guard lock(queue.mutex);
      reap(queue);
      if (ticket.pending_->done) break;
      if (Submitter::progress(queue.shared, ticket.sequence_) == Submitter::Progress::corrupt) {
        return lose({ErrorCode::corrupt, "no hoistd: it answers nonsense (shared ring)"}).error();
      }
      if (now >= deadline) {
        // With all that is behind it, which may be late, too, when its own waiters have gone.
        queue.overdue = queue.submitter.submitted();
        overdue_.fetch_add(1, std::memory_order_release);
      }
      if (queue.is_overdue()) return overdue();
    }
    // Answers that were given before it died count.
    if (Status alive = check_alive(); !alive) return alive.error();
    Submitter::wait(queue.shared, ticket.sequence_, std::min(deadline, now + kLookNs));
    if (monotonic_ns() - now >= kLookNs) (void)check_socket();
  }
  const hoist_completion& completion = ticket.pending_->completion;
  if (Status done = status_of(completion.status); !done) return done.error();
  return completion;
}

Ticket Connection::last(uint32_t queue) {
  if (!process_.is_current()) return {};
  const std::lock_guard lock(queues_[queue]->mutex);
  return queues_[queue]->last;
}

bool Connection::wait_for_any() {
  if (!check_alive()) return false;
  Ticket oldest;
  bool is_news = false;
  for (uint32_t index = 0; index < queues_.size() && oldest.pending_ == nullptr; ++index) {
    Queue& queue = *queues_[index];
    const std::lock_guard lock(queue.mutex);
    const uint64_t before = queue.submitter.reaped();
    reap(queue);
    is_news = is_news || queue.submitter.reaped() != before;
    oldest = oldest_of(index);
  }
  if (is_news) return true;
  const bool is_there = oldest.pending_ != nullptr;
  const Result<hoist_completion> answer = wait(oldest);
  return is_there && (answer || answer.error().code != ErrorCode::unavailable);
}

// The oldest unanswered ticket of a locked queue; null: all are answered.
Ticket Connection::oldest_of(uint32_t index) const {
  const Queue& queue = *queues_[index];
  Ticket oldest;
  if (queue.submitter.reaped() == queue.submitter.submitted()) return oldest;
  oldest.queue_ = index;
  oldest.sequence_ = queue.submitter.reaped() + 1;
  oldest.pending_ = queue.pending[oldest.sequence_ % HOIST_RING_ENTRIES];
  return oldest;
}

Status Connection::wait_for_room(uint32_t index) {
  if (Status alive = check_alive(); !alive) return alive;
  Ticket oldest;
  {
    Queue& queue = *queues_[index];
    const std::lock_guard lock(queue.mutex);
    reap(queue);
    if (!queue.submitter.full()) return {};
    oldest = oldest_of(index);
  }
  // Whether it succeeded is for its own waiter.
  const Result<hoist_completion> answer = wait(oldest);
  if (!answer && answer.error().code == ErrorCode::unavailable) return check_alive();
  return {};
}

namespace {

struct StatusName {
  uint32_t status;
  ErrorCode code;
  const char* text;
};
constexpr StatusName kStatuses[] = {
    {HOIST_RING_INVALID, ErrorCode::invalid_argument, "a number in the request is impossible"},
    {HOIST_RING_NOT_FOUND, ErrorCode::not_found, "no such buffer"},
    {HOIST_RING_UNSUPPORTED, ErrorCode::unsupported, "no such operation"},
    {HOIST_RING_EXHAUSTED, ErrorCode::exhausted, "no more device memory for this client"},
    {HOIST_RING_CANCELLED, ErrorCode::cancelled, "its deadline passed before its turn came"},
    {HOIST_RING_UNAVAILABLE, ErrorCode::unavailable, "the device is lost, or the daemon ends"},
    {HOIST_RING_INTERNAL, ErrorCode::internal, "the operation failed"},
};

}  // namespace

Status status_of(uint32_t status) {
  if (status == HOIST_RING_OK) return {};
  for (const StatusName& known : kStatuses) {
    if (known.status == status) return fail(known.code, fmt::format("hoistd: {}", known.text));
  }
  return fail(ErrorCode::corrupt, fmt::format("hoistd: unknown status {}", status));
}

uint32_t status_number(ErrorCode code) {
  for (const StatusName& known : kStatuses) {
    if (known.code == code) return known.status;
  }
  return HOIST_RING_INTERNAL;
}

}  // namespace hoist::device::remote
