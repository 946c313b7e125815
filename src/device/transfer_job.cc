#include "device/transfer_job.h"

#include <fmt/core.h>

#include <cstring>
#include <utility>

#include "device/fine_timer.h"

namespace hoist::device {
namespace {

constexpr size_t kLine = 64;  // bytes; each fence is looked at by one thread

// Returns memory that the stream's work may still use, for when that is done: a hoistd that was
// stopped may go on. A device that was lost will not.
void give_up(PinnedBlock& block, Stream& stream) {
  Result<Event> event = Event::create(stream.device());
  if (event && event->record(stream)) {
    block.release_after(std::move(*event));
  } else {
    block.abandon();
  }
}

}  // namespace

Result<std::unique_ptr<TransferLane>> TransferLane::create(PinnedPool& pool,
                                                           const TransferTuning& tuning) {
  Result<Stream> stream = Stream::create(pool.device());
  if (!stream) return tl::unexpected(stream.error());
  Result<PinnedBlock> words = pool.allocate(static_cast<size_t>(tuning.slots) * kLine);
  if (!words) return tl::unexpected(words.error());
  std::memset(words->data(), 0, words->size());
  std::vector<TransferSlot> slots;
  for (int i = 0; i < tuning.slots; ++i) {
    Result<PinnedBlock> block = pool.allocate(tuning.largest_chunk);
    if (!block) return tl::unexpected(block.error());
    std::byte* const word = words->data() + static_cast<size_t>(i) * kLine;
    Result<Fence> fence = Fence::create(pool.device(), reinterpret_cast<uint32_t*>(word));
    if (!fence) return tl::unexpected(fence.error());
    slots.push_back({std::move(*block), std::move(*fence), {}, false, {}});
  }
  return std::unique_ptr<TransferLane>(
      new TransferLane{std::move(*stream), std::move(*words), std::move(slots)});
}

bool TransferLane::settle(Stream& used) {
  const Status settled = used.synchronize();
  for (TransferSlot& slot : slots) {
    slot.busy = false;
    if (!settled) give_up(slot.host, used);
  }
  if (!settled) give_up(words, used);
  return settled.has_value();
}

bool TransferJob::run(TransferLane& lane) {
  const FineTimer timer;
  Stream& stream = shared_ != nullptr ? *shared_ : lane.stream;
  Status status = work(lane, stream);
  // A fence says that its turn came; what went wrong before it is the stream's to tell.
  if (status) status = stream.synchronize();
  if (status) return true;
  fail(status.error());
  return lane.settle(stream);
}

Status TransferJob::work(TransferLane& lane, Stream& stream) {
  if (request().after != nullptr && shared_ != nullptr) {
    if (Status ordered = stream.wait(*request().after); !ordered) return ordered;
  }
  size_t turn = 0;
  const auto next_slot = [&]() -> TransferSlot& { return lane.slots[turn++ % lane.slots.size()]; };
  while (const std::optional<Chunk> chunk = take()) {
    TransferSlot& slot = next_slot();
    Status status = finish(slot);
    if (status) status = begin(stream, slot, *chunk);
    if (status && request().enqueued)
      status = request().enqueued(chunk->offset, chunk->size, stream);
    if (status) status = slot.fence.record(stream);
    if (!status) return status;
    slot.chunk = *chunk;
    slot.busy = true;
  }
  for (size_t i = 0; i < lane.slots.size(); ++i) {  // the oldest first
    if (Status status = finish(next_slot()); !status) return status;
  }
  return {};
}

Status TransferJob::finish(TransferSlot& slot) {
  if (!slot.busy) return {};
  if (Status status = slot.fence.wait(look_until_); !status) return status;
  slot.busy = false;
  if (has_failed()) return {};  // nobody wants the rest
  if (Status status = end(slot); !status) return status;
  arrived(slot.chunk.size);
  return {};
}

Status UploadJob::begin(Stream& stream, TransferSlot& slot, Chunk chunk) {
  if (Status got = from_.read(chunk.offset, {slot.host.data(), chunk.size}); !got) return got;
  for (size_t done = 0; done < chunk.size;) {
    const auto place = placement_(chunk.offset + done, chunk.size - done, stream);
    if (!place) return tl::unexpected(place.error());
    if (!*place) {
      if (is_over()) return hoist::fail(ErrorCode::cancelled, "stopped (transfer)");
      continue;
    }
    const View<std::byte>& to = **place;
    if (to.size == 0 || to.size > chunk.size - done || to.device != &stream.device()) {
      return hoist::fail(ErrorCode::invalid_argument,
                         fmt::format("a place of {} bytes for {}, or on another device (transfer)",
                                     to.size, chunk.size - done));
    }
    if (to.data != nullptr) {
      Status copied = stream.copy(to.data, slot.host.data() + done, to.size);
      if (!copied) return copied;
    }
    done += to.size;
  }
  return {};
}

Status DecodeJob::begin(Stream& stream, TransferSlot& slot, Chunk chunk) {
  if (slot.staged.size() < chunk_) {
    slot.staged = {};  // not both at once
    Result<Buffer> staged = Buffer::allocate(stream, chunk_);
    if (!staged) return tl::unexpected(staged.error());
    slot.staged = std::move(*staged);
  }
  if (Status got = from_.read(chunk.offset, {slot.host.data(), chunk.size}); !got) return got;
  Status status = stream.copy(slot.staged.data(), slot.host.data(), chunk.size);
  if (!status) return status;
  return decode_(slot.staged.view<const std::byte>().subview(0, chunk.size), chunk.offset, stream);
}

Status DownloadJob::begin(Stream& stream, TransferSlot& slot, Chunk chunk) {
  return stream.copy(slot.host.data(), from_ + chunk.offset, chunk.size);
}

Status DownloadJob::end(TransferSlot& slot) {
  return to_.write(slot.chunk.offset, {slot.host.data(), slot.chunk.size});
}

Status PinnedJob::begin(Stream& stream, TransferSlot& slot, Chunk chunk) {
  return stream.copy(to_ + chunk.offset, from_ + chunk.offset, chunk.size);
}

}  // namespace hoist::device
