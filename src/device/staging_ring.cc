#include "device/staging_ring.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace hoist::device {
namespace {

// Rings that are kept: two transfers in each direction.
constexpr size_t kMostIdle = 4;

// A ring is no smaller for the transfers beside it: enough to keep the engine busy by turns.
constexpr size_t kLeastBeside = size_t{8} << 20;

}  // namespace

Result<std::unique_ptr<StagingRing>> StagingRing::create(PinnedPool& pool, size_t chunks) {
  std::unique_ptr<StagingRing> ring(new StagingRing);
  constexpr size_t kEach = kStreams;
  Result<Fences> fences = Fences::create(pool, (chunks + kEach - 1) / kEach * kEach);
  if (!fences) return fences.error();
  ring->words_ = std::move(fences->words);
  for (Fence& fence : fences->list) ring->chunks_.push_back({std::move(fence), 0, 0, {}});
  for (int i = 0; i < kStreams; ++i) {
    Result<Stream> stream = Stream::create(pool.device());
    if (!stream) return stream.error();
    ring->streams_.push_back(std::move(*stream));
  }
  return ring;
}

Status StagingRing::make_ring(PinnedPool& pool, size_t size) {
  Result<PinnedBlock> block = pool.allocate(size);
  if (!block) return block.error();
  ring_ = std::move(*block);
  return {};
}

Status StagingRing::settle(int used) {
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

LentRing::LentRing(StagingRings& rings) : rings_(&rings), others_(rings.lent_++) {}

LentRing& LentRing::operator=(LentRing&& other) noexcept {
  std::swap(rings_, other.rings_);
  std::swap(ring_, other.ring_);
  return *this;
}

LentRing::~LentRing() {
  if (rings_ != nullptr) --rings_->lent_;
}

void LentRing::put_back() { rings_->idle_.put(std::move(ring_), kMostIdle); }

Result<LentRing> StagingRings::borrow(uint64_t size, size_t piece, Direction direction) {
  LentRing lent(*this);
  Result<std::unique_ptr<StagingRing>> ring = find(size, piece, direction, lent.others_);
  if (!ring) return ring.error();
  lent.ring_ = std::move(*ring);
  return lent;
}

Result<std::unique_ptr<StagingRing>> StagingRings::find(uint64_t size, size_t piece,
                                                        Direction direction, int others) {
  // Two at once are the two directions.
  const size_t most = std::max(ring_ >> std::min(others / 2, 8), std::min(ring_, kLeastBeside));
  const size_t wanted =
      std::max<size_t>(std::min(std::bit_ceil(std::min<uint64_t>(size, most)), most), piece);
  const auto is_enough = [&](const StagingRing& ring) { return ring.bytes().size() >= wanted; };
  std::unique_ptr<StagingRing> ring = idle_.take_if(
      [&](const StagingRing& one) { return one.direction() == direction && is_enough(one); });
  if (ring == nullptr) ring = idle_.take_if(is_enough);
  if (ring == nullptr) {
    Result<std::unique_ptr<StagingRing>> made = make(wanted, piece);
    if (!made) return made;
    ring = std::move(*made);
  }
  ring->direction_ = direction;
  return ring;
}

// Where memory is short: as much as there is, or an idle one.
Result<std::unique_ptr<StagingRing>> StagingRings::make(size_t wanted, size_t piece) {
  std::unique_ptr<StagingRing> small =
      idle_.take_greatest([](const StagingRing& a, const StagingRing& b) {
        return a.bytes().size() < b.bytes().size();
      });
  const size_t there = small != nullptr ? small->bytes().size() : 0;
  if (there >= piece && to_skip_ > 0 && to_skip_-- > 0) return small;
  Result<std::unique_ptr<StagingRing>> made = StagingRing::create(pool_, chunks_);
  if (!made) {
    if (there >= piece) return small;
    return made;
  }
  for (size_t ring = wanted;; ring /= 2) {
    Status done = (*made)->make_ring(pool_, ring);
    if (done) return made;
    if (done.error().code != ErrorCode::exhausted) return done.error();
    to_skip_ = kWithoutMemory;
    if (there >= piece && ring / 2 <= there) return small;
    if (ring / 2 < piece) return done.error();
  }
}

}  // namespace hoist::device
