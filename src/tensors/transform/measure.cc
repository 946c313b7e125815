#include "tensors/transform/measure.h"

#include <algorithm>
#include <cmath>

#include "tensors/transform/tasks.h"
#include "tensors/transform/transform.h"
#include "tensors/transform/values.h"

namespace hoist::tensors {
namespace {

struct Sums {
  double error = 0;    // |x - y|^2
  double energy = 0;   // |x|^2
  double decoded = 0;  // |y|^2
  double product = 0;  // x·y
};

}  // namespace

QualityPoint measure_quality(const TensorView& tensor, std::span<const std::byte> decoded,
                             int scale, ThreadPool* pool) {
  const size_t element_bytes = properties(tensor.dtype).bytes;
  const uint64_t elements = tensor.bytes.size() / element_bytes;
  std::vector<Sums> chunks((elements + kChunkElements - 1) / kChunkElements);
  const PowerOfTwo<double> power(scale);
  run_tasks(pool, chunks.size(), [&](size_t task) {
    const uint64_t first = task * kChunkElements;
    const uint64_t count = std::min(kChunkElements, elements - first);
    std::vector<double> x(count);
    std::vector<double> y(count);
    read_doubles(tensor.dtype, tensor.bytes.data() + first * element_bytes, x);
    read_doubles(tensor.dtype, decoded.data() + first * element_bytes, y);
    Sums sums;
    for (size_t i = 0; i < count; ++i) {
      if (!std::isfinite(x[i])) continue;
      const double a = power.times(x[i]);
      const double b = power.times(y[i]);
      sums.error += (a - b) * (a - b);
      sums.energy += a * a;
      sums.decoded += b * b;
      sums.product += a * b;
    }
    chunks[task] = sums;
  });
  Sums all;
  for (const Sums& sums : chunks) {
    all.error += sums.error;
    all.energy += sums.energy;
    all.decoded += sums.decoded;
    all.product += sums.product;
  }
  if (all.energy == 0) return all.error == 0 ? QualityPoint{1, 1} : QualityPoint{0, 0};
  const double norms = std::sqrt(all.energy) * std::sqrt(all.decoded);
  return {1 - all.error / all.energy, norms > 0 ? all.product / norms : 0};
}

Result<std::vector<QualityPoint>> measure_prefixes(const TensorView& tensor,
                                                   const EncodedTensor& encoded, int scale,
                                                   ThreadPool* pool) {
  Result<std::unique_ptr<TensorDecoder>> decoder = transform_decoder(encoded.description);
  if (!decoder) return decoder.error();
  std::vector<std::byte> decoded(tensor.bytes.size());
  std::vector<QualityPoint> points;
  for (size_t part = 0; part < encoded.parts.size(); ++part) {
    if (Status status = (*decoder)->add(part, encoded.parts[part]); !status) {
      return status.error();
    }
    if (Status status = (*decoder)->reconstruct(decoded, pool); !status) {
      return status.error();
    }
    points.push_back(measure_quality(tensor, decoded, scale, pool));
  }
  return points;
}

}  // namespace hoist::tensors
