#include "tensors/gpu/parts_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "tensors/gpu/embedded_gpu.h"
#include "tensors/gpu/transform_gpu.h"
#include "tensors/transform/transform.h"

namespace hoist::tensors {
namespace {

auto wrong_size(size_t part, uint64_t bytes) {
  return fail(ErrorCode::corrupt,
              fmt::format("part {} of a tensor: {} bytes cannot be it", part, bytes));
}

// Keeps parts in the host's memory and decodes them there.
class OnHost final : public PartsDecoder {
 public:
  static Result<std::unique_ptr<PartsDecoder>> create(device::Transfer& transfer,
                                                      const TensorDescription& description) {
    Result<std::unique_ptr<TensorDecoder>> decoder = make_decoder(description);
    if (!decoder) return decoder.error();
    return std::make_unique<OnHost>(transfer, description, std::move(*decoder));
  }
  OnHost(device::Transfer& transfer, const TensorDescription& description,
         std::unique_ptr<TensorDecoder> decoder)
      : transfer_(transfer), parts_(description.part_bytes.size()), decoder_(std::move(decoder)) {}

  Status add(size_t part, std::span<const std::byte> bytes) override {
    std::vector<std::byte> copy(bytes.begin(), bytes.end());
    if (Status added = decoder_->add(part, copy); !added) return added;
    parts_[part] = std::move(copy);  // its bytes stay where they are
    return {};
  }
  Status add(size_t part, device::Span<const std::byte> bytes) override {
    std::vector<std::byte> copy(bytes.size);
    Status copied = bytes.device->copy(copy.data(), bytes.data, bytes.size, {});
    return copied ? add(part, copy) : copied;
  }
  bool can_reconstruct() const override { return decoder_->can_reconstruct(); }

  Status reconstruct(device::Span<std::byte> out, device::Stream& stream) override {
    std::vector<std::byte> elements;
    std::span<std::byte> to(out.data, out.size);
    const bool here = out.device->properties().kind == device::DeviceKind::cpu;
    if (!here) {
      elements.resize(out.size);
      to = elements;
    }
    Status done = decoder_->reconstruct(to, &ThreadPool::process());
    if (!done || here) return done;
    return transfer_.upload(std::span<const std::byte>(elements), out);
  }

 private:
  device::Transfer& transfer_;
  std::vector<std::vector<std::byte>> parts_;
  std::unique_ptr<TensorDecoder> decoder_;
};

// Keeps parts in the device's memory.
class OnDevice : public PartsDecoder {
 public:
  OnDevice(device::PinnedPool& pool, device::Transfer& transfer,
           const TensorDescription& description)
      : pool_(pool),
        transfer_(transfer),
        description_(description),
        parts_(description.part_bytes.size()) {}

  Status add(size_t part, std::span<const std::byte> bytes) override {
    if (Status good = check(part, bytes); !good) return good;
    return take(part, bytes.size(),
                [&](device::Span<std::byte> to) { return transfer_.upload(bytes, to); });
  }
  Status add(size_t part, device::Span<const std::byte> bytes) override {
    if (bytes.size != description_.part_bytes[part]) return wrong_size(part, bytes.size);
    return take(part, bytes.size, [&](device::Span<std::byte> to) {
      return pool_.device().copy(to.data, bytes.data, bytes.size, {});
    });
  }

 protected:
  virtual Status check(size_t part, std::span<const std::byte> bytes) const {
    if (bytes.size() != description_.part_bytes[part]) return wrong_size(part, bytes.size());
    return {};
  }
  const TensorDescription& description() const { return description_; }
  device::Transfer& transfer() const { return transfer_; }
  // Null where it is missing.
  const std::byte* part(size_t number) const {
    return static_cast<const std::byte*>(parts_[number].data());
  }
  size_t parts() const { return parts_.size(); }

 private:
  template <typename Copy>
  Status take(size_t part, uint64_t bytes, Copy copy) {
    Result<device::Buffer> buffer =
        device::Buffer::allocate(pool_.device(), bytes + kEmbeddedMargin);
    if (!buffer) return buffer.error();
    if (Status copied = copy(buffer->view().subspan(0, bytes)); !copied) return copied;
    parts_[part] = std::move(*buffer);
    return {};
  }

  device::PinnedPool& pool_;
  device::Transfer& transfer_;
  const TensorDescription& description_;
  std::vector<device::Buffer> parts_;
};

class EmbeddedOnDevice final : public OnDevice {
 public:
  EmbeddedOnDevice(device::PinnedPool& pool, device::Transfer& transfer,
                   const TensorDescription& description, EmbeddedLayout layout)
      : OnDevice(pool, transfer, description), layout_(std::move(layout)) {}

