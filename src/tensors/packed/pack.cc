#include "tensors/packed/pack.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>

#include "base/chunks.h"
#include "tensors/packed/tile.h"

namespace hoist::tensors::packed {
namespace {

constexpr uint32_t kExponents = 256;
// Rows that one task of many unpacks for a caller who looks some up.
constexpr size_t kRowsPerTask = 64;

using Histogram = std::array<uint32_t, kExponents>;

// How often each exponent occurs in a row, zeros apart.
struct RowCounts {
  Histogram exponents{};
  uint32_t zeros = 0;

  void count(const uint16_t* weights, uint32_t columns) {
    // Four tables, as equal neighbours would wait for one another.
    std::array<Histogram, 4> tables{};
    for (uint32_t i = 0; i < columns; ++i) ++tables[i % 4][exponent_of(weights[i])];
    for (uint32_t i = 0; i < columns; ++i) zeros += (weights[i] & kMagnitude) == 0;
    for (uint32_t e = 0; e < kExponents; ++e) {
      exponents[e] = tables[0][e] + tables[1][e] + tables[2][e] + tables[3][e];
    }
  }
  uint32_t escapes(uint32_t columns, uint32_t base) const {
    uint32_t inside = zeros;
    for (uint32_t e = base + 1; e <= base + kCodes; ++e) inside += exponents[e];
    return columns - inside;
  }
};

const uint16_t* row_of(const PlainMatrix& matrix, uint32_t row) {
  return matrix.weights + row * matrix.row_stride;
}

uint32_t rows_of_block(uint32_t rows, uint32_t block) {
  return std::min(kTileRows, rows - block * kTileRows);
}

void plan_block(const PlainMatrix& matrix, uint32_t block, Plan& plan) {
  const uint32_t rows = rows_of_block(matrix.rows, block);
  std::array<RowCounts, kTileRows> counts{};
  Histogram all{};
  for (uint32_t r = 0; r < rows; ++r) {
    counts[r].count(row_of(matrix, block * kTileRows + r), matrix.columns);
    for (uint32_t e = 0; e < kExponents; ++e) all[e] += counts[r].exponents[e];
  }
  const uint32_t base = best_base(all);
  plan.bases[block] = static_cast<uint8_t>(base);
  for (uint32_t r = 0; r < rows; ++r) {
    plan.row_escapes[block * kTileRows + r] = counts[r].escapes(matrix.columns, base);
  }
}

// Numbers of escapes become the places where each row's begin.
Status sum_escapes(Plan& plan) {
  uint64_t sum = 0;
  for (uint32_t row = 0; row < plan.shape.rows; ++row) {
    const uint32_t count = plan.row_escapes[row];
    plan.most_in_row = std::max(plan.most_in_row, count);
    plan.row_escapes[row] = static_cast<uint32_t>(sum);
    sum += count;
    if (sum > std::numeric_limits<uint32_t>::max()) {
      return fail(ErrorCode::unsupported, "a packed matrix has less than 2^32 escapes");
    }
  }
  plan.row_escapes[plan.shape.rows] = static_cast<uint32_t>(sum);
  plan.shape.escapes = static_cast<uint32_t>(sum);
  return {};
}

// Whole vectors at a time.
uint32_t count_escapes(const uint16_t* weights, uint32_t count, uint32_t base) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const auto code = static_cast<uint16_t>((weights[i] >> 7 & 0xff) - base);
    const bool has_code = static_cast<uint16_t>(code - 1) < kCodes;
    found += !has_code && (weights[i] & kMagnitude) != 0;
  }
  return found;
}

