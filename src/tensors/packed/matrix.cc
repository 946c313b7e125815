#include "tensors/packed/matrix.h"

#include <fmt/core.h>

namespace hoist::tensors::packed {
namespace {

constexpr uint64_t kFewestWeights = 1 << 16;
constexpr uint64_t kMostTilesBytes = uint64_t{kTileBytes} << 30;

constexpr uint64_t aligned(uint64_t bytes) {
  return (bytes + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
}

Error corrupt(std::string what) {
  return fail(ErrorCode::corrupt, "packed matrix: " + std::move(what));
}

Status check_row(const View& view, uint32_t row) {
  const uint32_t begin = view.row_escapes[row];
  const uint32_t end = view.row_escapes[row + 1];
  if (begin > end || end > view.shape.escapes) {
    return corrupt(fmt::format("the escapes of row {} are {} to {} of {}", row, begin, end,
                               view.shape.escapes));
  }
  uint64_t next = 0;
  for (uint32_t i = begin; i < end; ++i) {
    const Escape& escape = view.escapes[i];
    if (escape.column < next || escape.column >= view.shape.columns) {
      return corrupt(fmt::format("an escape of row {} at column {} of {}, or out of order", row,
                                 escape.column, view.shape.columns));
    }
    if (escape.bits > 0xffff) return corrupt(fmt::format("an escape of row {} has 32 bits", row));
    next = uint64_t{escape.column} + 1;
  }
  return {};
}

}  // namespace

uint64_t Shape::factors_at() const { return aligned(tiles_bytes()); }
uint64_t Shape::row_escapes_at() const {
  return aligned(factors_at() + row_blocks() * sizeof(uint32_t));
}
uint64_t Shape::escapes_at() const {
  return aligned(row_escapes_at() + (uint64_t{rows} + 1) * sizeof(uint32_t));
}
uint64_t Shape::bytes() const { return aligned(escapes_at() + escapes * sizeof(Escape)); }

Status check_extents(uint64_t rows, uint64_t columns) {
  const Shape shape = {static_cast<uint32_t>(rows), static_cast<uint32_t>(columns), 0};
  if (rows <= kMostRows && columns <= kMostColumns && shape.tiles_bytes() <= kMostTilesBytes) {
    return {};
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("a matrix of {} x {}: packed ones have at most 2^30 rows, columns and "
                          "tiles of 16 x 64",
                          rows, columns));
}

Result<View> view_of(const void* bytes, uint64_t size, const Shape& shape) {
  if (Status fits = check_extents(shape.rows, shape.columns); !fits) return fits.error();
  if (size != shape.bytes()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} bytes for a packed matrix of {} x {} with {} escapes, which has {}",
                            size, shape.rows, shape.columns, shape.escapes, shape.bytes()));
  }
  if (reinterpret_cast<uintptr_t>(bytes) % 16 != 0) {
    return fail(ErrorCode::invalid_argument, "a packed matrix must lie at a multiple of 16 bytes");
  }
  const auto* const begin = static_cast<const std::byte*>(bytes);
  return View{reinterpret_cast<const uint16_t*>(begin),
              reinterpret_cast<const uint32_t*>(begin + shape.factors_at()),
              reinterpret_cast<const uint32_t*>(begin + shape.row_escapes_at()),
              reinterpret_cast<const Escape*>(begin + shape.escapes_at()), shape};
}

Status check_contents(const View& view) {
  const Shape& shape = view.shape;
  for (uint32_t block = 0; block < shape.row_blocks(); ++block) {
    if (!is_factor(view.factors[block])) {
      return corrupt(
          fmt::format("the factor of row block {} is {:#x}", block, view.factors[block]));
    }
  }
  if (view.row_escapes[0] != 0 || view.row_escapes[shape.rows] != shape.escapes) {
    return corrupt(fmt::format("rows have escapes {} to {} of {}", view.row_escapes[0],
                               view.row_escapes[shape.rows], shape.escapes));
  }
  for (uint32_t row = 0; row < shape.rows; ++row) {
    if (Status checked = check_row(view, row); !checked) return checked;
  }
  return {};
}

Plainness plainness(const Shape& shape, uint32_t most_in_row) {
  const bool is_small =
      shape.weights() < kFewestWeights || shape.bytes() * 8 > shape.plain_bytes() * 7;
  if (uint64_t{shape.escapes} * 100 > shape.weights()) return Plainness::many_escapes;
  if (most_in_row > uint64_t{shape.columns} * 4 / 100 + 64) return Plainness::crowded_row;
  return is_small ? Plainness::small : Plainness::packed;
}

const char* reason(Plainness plainness) {
  switch (plainness) {
    case Plainness::packed:
      return "packed";
    case Plainness::small:
      return "too small to gain";
    case Plainness::many_escapes:
      return "more than 1 % of the weights have exponents outside of their rows' windows";
    case Plainness::crowded_row:
      return "a row has more than 4 % of such weights";
  }
  return "";
}

}  // namespace hoist::tensors::packed
