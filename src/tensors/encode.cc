#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "tensors/embedded/embedded.h"
#include "tensors/encoded_tensor.h"
#include "tensors/transform/transform.h"

namespace hoist::tensors {
namespace {

EncodedTensor lossless_encode(const TensorView& tensor) {
  EncodedTensor encoded;
  encoded.description.encoding = HolographicEncoding::lossless;
  encoded.description.dtype = tensor.dtype;
  encoded.description.shape = tensor.shape;
  encoded.description.part_bytes = {tensor.bytes.size()};
  encoded.description.curve.prefixes = {{1, 1}};
  encoded.parts.emplace_back(tensor.bytes.begin(), tensor.bytes.end());
  return encoded;
}

class LosslessDecoder final : public TensorDecoder {
 public:
  explicit LosslessDecoder(uint64_t size) : size_(size) {}

  Status add(size_t part, std::span<const std::byte> bytes) override {
    if (part != 0) {
      return fail(ErrorCode::invalid_argument, fmt::format("lossless tensor: part {} of 1", part));
    }
    if (bytes.size() != size_) {
      return fail(ErrorCode::corrupt,
                  fmt::format("lossless tensor: {} bytes instead of {}", bytes.size(), size_));
    }
    if (!added_) bytes_ = bytes;
    added_ = true;
    return {};
  }

  bool can_reconstruct() const override { return added_; }
  double quality() const override { return added_ ? 1 : 0; }

  Status reconstruct(std::span<std::byte> out, ThreadPool*) const override {
    if (!added_) return fail(ErrorCode::invalid_argument, "lossless tensor: nothing is there yet");
    if (out.size() != size_) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("lossless tensor: room for {} of {} bytes", out.size(), size_));
    }
    std::copy(bytes_.begin(), bytes_.end(), out.begin());
    return {};
  }

 private:
  uint64_t size_;
  bool added_ = false;
  std::span<const std::byte> bytes_;
};

Result<std::unique_ptr<TensorDecoder>> lossless_decoder(const TensorDescription& description) {
  const Result<uint64_t> size = byte_count(description.dtype, description.shape);
  if (!size) return fail(ErrorCode::corrupt, size.error().message);
  if (!description.parameters.empty() || description.part_bytes.size() != 1 ||
      description.part_bytes[0] != *size) {
    return fail(ErrorCode::corrupt,
                fmt::format("lossless tensor: its description is not that of {} bytes", *size));
  }
  return std::make_unique<LosslessDecoder>(*size);
}

Result<EncodedTensor> encode_as(const TensorView& tensor, const EncodeOptions& options,
                                ThreadPool* pool) {
  if (options.encoding == HolographicEncoding::embedded) {
    Result<std::optional<EncodedTensor>> encoded = embedded_encode(tensor, pool);
    if (!encoded) return encoded.error();
    if (*encoded) return **std::move(encoded);
  } else if (is_transform(options.encoding)) {
    Result<EncodedTensor> encoded = transform_encode(tensor, options, pool);
    if (encoded || encoded.error().code != ErrorCode::unsupported) return encoded;
  }
  return lossless_encode(tensor);
}

}  // namespace

Result<EncodedTensor> encode(const TensorView& tensor, const EncodeOptions& options,
                             ThreadPool* pool) {
  const Result<uint64_t> size = byte_count(tensor.dtype, tensor.shape);
  if (!size) return size.error();
  if (tensor.bytes.size() != *size) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("tensor of shape [{}]: {} bytes of elements instead of {}",
                            fmt::join(tensor.shape, ", "), tensor.bytes.size(), *size));
  }
  try {
    return encode_as(tensor, options, pool);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::exhausted,
                fmt::format("encoding a tensor of {} bytes: not enough memory", *size));
  }
}

Result<std::unique_ptr<TensorDecoder>> make_decoder(const TensorDescription& description) {
  switch (description.encoding) {
    case HolographicEncoding::lossless:
      return lossless_decoder(description);
    case HolographicEncoding::embedded:
      return embedded_decoder(description);
    case HolographicEncoding::spectral:
    case HolographicEncoding::random_projection:
    case HolographicEncoding::low_rank_distributed:
      return transform_decoder(description);
  }
  return fail(ErrorCode::corrupt, fmt::format("tensor encoding {}: there is none",
                                              static_cast<int>(description.encoding)));
}

}  // namespace hoist::tensors
