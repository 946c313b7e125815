// What the decoders of all any-subset encodings share, and what their encoders end with.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/threads.h"
#include "tensors/encoded_tensor.h"
#include "tensors/transform/format.h"
#include "tensors/transform/patches.h"

namespace hoist::tensors {

// Checks fragments and keeps views of them; does the arithmetic at reconstruct().
class FragmentDecoder : public TensorDecoder {
 public:
  FragmentDecoder(const TransformLayout& layout, std::vector<PatchRun> patches, QualityCurve curve);

  Status add(size_t part, std::span<const std::byte> bytes) final;
  bool can_reconstruct() const final { return !parts_.empty(); }
  double quality() const final { return curve_.quality(parts_); }
  Status reconstruct(std::span<std::byte> out, ThreadPool* pool) const final;

 protected:
  const TransformLayout& layout() const { return layout_; }
  // By number; empty where it is missing. At least one is there when rebuild() is called.
  std::span<const std::span<const std::byte>> fragments() const { return fragments_; }

 private:
  // All elements but the patched ones. May throw std::bad_alloc.
  virtual Status rebuild(std::span<std::byte> out, ThreadPool* pool) const = 0;

  TransformLayout layout_;
  std::vector<PatchRun> patches_;
  QualityCurve curve_;
  std::vector<std::span<const std::byte>> fragments_;
  std::vector<size_t> parts_;  // numbers of those that are there
};

// A tensor on its way through an encoder.
struct TransformInput {
  const TensorView& tensor;
  const EncodeOptions& options;
  DType precision;
  uint64_t elements;
};

// With all that does not depend on the encoding; fragments have no sizes yet.
TransformLayout begin_layout(const TransformInput& input, std::span<const std::byte> patches);

std::vector<std::vector<std::byte>> empty_fragments(const TransformLayout& layout);

// Puts description and parts together, and measures prefixes. Energies are shares of |x|^2.
Result<EncodedTensor> finish_encoding(const TransformInput& input, const TransformLayout& layout,
                                      std::vector<std::vector<std::byte>> fragments, double common,
                                      std::vector<double> energies, ThreadPool* pool);

}  // namespace hoist::tensors
