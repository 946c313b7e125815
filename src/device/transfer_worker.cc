#include "device/transfer_worker.h"

#include <array>
#include <cstring>
#include <utility>

#include "device/fine_timer.h"

namespace hoist::device {
namespace {

// To copy so little takes no longer than to ask whether it is pinned.
constexpr size_t kNotWorthAsking = size_t{16} << 10;

}  // namespace

TransferWorker::TransferWorker(PinnedPool& pool, Stream stream, PinnedBlock slot, Fences fences)
    : pool_(pool), stream_(std::move(stream)), slot_(std::move(slot)), fences_(std::move(fences)) {}

Result<std::unique_ptr<TransferWorker>> TransferWorker::create(PinnedPool& pool, size_t slot) {
  Result<Stream> stream = Stream::create(pool.device());
  if (!stream) return stream.error();
  Result<PinnedBlock> block = slot > 0 ? pool.allocate(slot) : PinnedBlock();
  if (!block) return block.error();
  Result<Fences> fences = Fences::create(pool, kFences);
  if (!fences) return fences.error();
  return std::unique_ptr<TransferWorker>(
      new TransferWorker(pool, std::move(*stream), std::move(*block), std::move(*fences)));
}

bool TransferWorker::needs_slot(std::span<const std::byte> memory) {
  if (memory.size() <= kNotWorthAsking) return true;
  if (memory.data() == pinned_.data() && memory.size() <= pinned_.size()) return false;
  if (!pool_.device().is_pinned(memory.data(), memory.size())) return true;
  pinned_ = memory;
  return false;
}

Status TransferWorker::upload(std::span<const std::byte> from, std::byte* to) {
  if (needs_slot(from)) {
    std::memcpy(slot_.data(), from.data(), from.size());
    from = {slot_.data(), from.size()};
  }
  Status copied = stream_.copy(to, from.data(), from.size());
  return copied ? stream_.synchronize() : copied;
}

Status TransferWorker::upload(HostReader& from, size_t size, std::byte* to) {
  if (Status got = from.read(0, {slot_.data(), size}); !got) return got;
  Status copied = stream_.copy(to, slot_.data(), size);
  return copied ? stream_.synchronize() : copied;
}

Status TransferWorker::download(const std::byte* from, std::span<std::byte> to) {
  const bool through_slot = needs_slot(to);
  std::byte* const first = through_slot ? slot_.data() : to.data();
  Status copied = stream_.copy(first, from, to.size());
  if (copied) copied = stream_.synchronize();
  if (copied && through_slot) std::memcpy(to.data(), first, to.size());
  return copied;
}

bool TransferWorker::settle() {
  if (stream_.synchronize()) return true;
  Stream* const streams[] = {&stream_};
  for (PinnedBlock* const block : {&slot_, &fences_.words}) block->release_behind(streams);
  return false;
}

bool PinnedCopy::run(TransferWorker& worker) {
  const FineTimer timer;
  Status status = work(worker);
  if (status) status = worker.stream().synchronize();
  if (status) return true;
  fail(status.error());
  return worker.settle();
}

Status PinnedCopy::work(TransferWorker& worker) {
  std::array<size_t, 2> on_their_way = {};
  size_t turn = 0;
  const auto finish = [&](size_t number) -> Status {
    size_t& size = on_their_way[number % 2];
    if (size == 0) return {};
    if (Status done = worker.fence(number).wait({}); !done) return done;
    arrived(std::exchange(size, 0));
    return {};
  };
  for (; const std::optional<Chunk> chunk = take(chunks_); ++turn) {
    if (Status done = finish(turn); !done) return done;
    Status status = worker.stream().copy(to_ + chunk->offset, from_ + chunk->offset, chunk->size);
    if (status) status = worker.fence(turn).record(worker.stream());
    if (!status) return status;
    on_their_way[turn % 2] = chunk->size;
  }
  if (Status done = finish(turn); !done) return done;  // the older one first
  return finish(turn + 1);
}

}  // namespace hoist::device
