#include "tensors/transform/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "codec/fft.h"
#include "tensors/transform/coders.h"
#include "tensors/transform/format.h"
#include "tensors/transform/patches.h"

namespace hoist::tensors {
namespace {

Status check_options(const EncodeOptions& options) {
  if (!is_transform(options.encoding)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("encoding {} is no transform", static_cast<int>(options.encoding)));
  }
  if (options.fragments == 0 || options.fragments > kMaxFragments) {
    return fail(ErrorCode::invalid_argument, fmt::format("{} fragments: 1 to {} are possible",
                                                         options.fragments, kMaxFragments));
  }
  if (!(options.essential_share >= 0 && options.essential_share <= 1)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("essential share {}: 0 to 1 is possible", options.essential_share));
  }
  if (options.precision && !is_transform_precision(*options.precision)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("coefficients of type {}: F32, F16 and BF16 are possible",
                            properties(*options.precision).name));
  }
  return {};
}

Result<uint64_t> check_tensor(const TensorView& tensor, HolographicEncoding encoding) {
  const Result<uint64_t> elements = element_count(tensor.shape);
  if (!elements) return elements;
  const DTypeProperties& type = properties(tensor.dtype);
  const Result<uint64_t> bytes = byte_count(tensor.dtype, tensor.shape);
  if (!bytes) return bytes;
  if (tensor.bytes.size() != *bytes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("tensor of {} {} elements: {} bytes", *elements, type.name,
                            tensor.bytes.size()));
  }
  if (!is_transform_dtype(tensor.dtype)) {
    return fail(ErrorCode::unsupported,
                fmt::format("transform of {} elements: encode them as lossless", type.name));
  }
  if (*elements == 0) {
    return fail(ErrorCode::unsupported, "transform of no elements: encode them as lossless");
  }
  const MatrixShape matrix = matrix_shape(tensor.shape);
  if (encoding == HolographicEncoding::spectral &&
      std::max(matrix.rows, matrix.columns) > codec::Fft::kMaxLength) {
    return fail(ErrorCode::unsupported,
                fmt::format("cosine transform of {} x {} elements: sides of at most {} are "
                            "possible; encode it as lossless",
                            matrix.rows, matrix.columns, codec::Fft::kMaxLength));
  }
  return elements;
}

DType default_precision(DType dtype) {
  return properties(dtype).bytes >= sizeof(float) ? DType::f32 : DType::f16;
}

Status check_curve(const QualityCurve& curve, size_t fragments) {
  bool good = curve.prefixes.size() == fragments && curve.energies.size() == fragments &&
              std::isfinite(curve.common);
  for (const double energy : curve.energies) good &= std::isfinite(energy);
  for (const QualityPoint& point : curve.prefixes) {
    good &= std::isfinite(point.quality) && std::isfinite(point.cosine);
  }
  if (good) return {};
  return fail(ErrorCode::corrupt,
              fmt::format("quality curve is not one of {} fragments", fragments));
}

}  // namespace

Result<EncodedTensor> transform_encode(const TensorView& tensor, const EncodeOptions& options,
                                       ThreadPool* pool) {
  if (Status status = check_options(options); !status) return status.error();
  const Result<uint64_t> elements = check_tensor(tensor, options.encoding);
  if (!elements) return elements.error();
  const TransformInput input = {
      tensor, options, options.precision.value_or(default_precision(tensor.dtype)), *elements};
  try {
    return options.encoding == HolographicEncoding::low_rank_distributed
               ? encode_low_rank(input, pool)
               : encode_coefficients(input, pool);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::exhausted,
                fmt::format("transform of {} elements: no memory", *elements));
  }
}

Result<std::unique_ptr<TensorDecoder>> transform_decoder(const TensorDescription& description) {
  const Result<TransformLayout> layout = transform_layout(description);
  if (!layout) return layout.error();
  if (Status status = check_curve(description.curve, layout->fragments); !status) {
    return status.error();
  }
  try {
    Result<std::vector<PatchRun>> patches =
        read_patches(layout->patches, layout->dtype, layout->elements);
    if (!patches) return patches.error();
    return layout->encoding == HolographicEncoding::low_rank_distributed
               ? low_rank_decoder(*layout, std::move(*patches), description.curve)
               : coefficient_decoder(*layout, std::move(*patches), description.curve);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::exhausted,
                fmt::format("decoder of {} elements: no memory", layout->elements));
  }
}

}  // namespace hoist::tensors
