#include "device/remote/ring.h"

#include <cstring>
#include <type_traits>

#include "device/remote/futex.h"

namespace hoist::device::remote {
namespace {

// The other side may write at any time, so every access is one atomic load or store of a word, and
// what was loaded is never loaded again.
template <typename T>
T load(const T& shared, int order = __ATOMIC_RELAXED) {
  return __atomic_load_n(&shared, order);
}

template <typename T>
void store(T& shared, std::type_identity_t<T> value, int order = __ATOMIC_RELAXED) {
  __atomic_store_n(&shared, value, order);
}

// Structures of 64-bit words are copied word by word.
template <typename T>
void copy_words_in(T& to, const T& shared) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(uint64_t) == 0);
  const auto* from = reinterpret_cast<const uint64_t*>(&shared);
  for (size_t i = 0; i < sizeof(T) / sizeof(uint64_t); ++i) {
    const uint64_t word = load(from[i]);
    std::memcpy(reinterpret_cast<char*>(&to) + i * sizeof word, &word, sizeof word);
  }
}

template <typename T>
void copy_words_out(T& shared, const T& from) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(uint64_t) == 0);
  auto* to = reinterpret_cast<uint64_t*>(&shared);
  for (size_t i = 0; i < sizeof(T) / sizeof(uint64_t); ++i) {
    uint64_t word;
    std::memcpy(&word, reinterpret_cast<const char*>(&from) + i * sizeof word, sizeof word);
    store(to[i], word);
  }
}

template <typename Queue>
auto& entry_of(Queue* queue, uint64_t sequence) {
  return queue->entries[sequence % HOIST_RING_ENTRIES];
}

// What `completed` held before request `sequence` was submitted.
uint32_t value_before(uint64_t sequence) {
  return sequence > HOIST_RING_ENTRIES ? static_cast<uint32_t>(sequence - HOIST_RING_ENTRIES) : 0;
}

}  // namespace

uint64_t Submitter::submit(const hoist_request& request) {
  const uint64_t sequence = ++submitted_;
  hoist_ring_entry& entry = entry_of(queue_, sequence);
  hoist_request numbered = request;
  numbered.sequence = sequence;
  copy_words_out(entry.request, numbered);
  store(entry.completion.waiting, 0);
  store(queue_->tail, sequence, __ATOMIC_RELEASE);
  // The daemon says that it sleeps, then looks for work; we make work, then look whether it sleeps.
  // With both in one total order, at least one sees the other.
  __atomic_fetch_add(&queue_->doorbell, 1, __ATOMIC_SEQ_CST);
  if (load(queue_->sleeping, __ATOMIC_SEQ_CST) != 0) futex_wake_all(&queue_->doorbell);
  return sequence;
}

bool Submitter::reap(hoist_completion& completion) {
  if (reaped_ == submitted_) return false;
  const hoist_completion& shared = entry_of(queue_, reaped_ + 1).completion;
  if (load(shared.completed, __ATOMIC_ACQUIRE) != static_cast<uint32_t>(reaped_ + 1)) return false;
  completion = {};
  completion.status = load(shared.status);
  completion.result = load(shared.result);
  completion.device_ns = load(shared.device_ns);
  ++reaped_;
  return true;
}

void Submitter::wait(hoist_ring_queue* queue, uint64_t sequence, uint64_t deadline_ns) {
  hoist_completion& completion = entry_of(queue, sequence).completion;
  store(completion.waiting, 1, __ATOMIC_SEQ_CST);
  const uint32_t before = value_before(sequence);
  if (load(completion.completed, __ATOMIC_SEQ_CST) != before) return;
  futex_wait(&completion.completed, before, deadline_ns);
}

Submitter::Progress Submitter::progress(const hoist_ring_queue* queue, uint64_t sequence) {
  const uint32_t completed = load(entry_of(queue, sequence).completion.completed, __ATOMIC_ACQUIRE);
  if (completed == static_cast<uint32_t>(sequence)) return Progress::done;
  return completed == value_before(sequence) ? Progress::pending : Progress::corrupt;
}

Result<size_t> Receiver::drain(std::span<hoist_request> into) {
  const uint64_t tail = load(queue_->tail, __ATOMIC_ACQUIRE);
  if (tail < drained_ || tail - completed_ > HOIST_RING_ENTRIES) {
    return fail(ErrorCode::corrupt, "more requests than the ring holds (shared ring)");
  }
  size_t count = 0;
  while (drained_ < tail && count < into.size()) {
    hoist_request& request = into[count];
    copy_words_in(request, entry_of(queue_, drained_ + 1).request);
    if (request.sequence != drained_ + 1) {
      return fail(ErrorCode::corrupt, "an entry out of sequence (shared ring)");
    }
    ++drained_;
    ++count;
  }
  return count;
}

bool Receiver::has_more() const { return load(queue_->tail, __ATOMIC_ACQUIRE) != drained_; }

void Receiver::complete(uint32_t status, uint64_t result, uint64_t device_ns) {
  hoist_completion& completion = entry_of(queue_, ++completed_).completion;
  store(completion.status, status);
  store(completion.result, result);
  store(completion.device_ns, device_ns);
  // Orders as in submit(): the client sets `waiting`, then looks at `completed`.
  store(completion.completed, static_cast<uint32_t>(completed_), __ATOMIC_SEQ_CST);
  if (load(completion.waiting, __ATOMIC_SEQ_CST) != 0) futex_wake_all(&completion.completed);
}

void Receiver::wait(const std::atomic<bool>& stop) const {
  const uint32_t doorbell = load(queue_->doorbell, __ATOMIC_SEQ_CST);
  store(queue_->sleeping, 1, __ATOMIC_SEQ_CST);
  if (load(queue_->tail, __ATOMIC_SEQ_CST) == drained_ && !stop.load()) {
    futex_wait(&queue_->doorbell, doorbell, 0);
  }
  store(queue_->sleeping, 0);
}

void Receiver::wake(hoist_ring_queue* queue) {
  __atomic_fetch_add(&queue->doorbell, 1, __ATOMIC_SEQ_CST);
  futex_wake_all(&queue->doorbell);
}

}  // namespace hoist::device::remote
