// What encoders make of one tensor, and what decoders take: parameters, which are small and needed
// first, and parts.
//
// Parts of prefix encodings are layers: part k refines parts 0…k-1. Parts of any-subset encodings
// are equals ("fragments"): whichever are there give a reconstruction. A file cuts parts into
// shards, adds parity and checksums (tensors/file/); nothing here knows of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/threads.h"
#include "tensors/quality_curve.h"
#include "tensors/tensor.h"

namespace hoist::tensors {

// Numbers are written into files and never change their meaning.
enum class HolographicEncoding : uint8_t {
  lossless = 0,              // one part: the tensor's bytes as they are; the file compresses them
  embedded = 1,              // layers: exponents, then a mantissa bit each      (prefix)
  spectral = 2,              // cosine transform, coefficients dealt out         (any subset)
  random_projection = 3,     // orthogonal projections                           (any subset)
  low_rank_distributed = 4,  // singular vectors, dealt out                      (any subset)
};

struct EncodeOptions {
  HolographicEncoding encoding = HolographicEncoding::embedded;
  uint32_t fragments = 8;         // parts of any-subset encodings; 1…255
  uint64_t seed = 0;              // of permutations and projections
  double essential_share = 0.02;  // spectral: lowest frequencies that are in every fragment
  uint32_t max_rank = 256;        // low_rank_distributed
  // How coefficients are stored: f32, f16 or bf16; nothing: the input's width, f32 for wider ones.
  std::optional<DType> precision = std::nullopt;
};

// Everything about an encoded tensor but its parts.
struct TensorDescription {
  HolographicEncoding encoding = HolographicEncoding::lossless;
  DType dtype = DType::f32;
  Shape shape;
  // The encoding's own, in its own layout; at most kMaxParameterBytes. Untrusted when read.
  std::vector<std::byte> parameters;
  std::vector<uint64_t> part_bytes;
  QualityCurve curve;
};

inline constexpr size_t kMaxParameterBytes = size_t{64} << 10;

struct EncodedTensor {
  TensorDescription description;
  std::vector<std::vector<std::byte>> parts;
};

// Encodes as asked where that encoding can (its dtype, its size), else as `lossless`; the answer
// says which. Measures the quality curve. Results depend on the input and the options only, not on
// the pool. `exhausted`: no memory.
Result<EncodedTensor> encode(const TensorView& tensor, const EncodeOptions& options,
                             ThreadPool* pool = nullptr);

// Rebuilds one tensor from parts as they arrive. One thread at a time.
class TensorDecoder {
 public:
  virtual ~TensorDecoder() = default;

  // `bytes` must stay until the decoder is gone. A part that is there already is ignored. `corrupt`
  // where the bytes cannot be that part: the decoder is as before.
  virtual Status add(size_t part, std::span<const std::byte> bytes) = 0;

  virtual bool can_reconstruct() const = 0;
  // By the curve, of what was added.
  virtual double quality() const = 0;

  // Writes the whole tensor in its own dtype. `invalid_argument`: a wrong size, or nothing to
  // rebuild from. May be called again after more parts.
  virtual Status reconstruct(std::span<std::byte> out, ThreadPool* pool = nullptr) const = 0;
};

// The description is untrusted: `corrupt` where it breaks a rule of its encoding. Memory is bounded
// by a small multiple of the tensor's size, which the caller checks against its limit first.
Result<std::unique_ptr<TensorDecoder>> make_decoder(const TensorDescription& description);

}  // namespace hoist::tensors