  Status prepare(device::PinnedPool& pool) {
    Result<EmbeddedGpu> gpu = EmbeddedGpu::create(pool, {&layout_});
    if (!gpu) return gpu.error();
    gpu_.emplace(std::move(*gpu));
    return {};
  }

  bool can_reconstruct() const override { return part(0) != nullptr; }

  Status reconstruct(device::Span<std::byte> out, device::Stream& stream) override {
    EmbeddedTask task;
    for (size_t layer = 0; layer < parts() && part(layer) != nullptr; ++layer) {
      task.layers.push_back(part(layer));
    }
    task.out = out.data;
    Status done = gpu_->decode({&task, 1}, stream);
    if (done) done = gpu_->collect(stream);
    if (done) done = stream.synchronize();
    if (done && gpu_->is_corrupt(0)) {
      return fail(ErrorCode::corrupt, "embedded tensor: layer 0 does not decode");
    }
    return done;
  }

 private:
  EmbeddedLayout layout_;
  std::optional<EmbeddedGpu> gpu_;
};

class TransformOnDevice final : public OnDevice {
 public:
  TransformOnDevice(device::PinnedPool& pool, device::Transfer& transfer,
                    const TensorDescription& description, const TransformLayout& layout,
                    TransformGpu gpu)
      : OnDevice(pool, transfer, description), layout_(layout), gpu_(std::move(gpu)) {}

  bool can_reconstruct() const override {
    for (size_t i = 0; i < parts(); ++i) {
      if (part(i) != nullptr) return true;
    }
    return false;
  }

  Status reconstruct(device::Span<std::byte> out, device::Stream& stream) override {
    std::vector<const std::byte*> fragments;
    for (size_t i = 0; i < parts(); ++i) fragments.push_back(part(i));
    Status done = gpu_.reconstruct(fragments, out.data, stream);
    if (done) return stream.synchronize();
    // Low rank without cuBLAS.
    return done.error().code == ErrorCode::unavailable ? reconstruct_on_host(out, stream) : done;
  }

 private:
  Status reconstruct_on_host(device::Span<std::byte> out, device::Stream& stream) {
    Result<std::unique_ptr<PartsDecoder>> host = OnHost::create(transfer(), description());
    if (!host) return host.error();
    for (size_t i = 0; i < parts(); ++i) {
      if (part(i) == nullptr) continue;
      Status added = (*host)->add(
          i, device::Span<const std::byte>{part(i), description().part_bytes[i], out.device});
      if (!added) return added;
    }
    return (*host)->reconstruct(out, stream);
  }

  Status check(size_t part, std::span<const std::byte> bytes) const override {
    return check_fragment(layout_, part, bytes);
  }

  TransformLayout layout_;
  TransformGpu gpu_;
};

class LosslessOnDevice final : public OnDevice {
 public:
  using OnDevice::OnDevice;
  bool can_reconstruct() const override { return part(0) != nullptr; }
  Status reconstruct(device::Span<std::byte> out, device::Stream& stream) override {
    Status done = stream.copy(out.data, part(0), out.size);
    return done ? stream.synchronize() : done;
  }
};

}  // namespace

Result<std::unique_ptr<PartsDecoder>> make_parts_decoder(device::PinnedPool& pool,
                                                         device::Transfer& transfer,
                                                         const TensorDescription& description) {
  if (pool.device().properties().kind != device::DeviceKind::cuda) {
    return OnHost::create(transfer, description);
  }
  if (description.encoding == HolographicEncoding::embedded) {
    Result<EmbeddedLayout> layout = EmbeddedLayout::parse(description);
    if (!layout) return layout.error();
    auto decoder =
        std::make_unique<EmbeddedOnDevice>(pool, transfer, description, *std::move(layout));
    if (Status ready = decoder->prepare(pool); !ready) return ready.error();
    return decoder;
  }
  if (is_transform(description.encoding)) {
    const Result<TransformLayout> layout = transform_layout(description);
    if (!layout) return layout.error();
    if (TransformGpu::supports(*layout)) {
      Result<TransformGpu> gpu = TransformGpu::create(pool, description);
      if (!gpu) return gpu.error();
      return std::make_unique<TransformOnDevice>(pool, transfer, description, *layout,
                                                 *std::move(gpu));
    }
    return OnHost::create(transfer, description);
  }
  const Result<std::unique_ptr<TensorDecoder>> valid = make_decoder(description);
  if (!valid) return valid.error();
  return std::make_unique<LosslessOnDevice>(pool, transfer, description);
}

}  // namespace hoist::tensors
