#include "device/relay_kit.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace hoist::device {

Result<std::unique_ptr<RelayKit>> RelayKit::create(PinnedPool& pool, size_t ring, size_t chunks) {
  std::unique_ptr<RelayKit> kit(new RelayKit);
  Result<PinnedBlock> block = pool.allocate(ring);
  if (!block) return tl::unexpected(block.error());
  kit->ring_ = std::move(*block);
  Result<Fences> fences = Fences::create(pool, chunks);
  if (!fences) return tl::unexpected(fences.error());
  kit->words_ = std::move(fences->words);
  for (Fence& fence : fences->list) kit->chunks_.push_back({std::move(fence), 0, 0, {}});
  for (int i = 0; i < kStreams; ++i) {
    Result<Stream> stream = Stream::create(pool.device());
    if (!stream) return tl::unexpected(stream.error());
    kit->streams_.push_back(std::move(*stream));
  }
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

Result<std::unique_ptr<RelayKit>> RelayKits::borrow(uint64_t size, size_t piece,
                                                    Direction direction) {
  const size_t wanted =
      std::max<size_t>(std::min(std::bit_ceil(std::min<uint64_t>(size, ring_)), ring_), piece);
  const auto is_enough = [&](const RelayKit& kit) { return kit.ring().size() >= wanted; };
  std::unique_ptr<RelayKit> kit = idle_.take_if(
      [&](const RelayKit& one) { return one.direction() == direction && is_enough(one); });
  if (kit == nullptr) kit = idle_.take_if(is_enough);
  if (kit == nullptr) {
    Result<std::unique_ptr<RelayKit>> made = make(wanted, piece);
    if (!made) return made;
    kit = std::move(*made);
  }
  kit->direction_ = direction;
  return kit;
}

// Where memory is short: as much as there is, or an idle one.
Result<std::unique_ptr<RelayKit>> RelayKits::make(size_t wanted, size_t piece) {
  std::unique_ptr<RelayKit> small =
      idle_.take_if([&](const RelayKit& kit) { return kit.ring().size() >= piece; });
  if (small != nullptr && to_skip_ > 0 && to_skip_-- > 0) return small;
  for (size_t ring = wanted;; ring /= 2) {
    Result<std::unique_ptr<RelayKit>> made = RelayKit::create(pool_, ring, chunks_);
    if (made || made.error().code != ErrorCode::exhausted) return made;
    to_skip_ = kWithoutMemory;
    if (small != nullptr && ring / 2 <= small->ring().size()) return small;
    if (ring / 2 < piece) return made;
  }
}

}  // namespace hoist::device
