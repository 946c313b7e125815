// Encoding and decoding one tensor in HoloTensor's words: an encoder that is told its wishes one
// after the other, and a decoder that takes fragments as they come.
//
//   const Result<EncodedTensor> encoded = HoloTensorEncoder(HolographicEncoding::spectral)
//                                             .with_fragments(8)
//                                             .with_seed(42)
//                                             .encode_2d(values, 64, 48);
//   Result<HoloTensorDecoder> decoder = HoloTensorDecoder::create(encoded->description);
//   decoder->add_fragment(5, encoded->parts[5]);
//   if (decoder->can_reconstruct() && decoder->quality() > 0.1) decoder->reconstruct(out);
//
// Thin classes over encode() and make_decoder() (encoded_tensor.h), which do the same in a call.
// What HoloTensor calls a fragment is a part here: a fragment of the any-subset encodings, a layer
// of embedded tensors. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tensors/encoded_tensor.h"

namespace hoist::tensors {

class HoloTensorEncoder {
 public:
  explicit HoloTensorEncoder(HolographicEncoding encoding = HolographicEncoding::embedded) {
    options_.encoding = encoding;
  }

  // EncodeOptions has what they mean, their defaults and ranges; encoding says where one is wrong.
  HoloTensorEncoder& with_fragments(uint32_t fragments);
  HoloTensorEncoder& with_seed(uint64_t seed);
  HoloTensorEncoder& with_essential_share(double share);
  HoloTensorEncoder& with_max_rank(uint32_t rank);
  HoloTensorEncoder& with_precision(DType dtype);
  // The pool must outlive the encoder; nothing: everything on the calling thread.
  HoloTensorEncoder& with_pool(ThreadPool* pool);

  const EncodeOptions& options() const { return options_; }

  // `invalid_argument` where values and shape disagree.
  Result<EncodedTensor> encode(const TensorView& tensor) const;
  Result<EncodedTensor> encode_1d(std::span<const float> values) const;
  // Row-major.
  Result<EncodedTensor> encode_2d(std::span<const float> values, uint64_t rows,
                                  uint64_t columns) const;
  Result<EncodedTensor> encode_nd(std::span<const float> values, Shape shape) const;

 private:
  EncodeOptions options_;
  ThreadPool* pool_ = nullptr;
};

class HoloTensorDecoder {
 public:
  // Untrusted: `corrupt`; `exhausted` where the tensor would have more than `limit` bytes.
  static Result<HoloTensorDecoder> create(TensorDescription description,
                                          uint64_t limit = uint64_t{1} << 40);

  const TensorDescription& description() const { return *description_; }
  uint64_t bytes() const { return bytes_; }  // of the tensor

  // Keeps a copy, unlike TensorDecoder. A fragment that is there already is ignored, whatever the
  // bytes. `corrupt` where they cannot be that fragment, `invalid_argument` where there is no such
  // one: the decoder is as before.
  Status add_fragment(size_t part, std::span<const std::byte> bytes);

  size_t fragments() const { return held_; }  // that were added
  size_t total_fragments() const { return description_->part_bytes.size(); }
  bool can_reconstruct() const { return decoder_->can_reconstruct(); }
  double quality() const { return decoder_->quality(); }

  // In the tensor's own type; more fragments may come afterwards.
  Status reconstruct(std::span<std::byte> out, ThreadPool* pool = nullptr) const;
  // As floats; `unsupported` for c64.
  Result<std::vector<float>> reconstruct_f32(ThreadPool* pool = nullptr) const;

 private:
  HoloTensorDecoder(std::unique_ptr<const TensorDescription> description, uint64_t bytes)
      : description_(std::move(description)), bytes_(bytes), parts_(total_fragments()) {}

  // Where it is does not change when the decoder is moved: what decodes may refer to it.
  std::unique_ptr<const TensorDescription> description_;
  uint64_t bytes_;
  std::vector<std::unique_ptr<const std::vector<std::byte>>> parts_;  // by number
  size_t held_ = 0;
  std::unique_ptr<TensorDecoder> decoder_;
};

}  // namespace hoist::tensors
