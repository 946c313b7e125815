#include "tensors/gpu/load_run.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "base/quiet_thread.h"

namespace hoist::tensors {

double quality_of(const HoloTensor& tensor, size_t parts) {
  if (tensor.description.encoding == HolographicEncoding::lossless) return 1;
  std::vector<size_t> numbers(parts);
  std::iota(numbers.begin(), numbers.end(), 0);
  return tensor.description.curve.quality(numbers);
}

namespace {

// At the ring's end there may be room that no part fits in.
constexpr uint64_t kWorthSkipping = 64 << 10;
// A copy that has to wait for decoding looks so often whether the load has failed meanwhile.
constexpr auto kPatience = std::chrono::milliseconds(5);

}  // namespace

LoadRun::LoadRun(const HoloTensorReader& file, const LoadOptions& options, const PackedPlan& plan,
                 device::Span<std::byte> ring, const DeviceModel& model)
    : file_(file), options_(options), plan_(plan), ring_(ring), model_(model) {
  for (const PackedRegion& region : plan.regions()) {
    arrivals_.push_back({region.end - region.begin, {}, {}});
  }
}

LoadRun::~LoadRun() {
  join();
  if (compute_) (void)compute_->synchronize();
}

Status LoadRun::start(MakeDecoder make_decoder) {
  Result<device::Stream> stream = device::Stream::create(*ring_.device);
  if (!stream) return stream.error();
  compute_.emplace(std::move(*stream));
  for (Arrival& arrival : arrivals_) {
    Result<device::Event> event = device::Event::create(*ring_.device);
    if (!event) return event.error();
    arrival.events.push_back(std::move(*event));
  }
  auto decoding =
      start_quiet_thread([this, make = std::move(make_decoder)] { decode_regions(make); });
  if (!decoding) return decoding.error();
  decoding_ = std::move(*decoding);
  auto telling = start_quiet_thread([this] { tell(); });
  if (!telling) return telling.error();
  telling_ = std::move(*telling);
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
  if (error_) return *error_;
  return {};
}

Result<std::optional<device::Span<std::byte>>> LoadRun::place(uint64_t offset, size_t size,
                                                              device::Stream& stream) {
  const std::vector<PackedShard>& shards = plan_.shards();
  auto shard =
      std::upper_bound(shards.begin(), shards.end(), offset,
                       [](uint64_t at, const PackedShard& s) { return at < s.arena + s.bytes; });
  const auto begin_of = [&](auto at) {
    return at == shards.end() ? plan_.arena_bytes() : at->arena;
  };
  // As far as there is little between a shard and the next.
  uint64_t end = offset;
  while (end < offset + size && begin_of(shard) < end + kWorthSkipping) {
    end = shard == shards.end() ? offset + size : shard->arena + shard->bytes;
    if (shard != shards.end()) ++shard;
  }
  if (end == offset) {
    const uint64_t skipped = std::min<uint64_t>(size, begin_of(shard) - offset);
    return device::Span<std::byte>{nullptr, skipped, ring_.device};
  }
  size = std::min<uint64_t>(size, end - offset);
  size = std::min<uint64_t>(size, plan_.ring_bytes() - plan_.in_ring(offset));
  const device::Span<std::byte> place = {at(offset), size, ring_.device};
  if (offset + size <= plan_.ring_bytes()) return place;  // the first turn
  const uint64_t overwritten = offset + size - plan_.ring_bytes();
  const auto is_free = [&](const Freed& freed) { return freed.before >= overwritten; };
  std::unique_lock lock(freed_mutex_);
  const bool is_in_time = freed_more_.wait_for(
      lock, kPatience, [&] { return !freed_.empty() && is_free(freed_.back()); });
  if (!is_in_time) {
    if (Status good = noted(); !good) return good.error();
    return std::nullopt;
  }
  const auto freed = std::find_if(freed_.begin(), freed_.end(), is_free);
  if (Status ordered = stream.wait(freed->event); !ordered) {
    return ordered.error();
  }
  return place;
}

Status LoadRun::free_behind(const PackedRegion& region) {
  if (plan_.ring_bytes() == plan_.arena_bytes()) return {};
  Result<device::Event> event = device::Event::create(compute_->device());
  if (!event) return event.error();
  if (Status recorded = event->record(*compute_); !recorded) return recorded;
  {
    const std::lock_guard lock(freed_mutex_);
    freed_.push_back({region.free_before, std::move(*event)});
  }
  freed_more_.notify_all();
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
  // In order: a tensor's parts may lie in all regions up to the one that completes it.
  for (; next_ < regions.size() && arrivals_[next_].missing == 0; ++next_) {
    Arrival& arrival = arrivals_[next_];
    Arrived arrived{&regions[next_], std::move(arrival.events)};
    while (arrived.copies.size() < arrival.streams.size()) {
      Result<device::Event> event = device::Event::create(*ring_.device);
      if (!event) return event.error();
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

void LoadRun::decode_regions(const MakeDecoder& make_decoder) {
  Result<std::unique_ptr<PartDecoder>> decoder = make_decoder();
  if (decoder) {
    decoder_ = *std::move(decoder);
  } else {
    note(decoder.error());
  }
  while (const std::optional<Arrived> arrived = arrived_.take()) {
    if (noted()) note(decode(*arrived));
  }
}

std::vector<PartTask> LoadRun::tasks(const PackedRegion& region) const {
  std::vector<PartTask> tasks;
  for (const ReadyTensor& ready : region.ready) {
    const HoloTensor& tensor = file_.header().tensors[ready.tensor];
    const device::Span<std::byte>& out = model_.tensors[ready.tensor].data;
    PartTask& task = tasks.emplace_back();
    task.tensor = ready.tensor;
    task.out = {out.data, out.size};
    for (size_t part = 0; part < ready.parts; ++part) {
      task.parts.emplace_back(at(plan_.part(ready.tensor, part)), tensor.parts[part].bytes);
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
      pieces.push_back({at(shard.arena), shard.bytes, file_.header().checksums[shard.shard]});
    }
    status = decoder_->check(shards, pieces, *compute_);
  }
  if (status) status = decoder_->decode(tasks(region), *compute_);
  if (status) status = decoder_->collect(*compute_);
  if (status) status = free_behind(region);
  if (!status) return status;
  Result<device::Event> done = device::Event::create(compute_->device());
  if (!done) return done.error();
  if (Status recorded = done->record(*compute_); !recorded) return recorded;
  decoded_.give({&region, std::move(*done)});
  return {};
}

bool LoadRun::is_damaged(const ReadyTensor& ready) const {
  if (decoder_->is_corrupt(ready.tensor)) return true;
  for (size_t part = 0; part < ready.parts; ++part) {
    const size_t stream = file_.layout().part_stream(ready.tensor, part);
    for (const StreamPiece& piece : file_.layout().pieces(stream)) {
      if (decoder_->is_wrong(piece.shard)) return true;
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
      DeviceTensor tensor = model_.tensors[ready.tensor];
      tensor.parts = ready.parts;
      tensor.quality = quality_of(file_.header().tensors[ready.tensor], ready.parts);
      options_.on_tensor(tensor);
    }
  }
  return {};
}

Result<std::vector<size_t>> LoadRun::finish() {
  join();
  if (Status done = compute_->synchronize(); !done) return done.error();
  if (Status good = noted(); !good) return good.error();
  return std::vector<size_t>(damaged_.begin(), damaged_.end());
}

}  // namespace hoist::tensors
