#include "device/transfer_pump.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "device/backoff.h"
#include "device/fine_timer.h"

namespace hoist::device {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kKibibyte = size_t{1} << 10;
constexpr size_t kMebibyte = size_t{1} << 20;
constexpr size_t kLargestPiece = 128 * kKibibyte;
constexpr int kMostSlots = 16;  // of a lane
constexpr int kMostLanes = static_cast<int>(PinnedPool::kLargest / kLargestPiece) / kMostSlots;

// A host that has not posted for so long is stopped, or blocked by the pump itself.
constexpr std::chrono::milliseconds kPatience(100);

// To be answered takes 5 to 200 microseconds where the device has nothing else to do.
constexpr std::chrono::milliseconds kLate(2);

constexpr std::chrono::microseconds kNap(10);
constexpr int kNapsToACheck = 16;

size_t slot_count(const PumpShape& shape) {
  return static_cast<size_t>(shape.lanes) * static_cast<size_t>(shape.slots);
}
size_t slots_size(const PumpShape& shape) { return slot_count(shape) * shape.piece; }
size_t control_size(const PumpShape& shape) {
  return slot_count(shape) * (sizeof(PumpOrder) + sizeof(PumpAnswer));
}

}  // namespace

PumpShape pump_shape(uint64_t size, int threads) {
  PumpShape shape = {.piece = kLargestPiece, .slots = kMostSlots, .lanes = 1};
  if (size < 128 * kMebibyte) shape = {.piece = kLargestPiece / 2, .slots = 8, .lanes = 1};
  if (size < 8 * kMebibyte) shape.piece = kLargestPiece / 4;
  const uint64_t pieces = (size + shape.piece - 1) / shape.piece;
  shape.lanes = static_cast<int>(std::min<uint64_t>(pieces, std::min(threads, kMostLanes)));
  return shape;
}

PumpKit::PumpKit(Stream stream, Event ended, PinnedBlock slots, PinnedBlock control,
                 std::atomic<int>& count)
    : stream_(std::move(stream)),
      ended_(std::move(ended)),
      slots_(std::move(slots)),
      control_(std::move(control)),
      count_(count) {}

PumpKit::~PumpKit() {
  if (is_running_) (void)end();
  --count_;
}

Result<std::unique_ptr<PumpKit>> PumpKit::create(PinnedPool& pool, const PumpShape& largest,
                                                 std::atomic<int>& count) {
  Result<Stream> stream = Stream::create(pool.device());
  if (!stream) return stream.error();
  Result<Event> ended = Event::create(pool.device());
  if (!ended) return ended.error();
  Result<PinnedBlock> slots = pool.allocate(slots_size(largest));
  if (!slots) return slots.error();
  Result<PinnedBlock> control = pool.allocate(control_size(largest));
  if (!control) return control.error();
  return std::unique_ptr<PumpKit>(new PumpKit(std::move(*stream), std::move(*ended),
                                              std::move(*slots), std::move(*control), count));
}

bool PumpKit::fits(const PumpShape& shape) const {
  return slots_size(shape) <= slots_.size() && control_size(shape) <= control_.size();
}

Status PumpKit::start(std::byte* memory, bool is_upload, const PumpShape& shape,
                      const Event* after) {
  const auto count = static_cast<uint32_t>(slot_count(shape));
  std::memset(control_.data(), 0, control_size(shape));
  shape_ = shape;
  pump_ = {.memory = memory,
           .is_upload = is_upload,
           .count = count,
           .slots = slots_.data(),
           .slot_size = shape.piece,
           .orders = reinterpret_cast<PumpOrder*>(control_.data()),
           .answers = reinterpret_cast<PumpAnswer*>(control_.data() + count * sizeof(PumpOrder)),
           .patience = std::chrono::nanoseconds(kPatience).count()};
  if (after != nullptr) {
    if (Status ordered = stream_.wait(*after); !ordered) return ordered;
  }
  const Clock::time_point before = Clock::now();
  Status started = stream_.device().start_pump(pump_, stream_.handle());
  if (!started) return started;
  is_running_ = true;
  const bool has_ended = std::all_of(pump_.answers, pump_.answers + count,
                                     [](PumpAnswer& answer) { return has_left(answer); });
  was_blocked_ = has_ended && Clock::now() - before >= kPatience;
  return ended_.record(stream_);
}

Status PumpKit::end() {
  for (uint32_t slot = 0; slot < pump_.count; ++slot) end_slot(pump_.orders[slot]);
  is_running_ = false;
  Status done = stream_.synchronize();
  if (done) return {};
  slots_.abandon();
  control_.abandon();
  return done;
}

std::unique_ptr<PumpKit> PumpKits::borrow(uint64_t size) {
  if (to_skip_ > 0 && to_skip_-- > 0) return nullptr;
  const PumpShape shape = pump_shape(size, threads_);
  std::unique_ptr<PumpKit> idle = idle_.take();
  if (idle != nullptr && idle->fits(shape)) return idle;
  idle.reset();  // a larger one is made in its place
  constexpr int kMost = 2;
  if (count_++ < kMost) {
    Result<std::unique_ptr<PumpKit>> made = PumpKit::create(pool_, shape, count_);
    if (made) return std::move(*made);
    leave_alone();  // there is no memory
  }
  --count_;
  return nullptr;
}

