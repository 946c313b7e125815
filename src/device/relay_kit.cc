#include "device/relay_kit.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace hoist::device {
namespace {

constexpr size_t kLine = 64;  // bytes; a fence's word has one to itself

}  // namespace

Result<std::unique_ptr<RelayKit>> RelayKit::create(PinnedPool& pool, size_t ring, int chunks) {
  std::unique_ptr<RelayKit> kit(new RelayKit);
  for (int i = 0; i < kStreams; ++i) {
    Result<Stream> stream = Stream::create(pool.device());
    if (!stream) return tl::unexpected(stream.error());
    kit->streams_.push_back(std::move(*stream));
  }
  Result<PinnedBlock> words = pool.allocate(static_cast<size_t>(chunks) * kLine);
  if (!words) return tl::unexpected(words.error());
  std::memset(words->data(), 0, words->size());
  Result<PinnedBlock> block = pool.allocate(ring);
  if (!block) return tl::unexpected(block.error());
  for (int i = 0; i < chunks; ++i) {
    std::byte* const word = words->data() + static_cast<size_t>(i) * kLine;
    Result<Fence> fence = Fence::create(pool.device(), reinterpret_cast<uint32_t*>(word));
    if (!fence) return tl::unexpected(fence.error());
    kit->chunks_.push_back({std::move(*fence), 0, 0, {}});
  }
  kit->words_ = std::move(*words);
  kit->ring_ = std::move(*block);
  return kit;
}

Status RelayKit::settle(int used) {
  Status settled;
  for (int i = 0; i < used; ++i) {
    Status done = stream(static_cast<size_t>(i)).synchronize();
    if (settled) settled = std::move(done);
  }
  if (settled) return {};
  std::vector<Stream*> streams;
  for (int i = 0; i < used; ++i) streams.push_back(&stream(static_cast<size_t>(i)));
  for (PinnedBlock* const block : {&ring_, &words_}) block->release_behind(streams);
  return settled;
}

std::unique_ptr<RelayKit> RelayKits::take_idle(size_t least, Direction direction) {
  std::unique_ptr<RelayKit> too_small;
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return nullptr;
  const auto same = std::find_if(idle_.begin(), idle_.end(),
                                 [&](const auto& kit) { return kit->direction() == direction; });
  if (same != idle_.end()) std::swap(*same, idle_.back());
  std::unique_ptr<RelayKit> kit = std::move(idle_.back());
  idle_.pop_back();
  if (kit->ring().size() >= least) return kit;
  too_small = std::move(kit);  // a larger one is made in its place
  return nullptr;
}

Result<std::unique_ptr<RelayKit>> RelayKits::borrow(uint64_t size, size_t piece,
                                                    Direction direction) {
  size_t ring = std::bit_ceil(std::min<uint64_t>(size, ring_));
  ring = std::max(std::min(ring, ring_), piece);
  std::unique_ptr<RelayKit> kit = take_idle(ring, direction);
  while (kit == nullptr) {
    Result<std::unique_ptr<RelayKit>> made = RelayKit::create(pool_, ring, chunks_);
    if (made) {
      kit = std::move(*made);
    } else if (made.error().code != ErrorCode::exhausted || ring / 2 < piece) {
      return made;
    }
    ring /= 2;
  }
  kit->direction_ = direction;
  return kit;
}

void RelayKits::give_back(std::unique_ptr<RelayKit> kit) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(kit));
}

bool RelayKits::drop_idle() {
  std::vector<std::unique_ptr<RelayKit>> idle;
  const std::lock_guard lock(mutex_);
  idle_.swap(idle);
  return !idle.empty();
}

}  // namespace hoist::device
