// Low rank: singular components, rounded, fitted and dealt to fragments in turn.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "array/convert.h"
#include "tensors/transform/coders.h"
#include "tensors/transform/low_rank.h"
#include "tensors/transform/product.h"
#include "tensors/transform/tasks.h"
#include "tensors/transform/values.h"

namespace hoist::tensors {
namespace {

// Where component k's numbers lie.
struct ComponentPlace {
  ComponentPlace(const TransformLayout& layout, size_t k)
      : fragment(static_cast<uint32_t>(k % layout.fragments)) {
    const size_t number = k / layout.fragments;
    sigma = layout.sigma_offset() + number * sizeof(float);
    u = layout.u_offset(fragment) + number * layout.matrix.rows * layout.precision_bytes;
    v = layout.v_offset(fragment) + number * layout.matrix.columns * layout.precision_bytes;
  }

  uint32_t fragment;
  size_t sigma;
  size_t u;
  size_t v;
};

// Stores unit vectors and makes them what a decoder will read.
void store_vector(std::span<float> vector, const TransformLayout& layout, std::byte* out) {
  const float up = std::ldexp(1.0f, vector_scale(layout.precision));
  for (float& value : vector) value *= up;
  convert_from_f32(vector, layout.precision, out);
  convert_to_f32(layout.precision, out, vector);
  for (float& value : vector) value /= up;
}

double square_of(std::span<const float> vector) {
  double sum = 0;
  for (const double value : vector) sum += value * value;
  return sum;
}

// Fits sigma of rounded vectors to the matrix, stores it, and adds what each component takes from
// the squared error to its fragment's energy.
std::vector<double> fit_sigmas(std::span<const float> matrix, SingularComponents& components,
                               const TransformLayout& layout,
                               std::vector<std::vector<std::byte>>& fragments, ThreadPool* pool) {
  const MatrixShape shape = layout.matrix;
  const size_t count = components.count();
  std::vector<double> energies(layout.fragments);
  if (count == 0) return energies;
  // Matrix times v, a column each.
  std::vector<float> turned(components.v.size());
  transpose({components.v.data(), count, shape.columns, shape.columns}, turned);
  std::vector<float> images(shape.rows * count);
  multiply({matrix.data(), shape.rows, shape.columns, shape.columns},
           {turned.data(), shape.columns, count, count}, images, pool);
  for (size_t k = 0; k < count; ++k) {
    const auto u = std::span<const float>(components.u).subspan(k * shape.rows, shape.rows);
    const auto v = std::span<const float>(components.v).subspan(k * shape.columns, shape.columns);
    double along = 0;  // u^T matrix v
    for (size_t i = 0; i < shape.rows; ++i) {
      along += static_cast<double>(u[i]) * images[i * count + k];
    }
    const double square = square_of(u) * square_of(v);
    const float sigma = square > 0 ? static_cast<float>(along / square) : 0;
    const ComponentPlace place(layout, k);
    std::memcpy(fragments[place.fragment].data() + place.sigma, &sigma, sizeof sigma);
    energies[place.fragment] += sigma * (2 * along - sigma * square);
  }
  return energies;
}

class LowRankDecoder final : public FragmentDecoder {
 public:
  using FragmentDecoder::FragmentDecoder;

 private:
  // Rows of the result that are done at a time: they stay in the cache.
  size_t task_rows() const {
    constexpr size_t kTaskFloats = size_t{1} << 18;
    constexpr size_t kTile = product_detail::kTileRows;
    return std::clamp(kTaskFloats / layout().matrix.columns / kTile, size_t{1}, size_t{16}) * kTile;
  }

  Status rebuild(std::span<std::byte> out, ThreadPool* pool) const override {
    const MatrixShape shape = layout().matrix;
    std::vector<size_t> present;
    for (size_t k = 0; k < layout().rank; ++k) {
      if (!fragments()[k % layout().fragments].empty()) present.push_back(k);
    }
    const size_t count = present.size();
    std::vector<float> left(count * shape.rows);  // sigma * u, a row each, then a column each
    std::vector<float> right(count * shape.columns);
    run_tasks(pool, count, [&](size_t i) {
      read_component(present[i], std::span(left).subspan(i * shape.rows, shape.rows),
                     std::span(right).subspan(i * shape.columns, shape.columns));
    });
    std::vector<float> turned(left.size());
    transpose({left.data(), count, shape.rows, shape.rows}, turned);

    const size_t element_bytes = properties(layout().dtype).bytes;
    const size_t step = task_rows();
    run_tasks(pool, (shape.rows + step - 1) / step, [&](size_t task) {
      const size_t row = task * step;
      const size_t rows = std::min(step, shape.rows - row);
      std::vector<float> block(rows * shape.columns);
      multiply({turned.data() + row * count, rows, count, count},
               {right.data(), count, shape.columns, shape.columns}, block);
      denormalise(block, layout().scale, layout().dtype,
                  out.data() + row * shape.columns * element_bytes);
    });
    return {};
  }

  void read_component(size_t k, std::span<float> u, std::span<float> v) const {
    const ComponentPlace place(layout(), k);
    const std::byte* const bytes = fragments()[place.fragment].data();
    float sigma = 0;
    std::memcpy(&sigma, bytes + place.sigma, sizeof sigma);
    convert_to_f32(layout().precision, bytes + place.u, u);
    convert_to_f32(layout().precision, bytes + place.v, v);
    const float factor = std::ldexp(sigma, -2 * vector_scale(layout().precision));
    for (float& value : u) value *= factor;
  }
};

}  // namespace

Result<EncodedTensor> encode_low_rank(const TransformInput& input, ThreadPool* pool) {
  const MatrixShape shape = matrix_shape(input.tensor.shape);
  const uint64_t rank = paying_rank(shape, input.options.max_rank);
  if (rank == 0) {
    return fail(ErrorCode::unsupported,
                fmt::format("low-rank encoding of {} x {} elements: one component takes more "
                            "numbers than they are; encode it as lossless",
                            shape.rows, shape.columns));
  }
  const Result<NormalisedTensor> tensor = normalise(input.tensor, pool);
  if (!tensor) return tensor.error();
  SingularComponents components =
      singular_components(tensor->values, shape, rank, input.options.seed, pool);

  TransformLayout layout = begin_layout(input, tensor->patches);
  layout.scale = tensor->scale;
  layout.rank = components.count();
  std::vector<std::vector<std::byte>> fragments = empty_fragments(layout);
  for (size_t k = 0; k < components.count(); ++k) {
    const ComponentPlace place(layout, k);
    std::byte* const bytes = fragments[place.fragment].data();
    store_vector(std::span(components.u).subspan(k * shape.rows, shape.rows), layout,
                 bytes + place.u);
    store_vector(std::span(components.v).subspan(k * shape.columns, shape.columns), layout,
                 bytes + place.v);
  }
  std::vector<double> energies = fit_sigmas(tensor->values, components, layout, fragments, pool);
  const double whole = tensor->energy;
  for (double& energy : energies) energy = whole > 0 ? energy / whole : 0;
  // A tensor of zeros is whole with any fragment.
  return finish_encoding(input, layout, std::move(fragments), whole > 0 ? 0 : 1,
                         std::move(energies), pool);
}

std::unique_ptr<TensorDecoder> low_rank_decoder(const TransformLayout& layout,
                                                std::vector<PatchRun> patches, QualityCurve curve) {
  return std::make_unique<LowRankDecoder>(layout, std::move(patches), std::move(curve));
}

}  // namespace hoist::tensors