void PumpKits::skip(int transfers) {
  const std::lock_guard lock(mutex_);
  skip_locked(transfers);
}

void PumpKits::skip_locked(int transfers) { to_skip_ = std::max(to_skip_.load(), transfers); }

void PumpKits::note_blocked(bool was_blocked) {
  const std::lock_guard lock(mutex_);
  if (!was_blocked) {
    blocked_ = 0;
  } else if (to_skip_ <= 0) {  // else it was another's standstill, too
    skip_locked(++blocked_ == 1 ? kForAWhile : INT_MAX);
  }
}

void PumpedJob::post_first() {
  const auto slots = static_cast<uint32_t>(slots_);
  for (uint32_t i = 0; i < pump_.count; ++i) {
    const std::optional<Chunk> chunk = take(chunks_);
    if (!chunk) return;
    // A slot of each lane in turn, so that all have as much.
    const auto lanes = static_cast<uint32_t>(has_run_.size());
    const uint32_t slot = i % lanes * slots + i / lanes;
    pieces_[slot].chunk = *chunk;
    if (Status done = begin(slot, pieces_[slot]); !done) return fail(done.error());
  }
}

void PumpedJob::run(int lane) {
  const FineTimer timer;
  has_run_[static_cast<size_t>(lane)] = true;
  guard([&] {
    if (const Status done = work(lane); !done) fail(done.error());
  });
}

void PumpedJob::finish_others() {
  for (size_t lane = 0; lane < has_run_.size(); ++lane) {
    if (!has_run_[lane]) run(static_cast<int>(lane));
  }
}

Status PumpedJob::work(int lane) {
  const auto first = static_cast<uint32_t>(lane * slots_);
  uint32_t turn = 0;
  const auto next_slot = [&] { return first + turn++ % static_cast<uint32_t>(slots_); };
  while (const std::optional<Chunk> chunk = take(chunks_)) {
    const uint32_t slot = next_slot();
    if (Status done = finish(slot, pieces_[slot]); !done) return done;
    pieces_[slot].chunk = *chunk;
    if (Status done = begin(slot, pieces_[slot]); !done) return done;
  }
  for (int i = 0; i < slots_; ++i) {  // the oldest first
    const uint32_t slot = next_slot();
    if (Status done = finish(slot, pieces_[slot]); !done) return done;
  }
  // Makes room for blocks that found none.
  for (int i = 0; i < slots_; ++i) end_slot(pump_.orders[next_slot()]);
  return {};
}

Status PumpedJob::begin(uint32_t slot, Piece& piece) {
  if (from_ != nullptr) {
    Status got = from_->read(piece.chunk.offset, {slot_data(slot), piece.chunk.size});
    if (!got) return got;
    _mm_sfence();  // also what a reader stored past the caches
  }
  ++piece.number;
  post(pump_.orders[slot], {piece.number, piece.chunk.offset, piece.chunk.size});
  piece.is_posted = true;
  return {};
}

Status PumpedJob::finish(uint32_t slot, Piece& piece) {
  if (!piece.is_posted) return {};
  if (Status there = await(slot, piece); !there) return there;
  piece.is_posted = false;
  if (has_failed()) return result();  // nobody wants the rest
  if (to_ != nullptr) {
    Status taken = to_->write(piece.chunk.offset, {slot_data(slot), piece.chunk.size});
    if (!taken) return taken;
  }
  arrived(piece.chunk.size);
  return {};
}

Status PumpedJob::await(uint32_t slot, const Piece& piece) {
  PumpAnswer& answer = pump_.answers[slot];
  const Clock::time_point begin = Clock::now();
  Backoff backoff(look_until_, kNap);
  int naps = 0;
  while (!has_answered(answer, piece.number)) {
    if (has_left(answer)) return has_answered(answer, piece.number) ? Status() : copy(slot, piece);
    if (!backoff.wait()) continue;
    if (++naps % kNapsToACheck != 0) continue;
    if (has_failed()) return result();
    if (Status possible = check(); !possible) {
      if (!has_answered(answer, piece.number) && !has_left(answer)) return possible;
    }
  }
  if (Clock::now() - begin > kLate) was_late_ = true;
  return {};
}

Status PumpedJob::copy(uint32_t slot, const Piece& piece) {
  std::byte* const memory = pump_.memory + piece.chunk.offset;
  std::byte* const own = slot_data(slot);
  const bool up = pump_.is_upload;
  return device_.copy(up ? memory : own, up ? own : memory, piece.chunk.size, {});
}

Status PumpedJob::check() const {
  const Result<bool> over = ended_.is_done();
  if (!over) return over.error();
  if (!*over) return {};
  return hoist::fail(ErrorCode::internal, "the pump ended early (transfer)");
}

}  // namespace hoist::device
