#include "match/gpu/device_blocks.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "device/stream.h"
#include "match/gpu/block_enqueue.h"
#include "match/gpu/block_walk.h"

namespace hoist::match {
namespace {

// Limits of a launch, so that it is short and a call can be cancelled between two: patterns, and
// pairs of positions in all of their first windows.
constexpr uint64_t kLaunchPatterns = 1 << 18;
constexpr uint64_t kLaunchCells = uint64_t{1} << 34;
constexpr uint64_t kLeastPatterns = 1 << 10;

template <typename T>
uint64_t append(std::span<const T> values, std::vector<std::byte>& bytes) {
  const uint64_t at = bytes.size();
  bytes.resize(at + values.size_bytes());
  if (!values.empty()) std::memcpy(bytes.data() + at, values.data(), values.size_bytes());
  return at;
}

}  // namespace

// What one part of the segment does for a call. The stream is the last to be made and the first to
// go; no work is on it then.
struct DeviceBlocks::PartWork {
  explicit PartWork(const SegmentPart& part) : part(&part) {}
  PartWork(PartWork&&) = default;
  PartWork& operator=(PartWork&&) = default;
  ~PartWork() {
    if (stream) (void)stream->synchronize();
  }

  const SegmentPart* part;
  std::span<const uint32_t> patterns;
  std::span<BlockSummary> found;  // of each
  // Where several parts are dealt to: what the spans are of, and the places in the caller's list.
  std::vector<uint32_t> own_patterns;
  std::vector<uint32_t> places;
  std::vector<BlockSummary> own_found;
  std::vector<std::byte> sent;
  BlockJob job = {};
  std::optional<device::Stream> stream;
  device::Buffer sent_there;
  device::Buffer found_there;
};

Status DeviceBlocks::failed(const PartWork& work, const Status& status) {
  if (!status) failed_ = work.part->device.get();
  return status;
}

std::vector<DeviceBlocks::PartWork> DeviceBlocks::deal(std::span<const uint32_t> patterns,
                                                       std::span<BlockSummary> summaries) const {
  std::vector<PartWork> works;
  std::vector<uint32_t> first_patterns;
  for (const SegmentPart& part : on_devices_.parts()) {
    if (part.runs.empty()) continue;
    works.emplace_back(part);
    first_patterns.push_back(part.runs.front().first_pattern);
  }
  if (patterns.empty()) return {};
  if (works.size() == 1) {
    works.front().patterns = patterns;
    works.front().found = summaries;
    return works;
  }
  for (uint32_t place = 0; place < patterns.size(); ++place) {
    const auto after =
        std::upper_bound(first_patterns.begin(), first_patterns.end(), patterns[place]);
    PartWork& work = works[static_cast<size_t>(after - first_patterns.begin() - 1)];
    work.own_patterns.push_back(patterns[place]);
    work.places.push_back(place);
  }
  std::erase_if(works, [](const PartWork& work) { return work.own_patterns.empty(); });
  for (PartWork& work : works) {
    work.own_found.resize(work.own_patterns.size());
    work.patterns = work.own_patterns;
    work.found = work.own_found;
  }
  return works;
}

Status DeviceBlocks::begin(std::span<const uint32_t> state, PartWork& work) const {
  auto stream = device::Stream::create(work.part->device->device);
  if (!stream) return stream.error();
  work.stream.emplace(std::move(*stream));
  append(std::span<const ScanRun>(work.part->runs), work.sent);
  const uint64_t state_at = append(state, work.sent);
  const uint64_t patterns_at = append(work.patterns, work.sent);
  auto there = device::Buffer::allocate(*work.stream, work.sent.size());
  if (!there) return there.error();
  work.sent_there = std::move(*there);
  auto found = device::Buffer::allocate(*work.stream, work.found.size() * sizeof(BlockSummary));
  if (!found) return found.error();
  work.found_there = std::move(*found);
  auto* const base = static_cast<std::byte*>(work.sent_there.data());
  work.job = {.symbols = work.part->symbols.data(),
              .is_wide = on_devices_.is_wide() ? 1u : 0u,
              .runs = reinterpret_cast<const ScanRun*>(base),
              .run_count = static_cast<uint32_t>(work.part->runs.size()),
              .state = reinterpret_cast<const uint32_t*>(base + state_at),
              .state_length = static_cast<uint32_t>(state.size()),
              .patterns = reinterpret_cast<const uint32_t*>(base + patterns_at),
              .count = 0,
              .summaries = static_cast<BlockSummary*>(work.found_there.data())};
  return work.stream->copy(base, work.sent.data(), work.sent.size());
}

size_t DeviceBlocks::patterns_of_launch(size_t state_length) const {
  uint64_t longest = 1;
  for (const SegmentPart& part : on_devices_.parts()) {
    for (const ScanRun& run : part.runs) longest = std::max<uint64_t>(longest, run.length);
  }
  const uint64_t cells = std::min(kMostCells, longest * state_length);
  return std::clamp(kLaunchCells / cells, kLeastPatterns, kLaunchPatterns);
}

Status DeviceBlocks::run(std::span<const uint32_t> state, std::span<const uint32_t> patterns,
                         const std::stop_token& stop, std::span<BlockSummary> summaries) {
  std::vector<PartWork> works = deal(patterns, summaries);
  for (PartWork& work : works) {
    if (Status done = failed(work, begin(state, work)); !done) return done;
  }
  const size_t step = patterns_of_launch(state.size());
  for (size_t first = 0; first < patterns.size(); first += step) {
    if (stop.stop_requested()) {
      return fail(ErrorCode::cancelled, "blocks: cancelled");
    }
    for (PartWork& work : works) {
      if (first >= work.patterns.size()) continue;
      BlockJob job = work.job;
      job.patterns += first;
      job.summaries += first;
      job.count = static_cast<uint32_t>(std::min(step, work.patterns.size() - first));
      if (Status done = failed(work, enqueue(*work.stream, job)); !done) return done;
    }
    for (PartWork& work : works) {
      if (Status done = failed(work, work.stream->synchronize()); !done) return done;
    }
  }
  for (PartWork& work : works) {
    Status done = work.stream->copy(work.found.data(), work.found_there.data(),
                                    work.found.size() * sizeof(BlockSummary));
    if (done) done = work.stream->synchronize();
    if (!done) return failed(work, done);
    for (size_t i = 0; i < work.places.size(); ++i) summaries[work.places[i]] = work.found[i];
  }
  return {};
}

}  // namespace hoist::match
