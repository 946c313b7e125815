#include "tensors/builders.h"

#include <fmt/core.h>

#include <new>

namespace hoist::tensors {

HoloTensorEncoder& HoloTensorEncoder::with_fragments(uint32_t fragments) {
  options_.fragments = fragments;
  return *this;
}

HoloTensorEncoder& HoloTensorEncoder::with_seed(uint64_t seed) {
  options_.seed = seed;
  return *this;
}

HoloTensorEncoder& HoloTensorEncoder::with_essential_share(double share) {
  options_.essential_share = share;
  return *this;
}

HoloTensorEncoder& HoloTensorEncoder::with_max_rank(uint32_t rank) {
  options_.max_rank = rank;
  return *this;
}

HoloTensorEncoder& HoloTensorEncoder::with_precision(DType dtype) {
  options_.precision = dtype;
  return *this;
}

HoloTensorEncoder& HoloTensorEncoder::with_pool(ThreadPool* pool) {
  pool_ = pool;
  return *this;
}

Result<EncodedTensor> HoloTensorEncoder::encode(const TensorView& tensor) const {
  return tensors::encode(tensor, options_, pool_);
}

Result<EncodedTensor> HoloTensorEncoder::encode_1d(std::span<const float> values) const {
  return encode_nd(values, {values.size()});
}

Result<EncodedTensor> HoloTensorEncoder::encode_2d(std::span<const float> values, uint64_t rows,
                                                   uint64_t columns) const {
  return encode_nd(values, {rows, columns});
}

Result<EncodedTensor> HoloTensorEncoder::encode_nd(std::span<const float> values,
                                                   Shape shape) const {
  return encode({DType::f32, std::move(shape), std::as_bytes(values)});
}

Result<HoloTensorDecoder> HoloTensorDecoder::create(TensorDescription description, uint64_t limit) {
  const Result<uint64_t> bytes = byte_count(description.dtype, description.shape);
  if (!bytes) return fail(ErrorCode::corrupt, bytes.error().message);
  if (*bytes > limit) {
    return fail(ErrorCode::exhausted,
                fmt::format("a tensor of {} bytes, the limit is {}", *bytes, limit));
  }
  HoloTensorDecoder made(std::make_unique<const TensorDescription>(std::move(description)), *bytes);
  Result<std::unique_ptr<TensorDecoder>> decoder = make_decoder(*made.description_);
  if (!decoder) return decoder.error();
  made.decoder_ = std::move(*decoder);
  return made;
}

Status HoloTensorDecoder::add_fragment(size_t part, std::span<const std::byte> bytes) {
  if (part >= parts_.size()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("fragment {}: there are {}", part, parts_.size()));
  }
  if (parts_[part]) return {};
  try {
    auto copy = std::make_unique<const std::vector<std::byte>>(bytes.begin(), bytes.end());
    if (Status added = decoder_->add(part, *copy); !added) return added;
    parts_[part] = std::move(copy);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::exhausted, fmt::format("no memory for fragment {}", part));
  }
  ++held_;
  return {};
}

Status HoloTensorDecoder::reconstruct(std::span<std::byte> out, ThreadPool* pool) const {
  return decoder_->reconstruct(out, pool);
}

Result<std::vector<float>> HoloTensorDecoder::reconstruct_f32(ThreadPool* pool) const {
  try {
    std::vector<std::byte> bytes(bytes_);
    if (Status done = reconstruct(bytes, pool); !done) return done.error();
    std::vector<float> values(bytes_ / properties(description_->dtype).bytes);
    Status converted = to_f32(description_->dtype, bytes, values);
    if (!converted) return converted.error();
    return values;
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::exhausted, fmt::format("no memory for a tensor of {} bytes", bytes_));
  }
}

}  // namespace hoist::tensors
