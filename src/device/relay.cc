#include "device/relay.h"

#include <fmt/core.h>
#include <immintrin.h>

#include <algorithm>
#include <utility>

#include "device/backoff.h"
#include "device/fine_timer.h"

namespace hoist::device {
namespace {

// The more is on its way, the more a chunk must have to be given beside it: who fills slower than
// the link moves would else give the device pieces, each with a call of its own.
constexpr uint64_t kPiecesBesideAChunk = 4;

// So many turns of all workers a worker is ahead before it helps others.
constexpr uint64_t kTurnsAhead = 2;

// What takes longer is waited for as a device or a hoistd must be that may have stopped.
constexpr std::chrono::milliseconds kLong(10);

uint64_t pieces_of_ring(size_t ring, const RelayShape& shape) {
  const uint64_t pieces = ring / shape.piece;
  const auto workers = static_cast<uint64_t>(shape.workers);
  return pieces < 2 * workers ? pieces : pieces - pieces % workers;
}

// Moves them into the cache that all cores share. A hint, and none where a processor does not know
// it. It costs as much as filling does.
__attribute__((target("cldemote"))) void demote(std::span<std::byte> bytes) {
  constexpr size_t kCacheLine = 64;
  for (size_t at = 0; at < bytes.size(); at += kCacheLine) _cldemote(bytes.data() + at);
}

}  // namespace

Relay::Relay(const TransferRequest& request, uint64_t size, const RelayShape& shape,
             StagingRing& ring)
    : TransferState(request),
      size_(size),
      shape_(shape),
      ring_(ring),
      pieces_((size + shape.piece - 1) / shape.piece),
      ring_pieces_(pieces_of_ring(ring.bytes().size(), shape)),
      taken_(std::min(pieces_, ring_pieces_)),
      worked_(taken_.size()) {}

void Relay::begin() {
  guard([&] {
    if (!is_upload() && !is_over()) serve(/*may_sleep=*/false);
  });
}

bool Relay::is_taken(uint64_t piece) const {
  return taken_[piece % ring_pieces_].load(std::memory_order_relaxed) > piece;
}

std::optional<uint64_t> Relay::take(uint64_t& own) {
  const auto workers = static_cast<uint64_t>(shape_.workers);
  while (!is_over()) {
    uint64_t front = front_.load(std::memory_order_relaxed);
    while (front < pieces_ && is_taken(front)) ++front;
    if (front == pieces_) return std::nullopt;
    // Another's may be newer: then it is found again.
    front_.store(front, std::memory_order_relaxed);
    const uint64_t ahead = std::min({kTurnsAhead * workers, ring_pieces_, pieces_ - front});
    while (own < front || (own < front + ahead && is_taken(own))) own += workers;
    const uint64_t piece = own < front + ahead ? own : front;
    // The piece whose place it has is before the front.
    uint64_t before = piece < ring_pieces_ ? 0 : piece - ring_pieces_ + 1;
    std::atomic<uint64_t>& taken = taken_[piece % ring_pieces_];
    if (taken.compare_exchange_strong(before, piece + 1, std::memory_order_relaxed)) return piece;
  }
  return std::nullopt;
}

void Relay::run(int worker) {
  guard([&] { work_off(worker); });
}

void Relay::work_off(int worker) {
  const FineTimer timer;
  const bool up = is_upload();
  auto own = static_cast<uint64_t>(worker);
  while (const std::optional<uint64_t> piece = take(own)) {
    const bool may_go_on = wait([&] {
      const uint64_t moved = moved_.load(std::memory_order_acquire);
      return up ? *piece < moved + ring_pieces_ : *piece < moved;
    });
    if (!may_go_on) return;
    const uint64_t offset = *piece * shape_.piece;
    const size_t size = std::min<uint64_t>(shape_.piece, size_ - offset);
    if (Status done = work(offset, ring_part(*piece, 1).first(size)); !done) {
      return fail(done.error());
    }
    worked_[*piece % ring_pieces_].store(*piece + 1, std::memory_order_release);
    if (!up) arrived(size);
    serve(/*may_sleep=*/false);
  }
  if (!up) return;
  wait([&] {
    if (worker != 0 && is_all_given_.load(std::memory_order_relaxed)) return true;
    return moved_.load(std::memory_order_acquire) == pieces_;
  });
}

bool Relay::end() {
  // A fence says that its turn came; what went wrong before it is the stream's to tell.
  const Status settled = ring_.settle(shape_.streams);
  if (!settled) fail(settled.error());
  return settled.has_value();
}

// False: nobody wants the rest.
template <typename IsReady>
bool Relay::wait(const IsReady& is_ready) {
  PatientBackoff backoff(look_until_);
  while (!is_ready()) {
    if (is_over()) return false;
    serve(backoff.waited() > kLong);
    if (is_ready()) return true;
    backoff.wait();
  }
  return true;
}

void Relay::serve(bool may_sleep) {
  if (is_served_.load(std::memory_order_relaxed)) return;
  if (is_served_.exchange(true, std::memory_order_acquire)) return;
  Status done = collect(/*may_sleep=*/false);
  if (done) done = give_what_is_there();
  if (done && may_sleep) {
    done = collect(/*may_sleep=*/true);
    if (done) done = give_what_is_there();
  }
  if (!done) fail(done.error());
  is_served_.store(false, std::memory_order_release);
}

Status Relay::collect(bool may_sleep) {
  std::vector<StagingRing::OnItsWay>& chunks = ring_.chunks();
  if (may_sleep && chunks_moved_ != chunks_given_) {
    Status done = chunks[chunks_moved_ % chunks.size()].fence.wait({});
    if (!done) return done;
  }
  while (chunks_moved_ != chunks_given_) {
    const StagingRing::OnItsWay& oldest = chunks[chunks_moved_ % chunks.size()];
    const Result<bool> is_there = oldest.fence.poll();
    if (!is_there) return is_there.error();
    if (!*is_there) break;
    if (is_upload()) arrived(oldest.bytes);
    ++chunks_moved_;
    moved_.store(oldest.end, std::memory_order_release);
  }
  return {};
}

uint64_t Relay::not_moved_before(uint64_t offset) const {
  return offset - std::min(offset, moved_.load(std::memory_order_relaxed) * shape_.piece);
}

Status Relay::give_what_is_there() {
  while (chunks_given_ - chunks_moved_ < shape_.chunks && !has_failed()) {
    const uint64_t count = next_count();
    if (count == 0) break;
    if (Status given = give_chunk(count); !given) return given;
  }
  return {};
}

uint64_t Relay::next_count() {
  while (worked_until_ < pieces_ && worked_[worked_until_ % ring_pieces_].load(
                                        std::memory_order_acquire) == worked_until_ + 1) {
    ++worked_until_;
  }
  const uint64_t left = pieces_ - given_;
  // Who fills alone is never faster than the link.
  const uint64_t beside = shape_.workers > 1 ? kPiecesBesideAChunk : 0;
  const uint64_t wanted = (chunks_given_ - chunks_moved_) * beside;
  uint64_t most = std::min<uint64_t>(left, shape_.chunk);
  uint64_t there = 0;
  if (is_upload()) {
    there = worked_until_ - given_;
  } else {
    there = worked_until_ + ring_pieces_ - given_;
    // Small at both ends: the threads begin early, and have little left when the link has ended.
    most = std::min(most, std::max(std::min(given_, left / 2), kPiecesBesideAChunk));
  }
  const uint64_t count = std::min(there, most);
  return count < std::min(wanted, most) ? 0 : count;
}

Status Relay::give_chunk(uint64_t count) {
  std::vector<StagingRing::OnItsWay>& chunks = ring_.chunks();
  const size_t turn = chunks_given_ % chunks.size();
  StagingRing::OnItsWay& chunk = chunks[turn];
  // Always the same for one of them: what it has on the device is used and freed in that order.
  Stream& stream = ring_.stream(turn % static_cast<unsigned>(shape_.streams));
  const uint64_t offset = given_ * shape_.piece;
  chunk.bytes = std::min(count * shape_.piece, size_ - offset);
  for (uint64_t done = 0; done < chunk.bytes;) {
    const uint64_t at = (offset + done) / shape_.piece;
    const std::span<std::byte> part = ring_part(at, count - (at - given_));
    const size_t bytes = std::min<uint64_t>(part.size(), chunk.bytes - done);
    Status enqueued = enqueue(chunk, stream, offset + done, part.first(bytes));
    if (!enqueued) return enqueued;
    done += bytes;
  }
  given_ += count;
  chunk.end = given_;
  if (Status recorded = chunk.fence.record(stream); !recorded) return recorded;
  ++chunks_given_;
  if (given_ == pieces_) is_all_given_.store(true, std::memory_order_relaxed);
  return {};
}

// From that piece's place on: `count` pieces, or fewer, where the ring ends.
std::span<std::byte> Relay::ring_part(uint64_t piece, uint64_t count) const {
  const uint64_t place = piece % ring_pieces_;
  return ring_.bytes().subspan(place * shape_.piece,
                               std::min(count, ring_pieces_ - place) * shape_.piece);
}

Status UploadRelay::work(uint64_t offset, std::span<std::byte> piece) {
  Status got = from_.read(offset, piece);
  const bool is_last = offset + piece.size() > demoted_from_;
  // Threads that are not ahead have no time for it; in a short transfer nobody gets ahead.
  const bool has_time = demoted_from_ == 0 || not_moved_before(offset) >= demoted_;
  if (got && is_last && has_time) demote(piece);
  _mm_sfence();  // also what a reader stored past the caches
  return got;
}

Result<Span<std::byte>> PlacedRelay::place(uint64_t offset, size_t size, Stream& stream) {
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    Result<std::optional<Span<std::byte>>> place = placement_(offset, size, stream);
    if (!place) return place.error();
    if (!*place) {
      if (is_over()) return hoist::fail(ErrorCode::cancelled, "stopped (transfer)");
      const bool is_long = std::chrono::steady_clock::now() - start > kLong;
      if (Status done = collect(/*may_sleep=*/is_long); !done) return done.error();
      continue;
    }
    const Span<std::byte>& to = **place;
    if (to.size == 0 || to.size > size || to.device != &stream.device()) {
      return hoist::fail(ErrorCode::invalid_argument,
                         fmt::format("a place of {} bytes for {}, or on another device (transfer)",
                                     to.size, size));
    }
    return to;
  }
}

