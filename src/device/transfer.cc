#include "device/transfer.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/threads.h"
#include "device/chunks.h"
#include "device/transfer_job.h"
#include "device/transfer_pump.h"

namespace hoist::device {
namespace {

// TransferTuning::through_slot where memory is not the device's own.
constexpr size_t kUploadThroughSlot = size_t{64} << 10;
constexpr size_t kDownloadThroughSlot = size_t{256} << 10;

// TransferTuning::direct. hoistd's client makes its own copies with one thread.
constexpr size_t kDirect = size_t{4} << 20;
constexpr size_t kRemoteDirect = size_t{512} << 10;

// To copy so little takes no longer than to ask whether it is pinned.
constexpr size_t kNotWorthAsking = size_t{16} << 10;

// Small copies that are made before a lane is worth making for them.
constexpr int kFewCopies = 16;

// TransferTuning::pumped: beyond, the copy engine's large pieces leave no more of the link idle
// than a kernel's accesses do, and in both directions at once less. From a file the threads are
// what is slow, and small pieces stay in their caches.
constexpr uint64_t kPumped = uint64_t{512} << 20;
constexpr uint64_t kPumpedOfFile = UINT64_MAX;

// To wake threads for less costs more than it saves.
constexpr uint64_t kPumpedFrom = uint64_t{1} << 20;

// After a transfer for which the device was too busy, so many go another way.
constexpr int kBusyTransfers = 64;

// With fewer processors than threads a pump is slower at times.
uint64_t pumped_up_to(const Device& device, const TransferTuning& tuning, uint64_t best) {
  const bool pays = device.properties().kind == DeviceKind::cuda && usable_cpus() >= tuning.threads;
  return tuning.pumped.value_or(pays ? best : 0);
}

size_t through_slot(const Device& device, const TransferTuning& tuning, size_t best) {
  if (device.properties().kind != DeviceKind::cuda) best = 0;
  return std::min(tuning.through_slot.value_or(best), tuning.largest_chunk);
}

}  // namespace

Transfer::Transfer(PinnedPool& pool, const TransferTuning& tuning)
    : pool_(pool),
      tuning_(tuning),
      direct_(tuning.direct.value_or(
          pool.device().properties().kind == DeviceKind::remote ? kRemoteDirect : kDirect)),
      may_look_(pool.device().properties().kind == DeviceKind::cuda &&
                usable_cpus() > tuning.threads),
      upload_through_slot_(through_slot(pool.device(), tuning, kUploadThroughSlot)),
      download_through_slot_(through_slot(pool.device(), tuning, kDownloadThroughSlot)),
      pumped_(pumped_up_to(pool.device(), tuning, kPumped)),
      pumped_of_file_(pumped_up_to(pool.device(), tuning, kPumpedOfFile)),
      owner_(::getpid()),
      uploaders_(tuning.threads - 1),
      downloaders_(tuning.threads - 1),
      kits_(std::make_unique<PumpKits>(pool, tuning.threads)) {}

Transfer::~Transfer() = default;

Status Transfer::upload(const HostSource& from, View<std::byte> to,
                        const TransferRequest& request) {
  if (Status possible = check(to.device); !possible) return possible;
  const Result<std::shared_ptr<HostReader>> reader = open_source(from, to.size, request.stop);
  if (!reader) return tl::unexpected(reader.error());
  if (to.size == 0) return {};
  const auto* const memory = std::get_if<std::span<const std::byte>>(&from);
  if (memory != nullptr && !request.enqueued) {
    if (auto lane = lane_for_small(to.size, upload_through_slot_)) {
      return run_small(std::move(lane), to.size, request,
                       [&](TransferLane& own) { return upload_small(own, *memory, to.data); });
    }
    if (is_pinned(memory->data(), to.size)) {
      return copy(memory->data(), to.data, to.size, uploaders_, request);
    }
  }
  std::optional<BothWays::Going> going;
  if (to.size > tuning_.pumped_both_ways) going.emplace(both_ways_, BothWays::Direction::up);
  const uint64_t pumped =
      pumped_now(std::holds_alternative<HostFile>(from) ? pumped_of_file_ : pumped_);
  if (to.size <= pumped && !request.enqueued && (*reader)->is_random_access() &&
      !(*reader)->wants_large_reads()) {
    const std::optional<Status> done = pump(reader->get(), nullptr, to.data, to.size, request);
    if (done) return *done;
  }
  if (memory != nullptr && !request.enqueued && to.size <= direct_) {
    return copy(memory->data(), to.data, to.size, uploaders_, request);
  }
  const auto in_one_piece = [&](uint64_t offset, size_t size, Stream&) {
    return std::optional(to.subview(offset, size));
  };
  const bool one_stream = tuning_.one_stream.value_or(request.enqueued != nullptr);
  return run_upload(**reader, to.size, in_one_piece, request, one_stream);
}

Status Transfer::upload_placed(const HostSource& from, uint64_t size, const Placement& placement,
                               const TransferRequest& request) {
  if (Status possible = check(&pool_.device()); !possible) return possible;
  const Result<std::shared_ptr<HostReader>> reader = open_source(from, size, request.stop);
  if (!reader) return tl::unexpected(reader.error());
  if (size == 0) return {};
  return run_upload(**reader, size, placement, request, tuning_.one_stream.value_or(true));
}

Status Transfer::run_upload(HostReader& reader, uint64_t size, const Placement& placement,
                            const TransferRequest& request, bool one_stream) {
  const int lanes = reader.is_random_access() ? lanes_for(size, tuning_.smallest_chunk) : 1;
  Chunks chunks(size, tuning_.smallest_chunk, tuning_.largest_chunk, lanes);
  UploadJob job(request, chunks, reader, placement);
  return run(job, request, uploaders_, lanes, one_stream);
}

Status Transfer::upload_decoded(const HostSource& from, uint64_t size, size_t chunk,
                                const Decode& decode, const TransferRequest& request) {
  if (Status possible = check(&pool_.device()); !possible) return possible;
  if (chunk == 0 || chunk > tuning_.largest_chunk) {
    return fail(ErrorCode::invalid_argument, fmt::format("chunks of {} bytes: 1 to {} (transfer)",
                                                         chunk, tuning_.largest_chunk));
  }
  const Result<std::shared_ptr<HostReader>> reader = open_source(from, size, request.stop);
  if (!reader) return tl::unexpected(reader.error());
  if (size == 0) return {};
  const int lanes = (*reader)->is_random_access() ? lanes_for(size, chunk) : 1;
  Chunks chunks(size, chunk, chunk, lanes);
  DecodeJob job(request, chunks, **reader, chunk, decode);
  // Streams of their own, so that chunks are copied while others are decoded.
  return run(job, request, uploaders_, lanes, /*one_stream=*/false);
}

Status Transfer::download(View<const std::byte> from, const HostSink& to,
                          const TransferRequest& request) {
  if (Status possible = check(from.device); !possible) return possible;
  const Result<std::shared_ptr<HostWriter>> writer = open_sink(to, from.size, request.stop);
  if (!writer) return tl::unexpected(writer.error());
  if (from.size == 0) return {};
  const auto* const memory = std::get_if<std::span<std::byte>>(&to);
  if (memory != nullptr) {
    if (auto lane = lane_for_small(from.size, download_through_slot_)) {
      return run_small(std::move(lane), from.size, request,
                       [&](TransferLane& own) { return download_small(own, from.data, *memory); });
    }
    if (is_pinned(memory->data(), from.size)) {
      return copy(from.data, memory->data(), from.size, downloaders_, request);
    }
  }
  std::optional<BothWays::Going> going;
  if (from.size > tuning_.pumped_both_ways) going.emplace(both_ways_, BothWays::Direction::down);
  if (from.size <= pumped_now(pumped_) && (*writer)->is_random_access()) {
    auto* const source = const_cast<std::byte*>(from.data);  // which a pump to the host only reads
    const std::optional<Status> done = pump(nullptr, writer->get(), source, from.size, request);
    if (done) return *done;
  }
  if (memory != nullptr && from.size <= direct_) {
    return copy(from.data, memory->data(), from.size, downloaders_, request);
  }
  const int lanes =
      (*writer)->is_random_access() ? lanes_for(from.size, tuning_.smallest_chunk) : 1;
  Chunks chunks(from.size, tuning_.smallest_chunk, tuning_.largest_chunk, lanes);
  DownloadJob job(request, chunks, from.data, **writer);
  return run(job, request, downloaders_, lanes, tuning_.one_stream.value_or(true));
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

int Transfer::lanes_for(uint64_t size, size_t chunk) const {
  const uint64_t chunks = (size + chunk - 1) / chunk;
  return static_cast<int>(std::min(chunks, static_cast<uint64_t>(tuning_.threads)));
}

bool Transfer::is_pinned(const void* memory, uint64_t size) const {
  // The driver's own copy asks for itself.
  if (size <= kPumpedFrom && size <= direct_) return false;
  return pool_.device().is_pinned(memory, size);
}

bool Transfer::may_pump(const void* memory, uint64_t size) const {
  constexpr uintptr_t kAligned = 16;
  return size > kPumpedFrom && reinterpret_cast<uintptr_t>(memory) % kAligned == 0 &&
         copying_ == 0;  // the two ways of moving bytes hinder each other
}

uint64_t Transfer::pumped_now(uint64_t pumped) const {
  return both_ways_.lately() ? std::min(pumped, tuning_.pumped_both_ways) : pumped;
}

std::optional<Status> Transfer::pump(HostReader* from, HostWriter* to, std::byte* memory,
                                     uint64_t size, const TransferRequest& request) {
  if (request.device_computes || !may_pump(memory, size)) return std::nullopt;
  std::unique_ptr<PumpKit> kit = kits_->borrow(size);
  if (kit == nullptr) return std::nullopt;
  const PumpShape shape = pump_shape(size, tuning_.threads);
  if (!kit->start(memory, from != nullptr, shape, request.after)) {
    kits_->leave_alone(PumpKits::kForGood);
    return std::nullopt;
  }
  Chunks chunks(size, shape.piece, shape.piece, shape.lanes);
  PumpedJob job(request, chunks, pool_.device(), *kit, from, to);
  if (to != nullptr) job.post_first();
  // Lanes that wait for the device's end would be busy looking.
  if (request.after != nullptr) {
    if (Status ready = request.after->synchronize(); !ready) job.fail(ready.error());
  }
  if (may_look_) job.look_until(std::chrono::steady_clock::now() + tuning_.look);
  (from != nullptr ? uploaders_ : downloaders_).run(shape.lanes, [&](int lane) { job.run(lane); });
  job.finish_others();
  if (kit->was_blocked()) kits_->leave_alone(PumpKits::kForGood);
  if (!job.has_failed() && job.was_late()) kits_->leave_alone(kBusyTransfers);
  if (Status ended = kit->end(); !ended) {
    job.fail(ended.error());
  } else {
    kits_->give_back(std::move(kit));
  }
  return job.result();
}

Status Transfer::copy(const std::byte* from, std::byte* to, uint64_t size, Crew& crew,
                      const TransferRequest& request) {
  if (size > tuning_.pinned_chunk) {
    Chunks chunks(size, tuning_.pinned_chunk, tuning_.pinned_chunk, 1);
    PinnedJob job(request, chunks, from, to);
    return run(job, request, crew, 1, true);
  }
  if (request.stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped (transfer)");
  if (request.after != nullptr) {
    if (Status ready = request.after->synchronize(); !ready) return ready;
  }
  Status done = pool_.device().copy(to, from, size, {});
  if (done && request.progress != nullptr) *request.progress += size;
  return done;
}

std::unique_ptr<TransferLane> Transfer::lane_for_small(uint64_t size, size_t most) {
  if (size > most) return nullptr;
  if (std::unique_ptr<TransferLane> idle = take_idle()) return idle;
  if (small_copies_.fetch_add(1, std::memory_order_relaxed) < kFewCopies) return nullptr;
  small_copies_ = 0;  // a lane for each thread that makes many, and no attempt for each copy
  if (small_lanes_ >= tuning_.threads) return nullptr;
  Result<std::unique_ptr<TransferLane>> made = TransferLane::create(pool_, tuning_);
  if (!made) return nullptr;
  ++small_lanes_;
  return std::move(*made);
}

bool Transfer::needs_slot(TransferLane& lane, std::span<const std::byte> memory) const {
  if (memory.size() <= kNotWorthAsking) return true;
  const std::byte* const known = lane.pinned.data();
  if (memory.data() == known && memory.size() <= lane.pinned.size()) return false;
  if (!pool_.device().is_pinned(memory.data(), memory.size())) return true;
  lane.pinned = memory;
  return false;
}

Status Transfer::upload_small(TransferLane& lane, std::span<const std::byte> from, std::byte* to) {
  if (needs_slot(lane, from)) {
    std::byte* const slot = lane.slots.front().host.data();
    std::memcpy(slot, from.data(), from.size());
    from = {slot, from.size()};
  }
  Status copied = lane.stream.copy(to, from.data(), from.size());
  return copied ? lane.stream.synchronize() : copied;
}

Status Transfer::download_small(TransferLane& lane, const std::byte* from,
                                std::span<std::byte> to) {
  const bool through_slot = needs_slot(lane, to);
  std::byte* const first = through_slot ? lane.slots.front().host.data() : to.data();
  Status copied = lane.stream.copy(first, from, to.size());
  if (copied) copied = lane.stream.synchronize();
  if (copied && through_slot) std::memcpy(to.data(), first, to.size());
  return copied;
}

// `copy` returns when it is done with the lane, or with an error.
template <typename Copy>
Status Transfer::run_small(std::unique_ptr<TransferLane> lane, uint64_t size,
                           const TransferRequest& request, const Copy& copy) {
  Status done;
  if (request.stop.stop_requested()) {
    done = fail(ErrorCode::cancelled, "stopped (transfer)");
  } else {
    if (request.after != nullptr) done = request.after->synchronize();
    if (done) done = copy(*lane);
  }
  if (done && request.progress != nullptr) *request.progress += size;
  if (done || lane->settle(lane->stream)) return_lane(std::move(lane));
  return done;
}

Status Transfer::run(TransferJob& job, const TransferRequest& request, Crew& crew, int lanes,
                     bool one_stream) {
  Result<std::unique_ptr<TransferLane>> own = borrow_lane();
  if (!own) return tl::unexpected(own.error());
  if (one_stream) {
    job.share((*own)->stream);
  } else if (request.after != nullptr) {
    // Not on their streams: copies that wait on four or more keep all others of the process from
    // the device, those that the event is behind among them.
    if (Status ready = request.after->synchronize(); !ready) job.fail(ready.error());
  }
  if (may_look_) job.look_until(std::chrono::steady_clock::now() + tuning_.look);
  bool sound = true;
  ++copying_;
  crew.run(lanes, [&](int number) {
    if (number == 0) {
      sound = job.run(**own);
    } else {
      help(job);
    }
  });
  --copying_;
  if (sound) return_lane(std::move(*own));
  return job.result();
}

void Transfer::help(TransferJob& job) {
  Result<std::unique_ptr<TransferLane>> lane = borrow_lane();
  if (lane) {
    if (job.run(**lane)) return_lane(std::move(*lane));
  } else if (lane.error().code != ErrorCode::exhausted) {  // the others' lanes are enough
    job.fail(lane.error());
  }
}

std::unique_ptr<TransferLane> Transfer::take_idle() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return nullptr;
  std::unique_ptr<TransferLane> lane = std::move(idle_.back());
  idle_.pop_back();
  return lane;
}

Result<std::unique_ptr<TransferLane>> Transfer::borrow_lane() {
  if (std::unique_ptr<TransferLane> idle = take_idle()) return idle;
  Result<std::unique_ptr<TransferLane>> made = TransferLane::create(pool_, tuning_);
  const bool is_short = !made && made.error().code == ErrorCode::exhausted;
  return is_short && kits_->drop_idle() ? TransferLane::create(pool_, tuning_) : std::move(made);
}

void Transfer::return_lane(std::unique_ptr<TransferLane> lane) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(lane));
}

}  // namespace hoist::device
