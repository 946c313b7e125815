#include "device/relay_kit.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace hoist::device {
namespace {

// Kits that are kept: two transfers in each direction.
constexpr size_t kMostIdle = 4;

// A ring is no smaller for the transfers beside it: enough to keep the engine busy by turns.
constexpr size_t kLeastBeside = size_t{8} << 20;

}  // namespace

Result<std::unique_ptr<RelayKit>> RelayKit::create(PinnedPool& pool, size_t chunks) {
  std::unique_ptr<RelayKit> kit(new RelayKit);
  constexpr size_t kEach = kStreams;
  Result<Fences> fences = Fences::create(pool, (chunks + kEach - 1) / kEach * kEach);
  if (!fences) return fences.error();
  kit->words_ = std::move(fences->words);
  for (Fence& fence : fences->list) kit->chunks_.push_back({std::move(fence), 0, 0, {}});
  for (int i = 0; i < kStreams; ++i) {
    Result<Stream> stream = Stream::create(pool.device());
    if (!stream) return stream.error();
    kit->streams_.push_back(std::move(*stream));
  }
  return kit;
}

Status RelayKit::make_ring(PinnedPool& pool, size_t size) {
  Result<PinnedBlock> block = pool.allocate(size);
  if (!block) return block.error();
  ring_ = std::move(*block);
  return {};
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

LentKit::LentKit(RelayKits& kits) : kits_(&kits), others_(kits.lent_++) {}

LentKit& LentKit::operator=(LentKit&& other) noexcept {
  std::swap(kits_, other.kits_);
  std::swap(kit_, other.kit_);
  return *this;
}

LentKit::~LentKit() {
  if (kits_ != nullptr) --kits_->lent_;
}

void LentKit::put_back() { kits_->idle_.put(std::move(kit_), kMostIdle); }

Result<LentKit> RelayKits::borrow(uint64_t size, size_t piece, Direction direction) {
  LentKit lent(*this);
  Result<std::unique_ptr<RelayKit>> kit = find(size, piece, direction, lent.others_);
  if (!kit) return kit.error();
  lent.kit_ = std::move(*kit);
  return lent;
}

Result<std::unique_ptr<RelayKit>> RelayKits::find(uint64_t size, size_t piece, Direction direction,
                                                  int others) {
  // Two at once are the two directions.
  const size_t most = std::max(ring_ >> std::min(others / 2, 8), std::min(ring_, kLeastBeside));
  const size_t wanted =
      std::max<size_t>(std::min(std::bit_ceil(std::min<uint64_t>(size, most)), most), piece);
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
  std::unique_ptr<RelayKit> small = idle_.take_greatest(
      [](const RelayKit& a, const RelayKit& b) { return a.ring().size() < b.ring().size(); });
  const size_t there = small != nullptr ? small->ring().size() : 0;
  if (there >= piece && to_skip_ > 0 && to_skip_-- > 0) return small;
  Result<std::unique_ptr<RelayKit>> made = RelayKit::create(pool_, chunks_);
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
