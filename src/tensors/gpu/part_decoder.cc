#include "tensors/gpu/part_decoder.h"

#include <fmt/format.h>

#include <atomic>
#include <map>
#include <optional>
#include <utility>

#include "base/checksum.h"
#include "base/threads.h"
#include "tensors/file/packing.h"
#include "tensors/gpu/embedded_gpu.h"
#include "tensors/gpu/transform_parts.h"

namespace hoist::tensors {
namespace {

// The CPU device's stream is a thread: it does the work there.
class HostPartDecoder final : public PartDecoder {
 public:
  explicit HostPartDecoder(const HoloTensorHeader& header)
      : header_(header), wrong_(header.checksums.size()), corrupt_(header.tensors.size()) {}

  Status check(std::span<const size_t> shards, std::span<const DevicePiece> pieces,
               device::Stream& stream) override {
    return stream.call([this, shards = std::vector<size_t>(shards.begin(), shards.end()),
                        pieces = std::vector<DevicePiece>(pieces.begin(), pieces.end())] {
      for (size_t i = 0; i < pieces.size(); ++i) {
        if (xxh3_64(pieces[i].data, pieces[i].size) != pieces[i].checksum) wrong_[shards[i]] = true;
      }
    });
  }

  Status decode(std::span<const PartTask> tasks, device::Stream& stream) override {
    return stream.call([this, tasks = std::vector<PartTask>(tasks.begin(), tasks.end())] {
      for (const PartTask& task : tasks) corrupt_[task.tensor] = !decode(task).has_value();
    });
  }

  Status collect(device::Stream&) override { return {}; }
  bool is_wrong(size_t shard) const override { return wrong_[shard]; }
  bool is_corrupt(size_t tensor) const override { return corrupt_[tensor]; }

 private:
  Status decode(const PartTask& task) const {
    const HoloTensor& tensor = header_.tensors[task.tensor];
    Result<std::unique_ptr<TensorDecoder>> decoder = make_decoder(tensor.description);
    if (!decoder) return decoder.error();
    std::vector<std::vector<std::byte>> unpacked(task.parts.size());
    for (size_t part = 0; part < task.parts.size(); ++part) {
      std::span<const std::byte> bytes = task.parts[part];
      if (tensor.parts[part].packing == Packing::zstd) {
        unpacked[part].resize(tensor.description.part_bytes[part]);
        if (Status done = unpack(bytes, unpacked[part]); !done) return done;
        bytes = unpacked[part];
      }
      if (Status added = (*decoder)->add(part, bytes); !added) return added;
    }
    return (*decoder)->reconstruct(task.out, &ThreadPool::process());
  }

  const HoloTensorHeader& header_;
  std::vector<std::atomic<bool>> wrong_;
  std::vector<std::atomic<bool>> corrupt_;
};

// Whether the tensor's parts are its elements.
bool is_stored_plainly(const HoloTensor& tensor) {
  return tensor.description.encoding == HolographicEncoding::lossless && tensor.parts.size() == 1 &&
         tensor.parts[0].packing == Packing::plain;
}

class CudaPartDecoder final : public PartDecoder {
 public:
  static Result<std::unique_ptr<PartDecoder>> create(device::PinnedPool& pool,
                                                     const HoloTensorHeader& header,
                                                     const std::vector<size_t>& tensors) {
    auto decoder = std::make_unique<CudaPartDecoder>(header);
    std::vector<size_t> embedded;
    std::vector<size_t> transformed;
    for (const size_t tensor : tensors) {
      if (is_stored_plainly(header.tensors[tensor])) continue;
      const bool is_embedded =
          header.tensors[tensor].description.encoding == HolographicEncoding::embedded;
      std::vector<size_t>& alike = is_embedded ? embedded : transformed;
      decoder->places_[tensor] = {is_embedded, alike.size()};
      alike.push_back(tensor);
    }
    if (Status parsed = decoder->parse(embedded); !parsed) return parsed.error();
    std::vector<const EmbeddedLayout*> layouts;
    for (const std::optional<EmbeddedLayout>& layout : decoder->layouts_) {
      layouts.push_back(&*layout);
    }
    Result<EmbeddedGpu> gpu = EmbeddedGpu::create(pool, std::move(layouts));
    if (!gpu) return gpu.error();
    decoder->embedded_.emplace(std::move(*gpu));
    Result<std::unique_ptr<TransformParts>> transforms =
        TransformParts::create(pool, header, transformed);
    if (!transforms) return transforms.error();
    decoder->transforms_ = *std::move(transforms);
    Result<ChecksumGpu> checks = ChecksumGpu::create(pool, header.checksums.size());
    if (!checks) return checks.error();
    decoder->checks_.emplace(std::move(*checks));
    return decoder;
  }