void pack_block(const PlainMatrix& matrix, const Plan& plan, uint32_t block, uint16_t* tiles,
                Escape* escapes) {
  const uint32_t rows = rows_of_block(matrix.rows, block);
  const uint32_t base = plan.bases[block];
  uint16_t lines[kTileRows * kTileColumns];
  for (uint32_t tile = 0; tile < plan.shape.row_tiles(); ++tile) {
    const uint32_t begin = tile * kTileColumns;
    const uint32_t columns = std::min(kTileColumns, matrix.columns - begin);
    if (rows < kTileRows || columns < kTileColumns) std::memset(lines, 0, sizeof lines);
    for (uint32_t r = 0; r < rows; ++r) {
      std::memcpy(lines + r * kTileColumns, row_of(matrix, block * kTileRows + r) + begin,
                  columns * sizeof(uint16_t));
    }
    encode_tile(lines, kTileColumns, base,
                tiles + (uint64_t{block} * plan.shape.row_tiles() + tile) * (kTileBytes / 2));
  }
  for (uint32_t r = 0; r < rows; ++r) {
    const uint32_t row = block * kTileRows + r;
    uint32_t at = plan.row_escapes[row];
    const uint32_t end = plan.row_escapes[row + 1];
    const uint16_t* const weights = row_of(matrix, row);
    for (uint32_t begin = 0; at < end; begin += kTileColumns) {
      const uint32_t stop = std::min(begin + kTileColumns, matrix.columns);
      if (count_escapes(weights + begin, stop - begin, base) == 0) continue;
      for (uint32_t column = begin; column < stop; ++column) {
        if (is_escape(weights[column], base)) escapes[at++] = {column, weights[column]};
      }
    }
  }
}

void zero(std::span<std::byte> bytes, uint64_t begin, uint64_t end) {
  std::memset(bytes.data() + begin, 0, end - begin);
}

void unpack_row(const View& view, uint32_t row, uint16_t* weights) {
  const uint32_t block = row / kTileRows;
  const uint32_t base = base_of(view.factors[block]);
  const uint16_t* tile = view.tiles + uint64_t{block} * view.shape.row_tiles() * (kTileBytes / 2);
  for (uint32_t begin = 0; begin < view.shape.columns; begin += kTileColumns) {
    const uint32_t columns = std::min(kTileColumns, view.shape.columns - begin);
    for (uint32_t i = 0; i < columns; ++i) {
      weights[begin + i] = weight_at(tile, base, row % kTileRows, i);
    }
    tile += kTileBytes / 2;
  }
  for (uint32_t i = view.row_escapes[row]; i < view.row_escapes[row + 1]; ++i) {
    weights[view.escapes[i].column] = static_cast<uint16_t>(view.escapes[i].bits);
  }
}

Status check_size(const Shape& shape, uint64_t rows, size_t weights) {
  if (weights == rows * shape.columns) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("{} weights for {} rows of {}", weights, rows, shape.columns));
}

}  // namespace

uint32_t best_base(std::span<const uint32_t> counts) {
  uint64_t inside = 0;
  for (uint32_t e = 1; e <= kCodes; ++e) inside += counts[e];
  uint64_t most = inside;
  uint32_t best = 0;
  for (uint32_t base = 1; base <= kLargestBase; ++base) {
    inside += counts[base + kCodes];
    inside -= counts[base];
    if (inside >= most) {
      most = inside;
      best = base;
    }
  }
  return best;
}

Result<Plan> plan_packing(const PlainMatrix& matrix) {
  if (Status fits = check_extents(matrix.rows, matrix.columns); !fits) return fits.error();
  Plan plan;
  plan.shape = {matrix.rows, matrix.columns, 0};
  plan.bases.resize(plan.shape.row_blocks());
  plan.row_escapes.resize(size_t{matrix.rows} + 1);
  ThreadPool::process().parallel_for(plan.bases.size(), [&](size_t block) {
    plan_block(matrix, static_cast<uint32_t>(block), plan);
  });
  if (Status summed = sum_escapes(plan); !summed) return summed.error();
  return plan;
}

