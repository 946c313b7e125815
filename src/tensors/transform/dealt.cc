#include "tensors/transform/dealt.h"

#include <algorithm>
#include <cmath>

#include "array/convert.h"
#include "tensors/transform/dealing.h"
#include "tensors/transform/tasks.h"
#include "tensors/transform/values.h"

namespace hoist::tensors {
namespace {

constexpr int kF16Exponent = 14;  // of the largest value: below 2^15, and f16 ends at 65504

// piece(place among the coefficients, number among the items from `first` on, length)
template <typename Piece>
void for_item_pieces(Region region, uint64_t first, uint64_t count, Piece piece) {
  if (region == nullptr) return piece(first, 0, count);
  uint64_t row = region->row_of_item(first);
  for (uint64_t done = 0; done < count; ++row) {
    const uint64_t end = std::min(first + count, region->items_before(row + 1));
    // Items of a row follow its essential coefficients.
    const uint64_t within = first + done - region->items_before(row);
    const uint64_t length = end - (first + done);
    piece(row * region->columns() + region->length(row) + within, done, length);
    done += length;
  }
}

// piece(place among the coefficients, number among the common ones, length)
template <typename Piece>
void for_common_pieces(Region region, const TransformLayout& layout, Piece piece) {
  if (region == nullptr) return piece(layout.elements - layout.common, 0, layout.common);
  for (uint64_t row = 0; row < region->rows() && region->length(row) > 0; ++row) {
    piece(row * region->columns(), region->before(row), region->length(row));
  }
}

// Groups that are done at a time.
struct GroupChunks {
  explicit GroupChunks(const TransformLayout& layout)
      : groups(layout.groups),
        step(std::max<uint64_t>(64, kChunkElements / layout.fragments)),
        count((groups + step - 1) / step) {}
  uint64_t first(size_t i) const { return i * step; }
  uint64_t size(size_t i) const { return std::min(step, groups - first(i)); }

  uint64_t groups;
  uint64_t step;
  size_t count;
};

// Rounds `values` to the layout's precision at `out`; returns what they take from the error.
double store(std::span<const float> values, const TransformLayout& layout, std::byte* out) {
  convert_from_f32(values, layout.precision, out);
  float stored[256];
  double energy = 0;
  for (size_t done = 0; done < values.size(); done += std::size(stored)) {
    const size_t count = std::min(std::size(stored), values.size() - done);
    convert_to_f32(layout.precision, out + done * layout.precision_bytes, std::span(stored, count));
    for (size_t i = 0; i < count; ++i) {
      // x^2 - (x - s)^2
      const double s = stored[i];
      energy += s * (2.0 * values[done + i] - s);
    }
  }
  return energy;
}

}  // namespace

int precision_scale(DType precision, float largest) {
  if (precision != DType::f16 || largest == 0) return 0;
  return kF16Exponent - std::ilogb(largest);
}

StoredEnergies store_coefficients(std::span<const float> coefficients, int scale,
                                  const TransformLayout& layout, Region region,
                                  std::vector<std::vector<std::byte>>& fragments,
                                  ThreadPool* pool) {
  const float factor = std::ldexp(1.0f, scale);
  StoredEnergies energies;
  std::vector<float> common(layout.common);
  for_common_pieces(region, layout, [&](uint64_t from, uint64_t to, uint64_t length) {
    for (uint64_t i = 0; i < length; ++i) common[to + i] = coefficients[from + i] * factor;
  });
  for (std::vector<std::byte>& fragment : fragments) {
    energies.common = store(common, layout, fragment.data() + layout.common_offset());
  }

  const Dealing dealing(layout.fragments, layout.seed);
  const GroupChunks chunks(layout);
  const size_t n = layout.fragments;
  std::vector<double> chunk_energies(chunks.count * n);
  run_tasks(pool, chunks.count, [&](size_t task) {
    const uint64_t first = chunks.first(task);
    const uint64_t groups = chunks.size(task);
    std::vector<float> items(groups * n);
    std::vector<float> values(groups * n);
    for_item_pieces(region, first * n, groups * n,
                    [&](uint64_t from, uint64_t to, uint64_t length) {
                      for (uint64_t i = 0; i < length; ++i)
                        items[to + i] = coefficients[from + i] * factor;
                    });
    dealing.deal(items, first, groups, values);
    for (size_t f = 0; f < n; ++f) {
      chunk_energies[task * n + f] =
          store(std::span(values).subspan(f * groups, groups), layout,
                fragments[f].data() + layout.dealt_offset() + first * layout.precision_bytes);
    }
  });

  const double unscale = std::ldexp(1.0, -2 * scale);
  energies.common *= unscale;
  energies.fragments.resize(n);
  for (size_t i = 0; i < chunk_energies.size(); ++i) {
    energies.fragments[i % n] += chunk_energies[i] * unscale;
  }
  return energies;
}

void load_coefficients(std::span<const std::span<const std::byte>> fragments,
                       const TransformLayout& layout, Region region, std::span<float> coefficients,
                       ThreadPool* pool) {
  const auto there = std::find_if(fragments.begin(), fragments.end(),
                                  [](std::span<const std::byte> bytes) { return !bytes.empty(); });
  const uint64_t value_bytes = layout.precision_bytes;
  for_common_pieces(region, layout, [&](uint64_t to, uint64_t from, uint64_t length) {
    convert_to_f32(layout.precision, there->data() + layout.common_offset() + from * value_bytes,
                   coefficients.subspan(to, length));
  });

  const Dealing dealing(layout.fragments, layout.seed);
  const GroupChunks chunks(layout);
  const size_t n = layout.fragments;
  run_tasks(pool, chunks.count, [&](size_t task) {
    const uint64_t first = chunks.first(task);
    const uint64_t groups = chunks.size(task);
    std::vector<float> values(groups * n);
    for (size_t f = 0; f < n; ++f) {
      if (fragments[f].empty()) continue;
      convert_to_f32(layout.precision,
                     fragments[f].data() + layout.dealt_offset() + first * value_bytes,
                     std::span(values).subspan(f * groups, groups));
    }
    if (region == nullptr) {
      dealing.collect(values, first, groups, coefficients.subspan(first * n, groups * n));
      return;
    }
    std::vector<float> items(groups * n);
    dealing.collect(values, first, groups, items);
    for_item_pieces(region, first * n, items.size(),
                    [&](uint64_t to, uint64_t from, uint64_t length) {
                      std::copy_n(items.begin() + static_cast<ptrdiff_t>(from), length,
                                  coefficients.begin() + static_cast<ptrdiff_t>(to));
                    });
  });
}

}  // namespace hoist::tensors
