#include "match/gpu/scan_workspace.h"

#include <algorithm>
#include <cstring>

#include "device/radix_sort/radix_sort.h"
#include "match/gpu/scan_enqueue.h"

namespace hoist::match {
namespace {

constexpr uint64_t kHeader = 64;           // bytes before the matches
constexpr uint64_t kFetchedAtOnce = 4096;  // matches, sorted on the host

}  // namespace

ScanWorkspace::~ScanWorkspace() {
  if (stream_.synchronize()) return;
  for (Pinned* pinned : {&sent_block_, &output_block_, &bins_block_}) {
    if (pinned->lost) pinned->block.release_after(std::move(*pinned->lost));
  }
}

Status ScanWorkspace::ensure(uint64_t size, device::Buffer& buffer) {
  if (buffer.size() >= size) return {};
  buffer = {};
  auto made = device::Buffer::allocate(device_.device, size);
  if (!made) return made.error();
  buffer = std::move(*made);
  return {};
}

Status ScanWorkspace::ensure(uint64_t size, Pinned& pinned) {
  if (pinned.block.size() >= size) return {};
  pinned = {};
  auto event = device::Event::create(device_.device);
  if (!event) return event.error();
  auto made = device_.pool.allocate(size);
  if (!made) return made.error();
  pinned.block = std::move(*made);
  pinned.lost.emplace(std::move(*event));
  return {};
}

Result<std::unique_ptr<ScanWorkspace>> ScanWorkspace::create(ScanDevice& device,
                                                             const ScanTuning& tuning) {
  auto stream = device::Stream::create(device.device);
  if (!stream) return stream.error();
  std::unique_ptr<ScanWorkspace> made(new ScanWorkspace(device, std::move(*stream), tuning));
  if (Status room = made->make_room(tuning.found_capacity); !room) {
    return room.error();
  }
  return made;
}

Status ScanWorkspace::make_room(uint64_t capacity) {
  capacity_ = 0;
  const uint64_t at_once = kHeader + std::min(capacity, kFetchedAtOnce) * sizeof(uint64_t);
  Status done = ensure(kHeader + capacity * sizeof(uint64_t), output_);
  if (done) done = ensure(at_once, output_block_);
  if (done) capacity_ = capacity;
  return done;
}

Status ScanWorkspace::grow() { return make_room(found_); }

Status ScanWorkspace::send(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};  // nothing can match
  Status done = ensure(bytes.size(), sent_);
  if (done) done = ensure(bytes.size(), sent_block_);
  if (!done) return done;
  std::memcpy(sent_block_.block.data(), bytes.data(), bytes.size());
  return stream_.copy(sent_.data(), sent_block_.block.data(), bytes.size());
}

Status ScanWorkspace::begin(const SegmentPart& part, bool is_wide,
                            std::span<const ScanState> states, Scorer scorer, bool wants_bins) {
  const ScanPlan plan(part.runs, is_wide, states, scorer);
  bin_bytes_ = wants_bins ? states.size() * kScoreBins * sizeof(uint32_t) : 0;
  const uint64_t carry_bytes = plan.carry_bytes(tuning_.carry_bytes);
  Status done = ensure(carry_bytes, carries_);
  if (done) done = ensure(bin_bytes_, bins_);
  if (done) done = ensure(bin_bytes_, bins_block_);
  if (done) done = send(plan.bytes());
  if (done) done = stream_.fill(output_.data(), std::byte{0}, kHeader);
  if (done && wants_bins) done = stream_.fill(bins_.data(), std::byte{0}, bin_bytes_);
  if (done) done = scan(plan, part, scorer);
  const uint64_t at_once = kHeader + std::min(capacity_, kFetchedAtOnce) * sizeof(uint64_t);
  if (done) done = stream_.copy(output_block_.block.data(), output_.data(), at_once);
  if (done && wants_bins) done = stream_.copy(bins_block_.block.data(), bins_.data(), bin_bytes_);
  return done;
}

Status ScanWorkspace::scan(const ScanPlan& plan, const SegmentPart& part, Scorer scorer) {
  const auto* const base = static_cast<const std::byte*>(sent_.data());
  auto* const out = static_cast<std::byte*>(output_.data());
  const ScanOutput output = {
      reinterpret_cast<unsigned long long*>(out), reinterpret_cast<uint64_t*>(out + kHeader),
      capacity_, bin_bytes_ != 0 ? static_cast<uint32_t*>(bins_.data()) : nullptr, base_of(scorer)};
  for (const TileScanJob& job : plan.tile_jobs(base, part.symbols.data(), output)) {
    if (Status done = enqueue(stream_, job); !done) return done;
  }
  const std::span carries(static_cast<uint8_t*>(carries_.data()), carries_.size());
  for (const SequenceScanJob& job :
       plan.sequence_jobs(base, part.symbols.data(), output, carries)) {
    if (Status done = enqueue(stream_, job); !done) return done;
  }
  return {};
}

Result<ScanCounts> ScanWorkspace::finish() {
  if (Status done = stream_.synchronize(); !done) return done.error();
  ScanCounts counts;
  std::memcpy(&counts.found, output_block_.block.data(), sizeof counts.found);
  counts.has_all = counts.found <= capacity_;
  if (bin_bytes_ != 0) {
    counts.bins.resize(bin_bytes_ / sizeof(uint32_t));
    std::memcpy(counts.bins.data(), bins_block_.block.data(), bin_bytes_);
  }
  found_ = counts.found;
  return counts;
}

Status ScanWorkspace::fetch(std::vector<uint64_t>& found) {
  const size_t before = found.size();
  found.resize(before + found_);
  const std::span<uint64_t> fetched = std::span(found).subspan(before);
  if (found_ <= kFetchedAtOnce) {
    if (found_ != 0) {
      std::memcpy(fetched.data(), output_block_.block.data() + kHeader, fetched.size_bytes());
    }
    std::sort(fetched.begin(), fetched.end());
    return {};
  }
  auto scratch = device::Buffer::allocate(stream_, fetched.size_bytes());
  if (!scratch) return scratch.error();
  auto* const data = static_cast<std::byte*>(output_.data()) + kHeader;
  Status done =
      device::radix_sort::enqueue(stream_, {device::radix_sort::Kind::u64, false, data,
                                            static_cast<std::byte*>(scratch->data()), found_});
  if (done) done = stream_.synchronize();
  if (!done) return done;
  const auto sorted = output_.view<const std::byte>().subspan(kHeader, fetched.size_bytes());
  // Other scans go on.
  return device_.transfer.download(sorted, std::as_writable_bytes(fetched),
                                   {.device_computes = true});
}

}  // namespace hoist::match
