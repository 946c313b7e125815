#include "device/transfer.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/threads.h"
#include "device/backoff.h"
#include "device/relay.h"
#include "device/staging_ring.h"
#include "device/transfer_copy_kernel.h"
#include "device/transfer_worker.h"

namespace hoist::device {
namespace {

constexpr size_t kKibibyte = size_t{1} << 10;
constexpr size_t kMebibyte = size_t{1} << 20;

// TransferTuning::ring. On a GPU as much as keeps the engine busy while a thread sleeps.
constexpr size_t kRing = 64 * kMebibyte;
constexpr size_t kRingElsewhere = 32 * kMebibyte;

// TransferTuning::through_slot where memory is not the device's own.
constexpr size_t kUploadThroughSlot = 64 * kKibibyte;
constexpr size_t kDownloadThroughSlot = 256 * kKibibyte;

// TransferTuning::direct. hoistd's client makes its own copies with one thread.
constexpr size_t kDirect = 4 * kMebibyte;
constexpr size_t kRemoteDirect = 512 * kKibibyte;

// Small copies that are made before a worker is worth making for them.
constexpr int kFewCopies = 16;

// TransferTuning::copy_kernel_limit: beyond, the copy engine's large chunks leave less of the link
// idle than a kernel's accesses do.
constexpr uint64_t kCopyKernelUp = 32 * kMebibyte;
constexpr uint64_t kCopyKernelDown = 16 * kMebibyte;

// To wake threads for less costs more than it saves.
constexpr uint64_t kCopyKerneledFrom = kMebibyte;

// TransferTuning::demoted on a GPU: what the second-level cache of a core holds.
constexpr size_t kDemoted = 2 * kMebibyte;

// Pieces for ends that are used in order by one thread, or read best in large ones.
constexpr size_t kLargePiece = 2 * kMebibyte;

// To wake a thread for less costs more than it saves.
constexpr size_t kBytesAThread = 256 * kKibibyte;

// With fewer processors than threads a copy kernel is slower at times.
uint64_t copy_kernel_limit(const Device& device, const TransferTuning& tuning, uint64_t best) {
  const bool pays = device.properties().kind == DeviceKind::cuda && usable_cpus() >= tuning.threads;
  return tuning.copy_kernel_limit.value_or(pays ? best : 0);
}

size_t through_slot(const Device& device, const TransferTuning& tuning, size_t best) {
  if (device.properties().kind != DeviceKind::cuda) best = 0;
  return tuning.through_slot.value_or(best);
}

TransferTuning completed(TransferTuning tuning, const Device& device) {
  const DeviceKind kind = device.properties().kind;
  tuning.threads = std::max(tuning.threads, 1);
  tuning.largest_chunk = std::clamp<size_t>(tuning.largest_chunk, 1, PinnedPool::kLargest);
  tuning.piece = std::clamp<size_t>(tuning.piece, 1, tuning.largest_chunk);
  tuning.chunks = std::max(tuning.chunks, 1);
  if (!tuning.ring) tuning.ring = kind == DeviceKind::cuda ? kRing : kRingElsewhere;
  tuning.ring = std::clamp(*tuning.ring, tuning.largest_chunk, PinnedPool::kLargest);
  if (!tuning.direct) tuning.direct = kind == DeviceKind::remote ? kRemoteDirect : kDirect;
  if (!tuning.demoted) tuning.demoted = device.properties().compute_major > 0 ? kDemoted : 0;
  tuning.demoted = std::min(*tuning.demoted, PinnedPool::kLargest);
  return tuning;
}

// Returns when the device's end is ready. The host waits, not a stream: from four streams on that
// wait for an event a GPU may not get on with others, with those that the event is behind among
// them; and the threads are free for other transfers. (The one or two streams of copy kernels may
// wait.)
Status wait_for_device(const Device& device, const TransferRequest& request) {
  if (request.after == nullptr) return {};
  if (!request.stop.stop_possible()) return request.after->synchronize();
  PatientBackoff backoff({});
  while (!request.stop.stop_requested()) {
    const Result<bool> is_ready = request.after->is_done();
    if (!is_ready) return is_ready.error();
    if (*is_ready) return {};
    if (Status alive = device.status(); !alive) return alive;
    backoff.wait();
  }
  return fail(ErrorCode::cancelled, "stopped (transfer)");
}

// So many do something now.
class Counted {
 public:
  explicit Counted(std::atomic<int>& count) : count_(count) { ++count_; }
  ~Counted() { --count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::atomic<int>& count_;
};

}  // namespace

Transfer::Transfer(PinnedPool& pool, const TransferTuning& tuning)
    : pool_(pool),
      tuning_(completed(tuning, pool.device())),
      may_look_(pool.device().properties().kind == DeviceKind::cuda &&
                usable_cpus() > tuning_.threads),
      upload_through_slot_(through_slot(pool.device(), tuning_, kUploadThroughSlot)),
      download_through_slot_(through_slot(pool.device(), tuning_, kDownloadThroughSlot)),
      copy_kernel_up_(copy_kernel_limit(pool.device(), tuning_, kCopyKernelUp)),
      copy_kernel_down_(copy_kernel_limit(pool.device(), tuning_, kCopyKernelDown)),
      owner_(::getpid()),
      uploaders_(tuning_.threads - 1),
      downloaders_(tuning_.threads - 1),
      staging_rings_(
          std::make_unique<StagingRings>(pool, *tuning_.ring, static_cast<size_t>(tuning_.chunks))),
      copy_kernels_(std::make_unique<CopyKernelRuns>(pool, tuning_.threads)) {}

Transfer::~Transfer() = default;

Status Transfer::upload(const HostSource& from, Span<std::byte> to,
                        const TransferRequest& request) {
  if (Status possible = check(to.device); !possible) return possible;
  const Result<std::shared_ptr<HostReader>> reader = open_source(from, to.size, request.stop);
  if (!reader) return reader.error();
  if (to.size == 0) return {};
  const auto* const memory = std::get_if<std::span<const std::byte>>(&from);
  if (memory != nullptr && !request.enqueued) {
    if (auto worker = worker_for_small(to.size, upload_through_slot_)) {
      return run_small(std::move(worker), to.size, request,
                       [&](TransferWorker& own) { return own.upload(*memory, to.data); });
    }
    if (is_pinned(memory->data(), to.size)) {
      return copy(memory->data(), to.data, to.size, request);
    }
  }
  if (std::holds_alternative<HostFile>(from) && !request.enqueued) {
    if (auto worker = worker_for_small(to.size, upload_through_slot_)) {
      return run_small(std::move(worker), to.size, request,
                       [&](TransferWorker& own) { return own.upload(**reader, to.size, to.data); });
    }
  }
  if (to.size <= copy_kernel_up_ && !request.enqueued && (*reader)->is_random_access() &&
      !(*reader)->wants_large_reads()) {
    const std::optional<Status> done =
        copy_kernel(reader->get(), nullptr, to.data, to.size, request);
    if (done) return *done;
  }
  if (memory != nullptr && !request.enqueued && to.size <= *tuning_.direct) {
    return copy(memory->data(), to.data, to.size, request);
  }
  const auto in_one_piece = [&](uint64_t offset, size_t size, Stream&) {
    return std::optional(to.subspan(offset, size));
  };
  return upload_relayed(**reader, to.size, in_one_piece, request);
}

Status Transfer::upload_placed(const HostSource& from, uint64_t size, const Placement& placement,
                               const TransferRequest& request) {
  if (Status possible = check(&pool_.device()); !possible) return possible;
  const Result<std::shared_ptr<HostReader>> reader = open_source(from, size, request.stop);
  if (!reader) return reader.error();
  if (size == 0) return {};
  return upload_relayed(**reader, size, placement, request);
}

Status Transfer::upload_relayed(HostReader& reader, uint64_t size, const Placement& placement,
                                const TransferRequest& request) {
  const RelayUse use = relay_use(size, reader.is_random_access(), reader.wants_large_reads());
  return run_relay(size, use, request, 1, Direction::up,
                   [&](const RelayShape& shape, StagingRing& ring) {
                     return PlacedRelay(request, size, shape, ring, reader, placement);
                   });
}

Status Transfer::upload_decoded(const HostSource& from, uint64_t size, size_t chunk,
                                const Decode& decode, const TransferRequest& request) {
  if (Status possible = check(&pool_.device()); !possible) return possible;
  if (chunk == 0 || chunk > tuning_.largest_chunk) {
    return fail(ErrorCode::invalid_argument, fmt::format("chunks of {} bytes: 1 to {} (transfer)",
                                                         chunk, tuning_.largest_chunk));
  }
  const Result<std::shared_ptr<HostReader>> reader = open_source(from, size, request.stop);
  if (!reader) return reader.error();
  if (size == 0) return {};
  RelayUse use = relay_use(size, (*reader)->is_random_access(), false);
  use.piece = use.chunk = chunk;
  // Two streams, so that chunks are copied while others are decoded.
  return run_relay(size, use, request, 2, Direction::up,
                   [&](const RelayShape& shape, StagingRing& ring) {
                     return DecodedRelay(request, size, shape, ring, **reader, decode);
                   });
}

Status Transfer::download(Span<const std::byte> from, const HostSink& to,
                          const TransferRequest& request) {
  if (Status possible = check(from.device); !possible) return possible;
  const Result<std::shared_ptr<HostWriter>> writer = open_sink(to, from.size, request.stop);
  if (!writer) return writer.error();
  if (from.size == 0) return {};
  const auto* const memory = std::get_if<std::span<std::byte>>(&to);
  if (memory != nullptr) {
    if (auto worker = worker_for_small(from.size, download_through_slot_)) {
      return run_small(std::move(worker), from.size, request,
                       [&](TransferWorker& own) { return own.download(from.data, *memory); });
    }
    if (is_pinned(memory->data(), from.size)) {
      return copy(from.data, memory->data(), from.size, request);
    }
  }
  if (from.size <= copy_kernel_down_ && (*writer)->is_random_access()) {
    auto* const source =
        const_cast<std::byte*>(from.data);  // which a copy kernel to the host only reads
    const std::optional<Status> done =
        copy_kernel(nullptr, writer->get(), source, from.size, request);
    if (done) return *done;
  }
  if (memory != nullptr && from.size <= *tuning_.direct) {
    return copy(from.data, memory->data(), from.size, request);
  }
  const RelayUse use = relay_use(from.size, (*writer)->is_random_access(), false);
  return run_relay(from.size, use, request, 1, Direction::down,
                   [&](const RelayShape& shape, StagingRing& ring) {
                     return DownloadRelay(request, from.size, shape, ring, from.data, **writer);
                   });
}

Status Transfer::check(const Device* device) const {
  if (::getpid() != owner_) {
    return fail(ErrorCode::unavailable, "this transfer was made before fork(): make another");
  }
  if (device != &pool_.device()) {
    return fail(ErrorCode::invalid_argument, fmt::format("the memory is not on {} (transfer)",
                                                         pool_.device().properties().id()));
  }
  return {};
}

Transfer::RelayUse Transfer::relay_use(uint64_t size, bool is_random_access,
                                       bool wants_large_pieces) const {
  RelayUse use = {.piece = tuning_.piece, .chunk = tuning_.largest_chunk, .threads = 1};
  if (!is_random_access || wants_large_pieces) {
    use.piece = std::max(use.piece, std::min(kLargePiece, tuning_.largest_chunk));
  }
  if (is_random_access) {
    const size_t share = std::max(std::min(kBytesAThread, tuning_.largest_chunk), use.piece);
    use.threads = static_cast<int>(
        std::min<uint64_t>((size + share - 1) / share, static_cast<uint64_t>(tuning_.threads)));
  }
  return use;
}

bool Transfer::is_pinned(const void* memory, uint64_t size) const {
  // The driver's own copy asks for itself.
  if (size <= kCopyKerneledFrom && size <= *tuning_.direct) return false;
  return pool_.device().is_pinned(memory, size);
}

bool Transfer::may_copy_kernel(const void* memory, uint64_t size) const {
  constexpr uintptr_t kAligned = 16;
  return size > kCopyKerneledFrom && reinterpret_cast<uintptr_t>(memory) % kAligned == 0 &&
         copying_ == 0;  // the two ways of moving bytes hinder each other
}

std::optional<Status> Transfer::copy_kernel(HostReader* from, HostWriter* to, std::byte* memory,
                                            uint64_t size, const TransferRequest& request) {
  if (request.device_computes || !may_copy_kernel(memory, size)) return std::nullopt;
  // It may start before the device's end is ready, but then it cannot be stopped.
  const Event* const behind = request.stop.stop_possible() ? nullptr : request.after;
  if (behind == nullptr) {
    if (Status ready = wait_for_device(pool_.device(), request); !ready) return ready;
  }
  std::unique_ptr<CopyKernelRun> run = copy_kernels_->borrow(size);
  if (run == nullptr) return std::nullopt;
  const CopyKernelShape shape = copy_kernel_shape(size, tuning_.threads);
  if (!run->start(memory, from != nullptr, shape, behind)) {
    copy_kernels_->leave_alone_for_good();
    return std::nullopt;
  }
  CopyKernelJob job(request, size, pool_.device(), *run, from, to);
  if (to != nullptr) job.post_first();
  // Workers that wait for the device's end would be busy looking.
  if (behind != nullptr) {
    if (Status ready = behind->synchronize(); !ready) job.fail(ready.error());
  }
  if (may_look_) job.look_until(std::chrono::steady_clock::now() + tuning_.look);
  (from != nullptr ? uploaders_ : downloaders_).run(shape.workers, [&](int worker) {
    job.run(worker);
  });
  job.finish_others();
  copy_kernels_->note_blocked(run->was_blocked());
  if (!job.has_failed() && job.was_late()) copy_kernels_->leave_alone();  // the device is busy
  if (Status ended = run->end(); !ended) {
    job.fail(ended.error());
  } else {
    copy_kernels_->give_back(std::move(run));
  }
  return job.result();
}

template <typename MakeRelay>
Status Transfer::run_relay(uint64_t size, const RelayUse& use, const TransferRequest& request,
                           int streams, Direction direction, const MakeRelay& make_relay) {
  if (Status ready = wait_for_device(pool_.device(), request); !ready) return ready;
  Result<LentRing> ring = staging_rings_->borrow(size, use.piece, direction);
  if (!ring && ring.error().code == ErrorCode::exhausted) {
    drop_idle_rings();
    ring = staging_rings_->borrow(size, use.piece, direction);
  }
  if (!ring) return ring.error();
  // hoistd serves requests in order anyhow.
  const bool is_own = pool_.device().properties().kind != DeviceKind::remote;
  const RelayShape shape = {
      .piece = use.piece,
      .chunk = std::max<size_t>(std::min(use.chunk, (*ring)->bytes().size() / 2) / use.piece, 1),
      .chunks = static_cast<size_t>(tuning_.chunks),
      .streams = is_own ? streams : 1,
      .workers = use.threads,
      // One thread alone fills slower than the link moves, and the more so for it.
      .demoted = use.threads > 1 ? *tuning_.demoted : 0};
  auto relay = make_relay(shape, **ring);
  if (may_look_) relay.look_until(std::chrono::steady_clock::now() + tuning_.look);
  {
    const Counted copying(copying_);
    relay.begin();
    HelperPool& helpers = direction == Direction::up ? uploaders_ : downloaders_;
    helpers.run(use.threads, [&](int worker) { relay.run(worker); });
  }
  if (relay.end()) ring->put_back();
  return relay.result();
}

Status Transfer::copy(const std::byte* from, std::byte* to, uint64_t size,
                      const TransferRequest& request) {
  if (size > tuning_.pinned_chunk) return copy_pinned(from, to, size, request);
  if (request.stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped (transfer)");
  if (Status ready = wait_for_device(pool_.device(), request); !ready) return ready;
  Status done = pool_.device().copy(to, from, size, {});
  if (done && request.progress != nullptr) *request.progress += size;
  return done;
}

Status Transfer::copy_pinned(const std::byte* from, std::byte* to, uint64_t size,
                             const TransferRequest& request) {
  if (Status ready = wait_for_device(pool_.device(), request); !ready) return ready;
  std::unique_ptr<TransferWorker> worker = idle_.take();
  if (worker == nullptr) {
    Result<std::unique_ptr<TransferWorker>> made = make_worker();
    if (!made && made.error().code == ErrorCode::exhausted) {
      drop_idle_rings();
      made = make_worker();
    }
    if (!made) return made.error();
    worker = std::move(*made);
  }
  PinnedCopy pieces(request, size, tuning_.pinned_chunk, from, to);
  const Counted copying(copying_);
  if (pieces.run(*worker)) idle_.put(std::move(worker));
  return pieces.result();
}

void Transfer::drop_idle_rings() {
  staging_rings_->drop_idle();
  copy_kernels_->drop_idle();
}

std::unique_ptr<TransferWorker> Transfer::worker_for_small(uint64_t size, size_t most) {
  if (size > most) return nullptr;
  if (std::unique_ptr<TransferWorker> idle = idle_.take()) return idle;
  if (small_copies_.fetch_add(1, std::memory_order_relaxed) < kFewCopies) return nullptr;
  small_copies_ = 0;  // a worker for each thread that makes many, and no attempt for each copy
  if (small_workers_ >= tuning_.threads) return nullptr;
  Result<std::unique_ptr<TransferWorker>> made = make_worker();
  if (!made) return nullptr;
  ++small_workers_;
  return std::move(*made);
}

// `copy` returns when it is done with the worker, or with an error.
template <typename Copy>
Status Transfer::run_small(std::unique_ptr<TransferWorker> worker, uint64_t size,
                           const TransferRequest& request, const Copy& copy) {
  Status done;
  if (request.stop.stop_requested()) {
    done = fail(ErrorCode::cancelled, "stopped (transfer)");
  } else {
    done = wait_for_device(pool_.device(), request);
    if (done) done = copy(*worker);
  }
  if (done && request.progress != nullptr) *request.progress += size;
  if (done || worker->settle()) idle_.put(std::move(worker));
  return done;
}

Result<std::unique_ptr<TransferWorker>> Transfer::make_worker() {
  return TransferWorker::create(pool_, std::max(upload_through_slot_, download_through_slot_));
}

}  // namespace hoist::device