Status pack(const PlainMatrix& matrix, const Plan& plan, std::span<std::byte> bytes) {
  const Shape& shape = plan.shape;
  const Result<View> view = view_of(bytes.data(), bytes.size(), shape);
  if (!view) return view.error();
  if (matrix.rows != shape.rows || matrix.columns != shape.columns) {
    return fail(ErrorCode::invalid_argument, "the plan is of a matrix of another shape");
  }
  auto* const tiles = reinterpret_cast<uint16_t*>(bytes.data());
  auto* const factors = reinterpret_cast<uint32_t*>(bytes.data() + shape.factors_at());
  auto* const escapes = reinterpret_cast<Escape*>(bytes.data() + shape.escapes_at());
  zero(bytes, shape.tiles_bytes(), shape.factors_at());
  for (uint32_t block = 0; block < shape.row_blocks(); ++block) {
    factors[block] = factor_of(plan.bases[block]);
  }
  zero(bytes, shape.factors_at() + shape.row_blocks() * sizeof(uint32_t), shape.row_escapes_at());
  const size_t row_bytes = plan.row_escapes.size() * sizeof(uint32_t);
  std::memcpy(bytes.data() + shape.row_escapes_at(), plan.row_escapes.data(), row_bytes);
  zero(bytes, shape.row_escapes_at() + row_bytes, shape.escapes_at());
  zero(bytes, shape.escapes_at() + shape.escapes * sizeof(Escape), shape.bytes());
  ThreadPool::process().parallel_for(shape.row_blocks(), [&](size_t block) {
    pack_block(matrix, plan, static_cast<uint32_t>(block), tiles, escapes);
  });
  return {};
}

void unpack_block(const View& view, uint32_t block, uint16_t* lines) {
  const Shape& shape = view.shape;
  const uint32_t base = base_of(view.factors[block]);
  const uint64_t stride = uint64_t{shape.row_tiles()} * kTileColumns;
  const uint16_t* tile = view.tiles + uint64_t{block} * shape.row_tiles() * (kTileBytes / 2);
  for (uint32_t i = 0; i < shape.row_tiles(); ++i) {
    decode_tile(tile, base, lines + i * kTileColumns, stride);
    tile += kTileBytes / 2;
  }
  for (uint32_t r = 0; r < rows_of_block(shape.rows, block); ++r) {
    const uint32_t row = block * kTileRows + r;
    for (uint32_t i = view.row_escapes[row]; i < view.row_escapes[row + 1]; ++i) {
      const Escape& escape = view.escapes[i];
      lines[r * stride + escape.column] = static_cast<uint16_t>(escape.bits);
    }
  }
}

Status unpack(const View& view, std::span<uint16_t> weights) {
  const Shape& shape = view.shape;
  if (Status fits = check_size(shape, shape.rows, weights.size()); !fits) return fits;
  if (weights.empty()) return {};
  ThreadPool::process().parallel_for(shape.row_blocks(), [&](size_t number) {
    const auto block = static_cast<uint32_t>(number);
    const size_t stride = size_t{shape.row_tiles()} * kTileColumns;
    const auto lines = std::make_unique_for_overwrite<uint16_t[]>(kTileRows * stride);
    unpack_block(view, block, lines.get());
    for (uint32_t r = 0; r < rows_of_block(shape.rows, block); ++r) {
      std::memcpy(weights.data() + (size_t{block} * kTileRows + r) * shape.columns,
                  lines.get() + r * stride, shape.columns * sizeof(uint16_t));
    }
  });
  return {};
}

Status unpack_rows(const View& view, std::span<const int64_t> rows, std::span<uint16_t> weights) {
  const Shape& shape = view.shape;
  if (Status fits = check_size(shape, rows.size(), weights.size()); !fits) return fits;
  for (const int64_t row : rows) {
    if (row >= 0 && row < shape.rows) continue;
    return fail(ErrorCode::invalid_argument,
                fmt::format("row {} of a matrix of {} rows", row, shape.rows));
  }
  parallel_for_chunks(
      ThreadPool::process(), rows.size(), kRowsPerTask, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
          unpack_row(view, static_cast<uint32_t>(rows[i]), weights.data() + i * shape.columns);
        }
      });
  return {};
}

}  // namespace hoist::tensors::packed