Status PlacedRelay::enqueue(StagingRing::OnItsWay&, Stream& stream, uint64_t offset,
                            std::span<std::byte> part) {
  while (!part.empty()) {
    const Result<Span<std::byte>> to = place(offset, part.size(), stream);
    if (!to) return to.error();
    Status given;
    if (to->data != nullptr) given = stream.copy(to->data, part.data(), to->size);
    if (given && request().enqueued) given = request().enqueued(offset, to->size, stream);
    if (!given) return given;
    offset += to->size;
    part = part.subspan(to->size);
  }
  return {};
}

Status DecodedRelay::enqueue(StagingRing::OnItsWay& chunk, Stream& stream, uint64_t offset,
                             std::span<std::byte> part) {
  if (chunk.staged.size() < piece_) {
    chunk.staged = {};  // not both at once
    Result<Buffer> staged = Buffer::allocate(stream, piece_);
    if (!staged) return staged.error();
    chunk.staged = std::move(*staged);
  }
  Status status = stream.copy(chunk.staged.data(), part.data(), part.size());
  if (!status) return status;
  status = decode_(chunk.staged.view<const std::byte>().subspan(0, part.size()), offset, stream);
  if (!status || !request().enqueued) return status;
  return request().enqueued(offset, part.size(), stream);
}

Status DownloadRelay::work(uint64_t offset, std::span<std::byte> piece) {
  return to_.write(offset, piece);
}

Status DownloadRelay::enqueue(StagingRing::OnItsWay&, Stream& stream, uint64_t offset,
                              std::span<std::byte> part) {
  return stream.copy(part.data(), from_ + offset, part.size());
}

}  // namespace hoist::device
