#include "tensors/gpu/load_run.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hoist::tensors {

double quality_of(const HoloTensor& tensor, size_t parts) {
  if (tensor.description.encoding == HolographicEncoding::lossless) return 1;
  std::vector<size_t> numbers(parts);
  std::iota(numbers.begin(), numbers.end(), 0);
  return tensor.description.curve.quality(numbers);
}

LoadRun::LoadRun(const HoloTensorReader& file, const GpuLoadOptions& options,
                 const PackedPlan& plan, PartDecoder& decoder, device::View<std::byte> arena,
                 const GpuModel& model)
    : file_(file), options_(options), plan_(plan), decoder_(decoder), arena_(arena), model_(model) {
  for (const PackedRegion& region : plan.regions()) {
    arrivals_.push_back({region.end - region.begin, {}, {}});
  }
}

LoadRun::~LoadRun() {
  join();
  if (compute_) (void)compute_->synchronize();
}

Status LoadRun::start() {
  Result<device::Stream> stream = device::Stream::create(*arena_.device);
  if (!stream) return tl::unexpected(stream.error());
  compute_.emplace(std::move(*stream));
  for (Arrival& arrival : arrivals_) {
    Result<device::Event> event = device::Event::create(*arena_.device);
    if (!event) return tl::unexpected(event.error());
    arrival.events.push_back(std::move(*event));
  }
  decoding_ = std::thread([this] { decode_regions(); });
  telling_ = std::thread([this] { tell(); });
  return {};
}

void LoadRun::join() {
  arrived_.close();
  if (decoding_.joinable()) decoding_.join();
  decoded_.close();
  if (telling_.joinable()) telling_.join();
}

void LoadRun::note(const Status& status) {
  const std::lock_guard lock(error_mutex_);
  if (!status && !error_) error_ = status.error();
}

Status LoadRun::noted() {
  const std::lock_guard lock(error_mutex_);
  if (error_) return tl::unexpected(*error_);
  return {};
}

Status LoadRun::take(uint64_t offset, size_t size, device::Stream& stream) {
  const std::vector<PackedRegion>& regions = plan_.regions();
  auto region = std::upper_bound(
      regions.begin(), regions.end(), offset,
      [](uint64_t at, const PackedRegion& candidate) { return at < candidate.end; });
  const std::lock_guard lock(arrivals_mutex_);
  for (; region != regions.end() && region->begin < offset + size; ++region) {
    Arrival& arrival = arrivals_[static_cast<size_t>(region - regions.begin())];
    arrival.streams.insert(&stream);
    arrival.missing -= std::min(offset + size, region->end) - std::max(offset, region->begin);
  }
  // Chunks come in any order, but a tensor's parts may lie in all regions up to the one that
  // completes it.
  for (; next_ < regions.size() && arrivals_[next_].missing == 0; ++next_) {
    Arrival& arrival = arrivals_[next_];
    Arrived arrived{&regions[next_], std::move(arrival.events)};
    while (arrived.copies.size() < arrival.streams.size()) {
      Result<device::Event> event = device::Event::create(*arena_.device);
      if (!event) return tl::unexpected(event.error());
      arrived.copies.push_back(std::move(*event));
    }
    size_t used = 0;
    for (device::Stream* const with_copies : arrival.streams) {
      if (Status done = arrived.copies[used++].record(*with_copies); !done) return done;
    }
    arrived_.give(std::move(arrived));
  }
  return noted();
}

void LoadRun::decode_regions() {
  while (const std::optional<Arrived> arrived = arrived_.take()) {
    if (noted()) note(decode(*arrived));
  }
}

std::vector<PartTask> LoadRun::tasks(const PackedRegion& region) const {
  std::vector<PartTask> tasks;
  for (const ReadyTensor& ready : region.ready) {
    const HoloTensor& tensor = file_.header().tensors[ready.tensor];
    const device::View<std::byte>& out = model_.tensors[ready.tensor].data;
    PartTask& task = tasks.emplace_back();
    task.tensor = ready.tensor;
    task.out = {out.data, out.size};
    for (size_t part = 0; part < ready.parts; ++part) {
      task.parts.emplace_back(arena_.data + plan_.part(ready.tensor, part),
                              tensor.parts[part].bytes);
    }
  }
  return tasks;
}

Status LoadRun::decode(const Arrived& arrived) {
  const PackedRegion& region = *arrived.region;
  for (const device::Event& copy : arrived.copies) {
    if (Status ordered = compute_->wait(copy); !ordered) return ordered;
  }
  Status status;
  if (options_.validate_checksums) {
    std::vector<size_t> shards;
    std::vector<DevicePiece> pieces;
    for (const PackedShard& shard :
         std::span(plan_.shards()).subspan(region.first_shard, region.shards)) {
      shards.push_back(shard.shard);
      pieces.push_back(
          {arena_.data + shard.arena, shard.bytes, file_.header().checksums[shard.shard]});
    }
    status = decoder_.check(shards, pieces, *compute_);
  }
  if (status) status = decoder_.decode(tasks(region), *compute_);
  if (status) status = decoder_.collect(*compute_);
  if (!status) return status;
  Result<device::Event> done = device::Event::create(compute_->device());
  if (!done) return tl::unexpected(done.error());
  if (Status recorded = done->record(*compute_); !recorded) return recorded;
  decoded_.give({&region, std::move(*done)});
  return {};
}

bool LoadRun::is_damaged(const ReadyTensor& ready) const {
  if (decoder_.is_corrupt(ready.tensor)) return true;
  for (size_t part = 0; part < ready.parts; ++part) {
    const size_t stream = file_.layout().part_stream(ready.tensor, part);
    for (const StreamPiece& piece : file_.layout().pieces(stream)) {
      if (decoder_.is_wrong(piece.shard)) return true;
    }
  }
  return false;
}

void LoadRun::tell() {
  while (const std::optional<Decoded> decoded = decoded_.take()) note(tell(*decoded));
}

Status LoadRun::tell(const Decoded& decoded) {
  if (Status done = decoded.done.synchronize(); !done) return done;
  for (const ReadyTensor& ready : decoded.region->ready) {
    if (is_damaged(ready)) {
      damaged_.insert(ready.tensor);
    } else if (options_.on_tensor) {
      GpuTensor tensor = model_.tensors[ready.tensor];
      tensor.parts = ready.parts;
      tensor.quality = quality_of(file_.header().tensors[ready.tensor], ready.parts);
      options_.on_tensor(tensor);
    }
  }
  return {};
}

Result<std::vector<size_t>> LoadRun::finish() {
  join();
  if (Status done = compute_->synchronize(); !done) return tl::unexpected(done.error());
  if (Status good = noted(); !good) return tl::unexpected(good.error());
  return std::vector<size_t>(damaged_.begin(), damaged_.end());
}

}  // namespace hoist::tensors
