#include "device/transfer_copy_kernel.h"

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
constexpr int kMostSlots = 16;  // of a worker
constexpr int kMostWorkers = static_cast<int>(PinnedPool::kLargest / kLargestPiece) / kMostSlots;

// A host that has not posted for so long is stopped, or blocked by the copy kernel itself.
constexpr std::chrono::milliseconds kPatience(100);

// To be answered takes 5 to 200 microseconds where the device has nothing else to do.
constexpr std::chrono::milliseconds kLate(2);

constexpr std::chrono::microseconds kNap(10);
constexpr int kNapsToACheck = 16;

size_t slot_count(const CopyKernelShape& shape) {
  return static_cast<size_t>(shape.workers) * static_cast<size_t>(shape.slots);
}
size_t slots_size(const CopyKernelShape& shape) { return slot_count(shape) * shape.piece; }
size_t control_size(const CopyKernelShape& shape) {
  return slot_count(shape) * (sizeof(CopyOrder) + sizeof(CopyAnswer));
}

}  // namespace

CopyKernelShape copy_kernel_shape(uint64_t size, int threads) {
  CopyKernelShape shape = {.piece = kLargestPiece, .slots = kMostSlots, .workers = 1};
  if (size < 128 * kMebibyte) shape = {.piece = kLargestPiece / 2, .slots = 8, .workers = 1};
  if (size < 8 * kMebibyte) shape.piece = kLargestPiece / 4;
  const uint64_t pieces = (size + shape.piece - 1) / shape.piece;
  shape.workers = static_cast<int>(std::min<uint64_t>(pieces, std::min(threads, kMostWorkers)));
  return shape;
}

CopyKernelRun::CopyKernelRun(Stream stream, Event ended, PinnedBlock slots, PinnedBlock control,
                             std::atomic<int>& count)
    : stream_(std::move(stream)),
      ended_(std::move(ended)),
      slots_(std::move(slots)),
      control_(std::move(control)),
      count_(count) {}

CopyKernelRun::~CopyKernelRun() {
  if (is_running_) (void)end();
  --count_;
}

Result<std::unique_ptr<CopyKernelRun>> CopyKernelRun::create(PinnedPool& pool,
                                                             const CopyKernelShape& largest,
                                                             std::atomic<int>& count) {
  Result<Stream> stream = Stream::create(pool.device());
  if (!stream) return stream.error();
  Result<Event> ended = Event::create(pool.device());
  if (!ended) return ended.error();
  Result<PinnedBlock> slots = pool.allocate(slots_size(largest));
  if (!slots) return slots.error();
  Result<PinnedBlock> control = pool.allocate(control_size(largest));
  if (!control) return control.error();
  return std::unique_ptr<CopyKernelRun>(new CopyKernelRun(
      std::move(*stream), std::move(*ended), std::move(*slots), std::move(*control), count));
}

bool CopyKernelRun::fits(const CopyKernelShape& shape) const {
  return slots_size(shape) <= slots_.size() && control_size(shape) <= control_.size();
}

Status CopyKernelRun::start(std::byte* memory, bool is_upload, const CopyKernelShape& shape,
                            const Event* after) {
  const auto count = static_cast<uint32_t>(slot_count(shape));
  std::memset(control_.data(), 0, control_size(shape));
  shape_ = shape;
  copy_kernel_ = {
      .memory = memory,
      .is_upload = is_upload,
      .count = count,
      .slots = slots_.data(),
      .slot_size = shape.piece,
      .orders = reinterpret_cast<CopyOrder*>(control_.data()),
      .answers = reinterpret_cast<CopyAnswer*>(control_.data() + count * sizeof(CopyOrder)),
      .patience = std::chrono::nanoseconds(kPatience).count()};
  if (after != nullptr) {
    if (Status ordered = stream_.wait(*after); !ordered) return ordered;
  }
  const Clock::time_point before = Clock::now();
  Status started = stream_.device().start_copy_kernel(copy_kernel_, stream_.handle());
  if (!started) return started;
  is_running_ = true;
  const bool has_ended = std::all_of(copy_kernel_.answers, copy_kernel_.answers + count,
                                     [](CopyAnswer& answer) { return has_left(answer); });
  was_blocked_ = has_ended && Clock::now() - before >= kPatience;
  return ended_.record(stream_);
}