  explicit CudaPartDecoder(const HoloTensorHeader& header) : header_(header) {}

  Status check(std::span<const size_t> shards, std::span<const DevicePiece> pieces,
               device::Stream& stream) override {
    return checks_->check(shards, pieces, stream);
  }

  Status decode(std::span<const PartTask> tasks, device::Stream& stream) override {
    std::vector<EmbeddedTask> embedded;
    for (const PartTask& task : tasks) {
      const auto place = places_.find(task.tensor);
      if (place == places_.end()) {
        Status copied = stream.copy(task.out.data(), task.parts[0].data(), task.out.size());
        if (!copied) return copied;
      } else if (place->second.is_embedded) {
        EmbeddedTask& wanted = embedded.emplace_back();
        wanted.tensor = place->second.number;
        for (const std::span<const std::byte> part : task.parts) {
          wanted.layers.push_back(part.data());
        }
        wanted.out = task.out.data();
      } else {
        Status done =
            transforms_->decode(place->second.number, task.parts, task.out.data(), stream);
        if (!done) return done;
      }
    }
    return embedded_->decode(embedded, stream);
  }

  Status collect(device::Stream& stream) override {
    if (Status done = checks_->collect(stream); !done) return done;
    if (Status done = transforms_->collect(stream); !done) return done;
    return embedded_->collect(stream);
  }
  bool is_wrong(size_t shard) const override { return checks_->is_wrong(shard); }
  bool is_corrupt(size_t tensor) const override {
    const auto place = places_.find(tensor);
    if (place == places_.end()) return false;
    const auto [is_embedded, number] = place->second;
    return is_embedded ? embedded_->is_corrupt(number) : transforms_->is_corrupt(number);
  }

 private:
  struct Place {
    bool is_embedded = false;  // else transformed
    size_t number = 0;         // among those
  };

  // Decode tables take a while to build, and there are many.
  Status parse(const std::vector<size_t>& embedded) {
    layouts_.resize(embedded.size());
    std::vector<Status> parsed(embedded.size());
    ThreadPool::process().parallel_for(embedded.size(), [&](size_t i) {
      Result<EmbeddedLayout> layout =
          EmbeddedLayout::parse(header_.tensors[embedded[i]].description);
      if (layout) {
        layouts_[i].emplace(std::move(*layout));
      } else {
        parsed[i] = layout.error();
      }
    });
    for (Status& status : parsed) {
      if (!status) return std::move(status);
    }
    return {};
  }

  const HoloTensorHeader& header_;
  std::map<size_t, Place> places_;  // none for what is stored plainly
  std::vector<std::optional<EmbeddedLayout>> layouts_;
  std::optional<EmbeddedGpu> embedded_;
  std::unique_ptr<TransformParts> transforms_;
  std::optional<ChecksumGpu> checks_;
};

}  // namespace

bool can_decode_parts(const device::Device& device, const HoloTensor& tensor) {
  if (device.properties().kind == device::DeviceKind::cpu) return true;
  if (device.properties().kind != device::DeviceKind::cuda) return false;
  return tensor.description.encoding == HolographicEncoding::embedded ||
         is_stored_plainly(tensor) || TransformParts::supports(tensor);
}

Result<std::unique_ptr<PartDecoder>> make_part_decoder(device::PinnedPool& pool,
                                                       const HoloTensorHeader& header,
                                                       const std::vector<size_t>& tensors) {
  if (pool.device().properties().kind == device::DeviceKind::cpu) {
    return std::make_unique<HostPartDecoder>(header);
  }
  return CudaPartDecoder::create(pool, header, tensors);
}

}  // namespace hoist::tensors
