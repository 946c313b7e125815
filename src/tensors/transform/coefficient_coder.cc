// Spectral and random projection: an orthogonal transform, and coefficients dealt to fragments.
#include <algorithm>
#include <cmath>
#include <optional>

#include "tensors/transform/coders.h"
#include "tensors/transform/cosine_transform.h"
#include "tensors/transform/dealt.h"
#include "tensors/transform/random_projection.h"
#include "tensors/transform/spectral.h"
#include "tensors/transform/tasks.h"
#include "tensors/transform/values.h"

namespace hoist::tensors {
namespace {

std::optional<EssentialRegion> region_of(const TransformLayout& layout) {
  if (layout.encoding != HolographicEncoding::spectral) return std::nullopt;
  return EssentialRegion(layout.matrix, layout.common);
}

float largest_of(std::span<const float> values, ThreadPool* pool) {
  std::vector<float> chunks((values.size() + kChunkElements - 1) / kChunkElements);
  run_tasks(pool, chunks.size(), [&](size_t task) {
    const size_t first = task * kChunkElements;
    float largest = 0;
    for (const float value :
         values.subspan(first, std::min(kChunkElements, values.size() - first))) {
      largest = std::max(largest, std::abs(value));
    }
    chunks[task] = largest;
  });
  return *std::max_element(chunks.begin(), chunks.end());
}

class CoefficientDecoder final : public FragmentDecoder {
 public:
  CoefficientDecoder(const TransformLayout& layout, std::vector<PatchRun> patches,
                     QualityCurve curve)
      : FragmentDecoder(layout, std::move(patches), std::move(curve)), region_(region_of(layout)) {}

 private:
  Status rebuild(std::span<std::byte> out, ThreadPool* pool) const override {
    std::vector<float> values(layout().elements);
    load_coefficients(fragments(), layout(), region_ ? &*region_ : nullptr, values, pool);
    if (region_) {
      if (Status status = idct_2d(values, layout().matrix, pool); !status) return status;
    } else {
      unproject(values, layout().seed, pool);
    }
    const size_t element_bytes = properties(layout().dtype).bytes;
    run_tasks(pool, (values.size() + kChunkElements - 1) / kChunkElements, [&](size_t task) {
      const size_t first = task * kChunkElements;
      const size_t count = std::min(kChunkElements, values.size() - first);
      denormalise(std::span(values).subspan(first, count), layout().scale, layout().dtype,
                  out.data() + first * element_bytes);
    });
    return {};
  }

  std::optional<EssentialRegion> region_;
};

}  // namespace

Result<EncodedTensor> encode_coefficients(const TransformInput& input, ThreadPool* pool) {
  const bool spectral = input.options.encoding == HolographicEncoding::spectral;
  Result<NormalisedTensor> tensor = normalise(input.tensor, pool);
  if (!tensor) return tensor.error();
  TransformLayout layout = begin_layout(input, tensor->patches);
  if (spectral) {
    if (Status status = dct_2d(tensor->values, layout.matrix, pool); !status) {
      return status.error();
    }
    layout.common =
        essential_count(layout.elements, input.options.essential_share, layout.fragments);
  } else {
    project(tensor->values, layout.seed, pool);
    layout.common = layout.elements % layout.fragments;
  }
  layout.groups = (layout.elements - layout.common) / layout.fragments;
  const int scale = precision_scale(layout.precision, largest_of(tensor->values, pool));
  layout.scale = tensor->scale + scale;

  const std::optional<EssentialRegion> region = region_of(layout);
  std::vector<std::vector<std::byte>> fragments = empty_fragments(layout);
  StoredEnergies energies = store_coefficients(tensor->values, scale, layout,
                                               region ? &*region : nullptr, fragments, pool);
  // A tensor of zeros is whole with any fragment.
  const double whole = tensor->energy;
  energies.common = whole > 0 ? energies.common / whole : 1;
  for (double& energy : energies.fragments) energy = whole > 0 ? energy / whole : 0;
  tensor->values = {};
  return finish_encoding(input, layout, std::move(fragments), energies.common,
                         std::move(energies.fragments), pool);
}

std::unique_ptr<TensorDecoder> coefficient_decoder(const TransformLayout& layout,
                                                   std::vector<PatchRun> patches,
                                                   QualityCurve curve) {
  return std::make_unique<CoefficientDecoder>(layout, std::move(patches), std::move(curve));
}

}  // namespace hoist::tensors