Status CopyKernelRun::end() {
  for (uint32_t slot = 0; slot < copy_kernel_.count; ++slot) end_slot(copy_kernel_.orders[slot]);
  is_running_ = false;
  Status done = stream_.synchronize();
  if (done) return {};
  slots_.abandon();
  control_.abandon();
  return done;
}

std::unique_ptr<CopyKernelRun> CopyKernelRuns::borrow(uint64_t size) {
  if (to_skip_ > 0 && to_skip_-- > 0) return nullptr;
  const CopyKernelShape shape = copy_kernel_shape(size, threads_);
  std::unique_ptr<CopyKernelRun> idle = idle_.take();
  if (idle != nullptr && idle->fits(shape)) return idle;
  idle.reset();  // a larger one is made in its place
  constexpr int kMost = 2;
  if (count_++ < kMost) {
    Result<std::unique_ptr<CopyKernelRun>> made = CopyKernelRun::create(pool_, shape, count_);
    if (made) return std::move(*made);
    leave_alone();  // there is no memory
  }
  --count_;
  return nullptr;
}

void CopyKernelRuns::skip(int transfers) {
  const std::lock_guard lock(mutex_);
  skip_locked(transfers);
}

void CopyKernelRuns::skip_locked(int transfers) { to_skip_ = std::max(to_skip_.load(), transfers); }

void CopyKernelRuns::note_blocked(bool was_blocked) {
  const std::lock_guard lock(mutex_);
  if (!was_blocked) {
    blocked_ = 0;
  } else if (to_skip_ <= 0) {  // else it was another's standstill, too
    skip_locked(++blocked_ == 1 ? kForAWhile : INT_MAX);
  }
}

void CopyKernelJob::post_first() {
  const auto slots = static_cast<uint32_t>(slots_);
  for (uint32_t i = 0; i < copy_kernel_.count; ++i) {
    const std::optional<Chunk> chunk = take(chunks_);
    if (!chunk) return;
    // A slot of each worker in turn, so that all have as much.
    const auto workers = static_cast<uint32_t>(has_run_.size());
    const uint32_t slot = i % workers * slots + i / workers;
    pieces_[slot].chunk = *chunk;
    if (Status done = begin(slot, pieces_[slot]); !done) return fail(done.error());
  }
}

void CopyKernelJob::run(int worker) {
  const FineTimer timer;
  has_run_[static_cast<size_t>(worker)] = true;
  guard([&] {
    if (const Status done = work(worker); !done) fail(done.error());
  });
}

void CopyKernelJob::finish_others() {
  for (size_t worker = 0; worker < has_run_.size(); ++worker) {
    if (!has_run_[worker]) run(static_cast<int>(worker));
  }
}

Status CopyKernelJob::work(int worker) {
  const auto first = static_cast<uint32_t>(worker * slots_);
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
  for (int i = 0; i < slots_; ++i) end_slot(copy_kernel_.orders[next_slot()]);
  return {};
}

Status CopyKernelJob::begin(uint32_t slot, Piece& piece) {
  if (from_ != nullptr) {
    Status got = from_->read(piece.chunk.offset, {slot_data(slot), piece.chunk.size});
    if (!got) return got;
    _mm_sfence();  // also what a reader stored past the caches
  }
  ++piece.number;
  post(copy_kernel_.orders[slot], {piece.number, piece.chunk.offset, piece.chunk.size});
  piece.is_posted = true;
  return {};
}

Status CopyKernelJob::finish(uint32_t slot, Piece& piece) {
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

Status CopyKernelJob::await(uint32_t slot, const Piece& piece) {
  CopyAnswer& answer = copy_kernel_.answers[slot];
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

Status CopyKernelJob::copy(uint32_t slot, const Piece& piece) {
  std::byte* const memory = copy_kernel_.memory + piece.chunk.offset;
  std::byte* const own = slot_data(slot);
  const bool up = copy_kernel_.is_upload;
  return device_.copy(up ? memory : own, up ? own : memory, piece.chunk.size, {});
}

Status CopyKernelJob::check() const {
  const Result<bool> over = ended_.is_done();
  if (!over) return over.error();
  if (!*over) return {};
  return hoist::fail(ErrorCode::internal, "the copy kernel ended early (transfer)");
}

}  // namespace hoist::device
