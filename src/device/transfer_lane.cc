#include "device/transfer_lane.h"

#include <array>
#include <cstring>
#include <utility>

#include "device/fine_timer.h"

namespace hoist::device {
namespace {

// To copy so little takes no longer than to ask whether it is pinned.
constexpr size_t kNotWorthAsking = size_t{16} << 10;

}  // namespace

TransferLane::TransferLane(PinnedPool& pool, Stream stream, PinnedBlock slot, Fences fences)
    : pool_(pool), stream_(std::move(stream)), slot_(std::move(slot)), fences_(std::move(fences)) {}

Result<std::unique_ptr<TransferLane>> TransferLane::create(PinnedPool& pool, size_t slot) {
  Result<Stream> stream = Stream::create(pool.device());
  if (!stream) return stream.error();
  Result<PinnedBlock> block = slot > 0 ? pool.allocate(slot) : PinnedBlock();
  if (!block) return block.error();
  Result<Fences> fences = Fences::create(pool, kFences);
  if (!fences) return fences.error();
  return std::unique_ptr<TransferLane>(
      new TransferLane(pool, std::move(*stream), std::move(*block), std::move(*fences)));
}

bool TransferLane::needs_slot(std::span<const std::byte> memory) {
  if (memory.size() <= kNotWorthAsking) return true;
  if (memory.data() == pinned_.data() && memory.size() <= pinned_.size()) return false;
  if (!pool_.device().is_pinned(memory.data(), memory.size())) return true;
  pinned_ = memory;
  return false;
}

Status TransferLane::upload(std::span<const std::byte> from, std::byte* to) {
  if (needs_slot(from)) {
    std::memcpy(slot_.data(), from.data(), from.size());
    from = {slot_.data(), from.size()};
  }
  Status copied = stream_.copy(to, from.data(), from.size());
  return copied ? stream_.synchronize() : copied;
}

Status TransferLane::upload(HostReader& from, size_t size, std::byte* to) {
  if (Status got = from.read(0, {slot_.data(), size}); !got) return got;
  Status copied = stream_.copy(to, slot_.data(), size);
  return copied ? stream_.synchronize() : copied;
}

Status TransferLane::download(const std::byte* from, std::span<std::byte> to) {
  const bool through_slot = needs_slot(to);
  std::byte* const first = through_slot ? slot_.data() : to.data();
  Status copied = stream_.copy(first, from, to.size());
  if (copied) copied = stream_.synchronize();
  if (copied && through_slot) std::memcpy(to.data(), first, to.size());
  return copied;
}

bool TransferLane::settle() {
  if (stream_.synchronize()) return true;
  Stream* const streams[] = {&stream_};
  for (PinnedBlock* const block : {&slot_, &fences_.words}) block->release_behind(streams);
  return false;
}

bool PinnedCopy::run(TransferLane& lane) {
  const FineTimer timer;
  Status status = work(lane);
  if (status) status = lane.stream().synchronize();
  if (status) return true;
  fail(status.error());
  return lane.settle();
}

Status PinnedCopy::work(TransferLane& lane) {
  std::array<size_t, 2> on_their_way = {};
  size_t turn = 0;
  const auto finish = [&](size_t number) -> Status {
    size_t& size = on_their_way[number % 2];
    if (size == 0) return {};
    if (Status done = lane.fence(number).wait({}); !done) return done;
    arrived(std::exchange(size, 0));
    return {};
  };
  for (; const std::optional<Chunk> chunk = take(chunks_); ++turn) {
    if (Status done = finish(turn); !done) return done;
    Status status = lane.stream().copy(to_ + chunk->offset, from_ + chunk->offset, chunk->size);
    if (status) status = lane.fence(turn).record(lane.stream());
    if (!status) return status;
    on_their_way[turn % 2] = chunk->size;
  }
  if (Status done = finish(turn); !done) return done;  // the older one first
  return finish(turn + 1);
}

}  // namespace hoist::device
