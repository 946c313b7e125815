// Tensors that become usable while their fragments arrive (holo_context.h decodes them).
//
//   ProgressiveHoloLoader loader(*context, *std::move(accumulator));
//   while (!loader.is_sufficient(0.99)) Result<double> quality = loader.feed(part, bytes);
//   loader.finalize(buffer.view());
//
//   StreamingHoloContext streaming(*context);
//   Result<StreamedTensor> tensor =
//       streaming.stream(description, fetch, {.min_quality = 0.99, .on_fragment = …});
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "tensors/gpu/holo_context.h"

namespace hoist::tensors {

// One thread at a time.
class ProgressiveHoloLoader {
 public:
  // The context must outlive it.
  ProgressiveHoloLoader(GpuHoloContext& context, GpuAccumulator tensor)
      : context_(&context), tensor_(std::move(tensor)) {}

  // The quality with this fragment.
  Result<double> feed(size_t part, std::span<const std::byte> bytes);

  bool can_reconstruct() const { return tensor_.can_reconstruct(); }
  bool is_sufficient(double target) const { return can_reconstruct() && quality() >= target; }
  double quality() const { return tensor_.quality(); }

  // As good as the fragments so far make it; more may be fed afterwards.
  Status finalize(device::Span<std::byte> out);
  const GpuAccumulator& tensor() const { return tensor_; }

 private:
  GpuHoloContext* context_;
  GpuAccumulator tensor_;
};

// The bytes of a part; called on a thread of the streaming context's, ahead of their use. A call
// that runs is waited for, also when stream() is stopped: one that may block looks at the same
// token. After an error no other part is fetched.
using FetchPart = std::function<Result<std::vector<std::byte>>(size_t part)>;

struct StreamOptions {
  double min_quality = 1;  // fetching ends when it is reached
  // Fragments in the order in which they are fetched; nothing: all, from the first on.
  std::optional<std::vector<size_t>> order = std::nullopt;
  // Called for each fragment, when it is on the device, on the thread of stream(); false: the
  // tensor is good enough. It must be possible to rebuild it by then.
  std::function<bool(size_t part, double quality)> on_fragment = {};
  // The result's type, and what it is multiplied with; nothing: the tensor's own.
  std::optional<DType> dtype = std::nullopt;
  Quantisation quantisation = {};
  std::stop_token stop = {};
};

struct StreamedTensor {
  device::Buffer elements;
  DType dtype = DType::f32;
  double quality = 0;
  size_t fragments = 0;  // that were used
};

// Fetches the next fragments while one is copied. Thread-safe.
class StreamingHoloContext {
 public:
  // `pipeline_depth`: fragments that are fetched ahead, at least 1; so many are in memory besides
  // the one that is copied. The context must outlive it.
  explicit StreamingHoloContext(GpuHoloContext& context, size_t pipeline_depth = 2)
      : context_(&context), depth_(pipeline_depth) {}

  // `corrupt` where all fragments are used and the quality stays below the minimum; `cancelled`;
  // `invalid_argument` where on_fragment has enough before anything can be rebuilt, and for a depth
  // of 0; what `fetch` answers.
  Result<StreamedTensor> stream(const TensorDescription& description, const FetchPart& fetch,
                                const StreamOptions& options = {});

 private:
  GpuHoloContext* context_;
  size_t depth_;
};

}  // namespace hoist::tensors
