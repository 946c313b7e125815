#include "ops/primitives/primitives.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

#include "ops/primitives/bitonic_sort.px.h"
#include "ops/primitives/elementwise.px.h"
#include "ops/primitives/histogram.px.h"
#include "ops/primitives/sum.px.h"
#include "ops/primitives/transpose.px.h"
#include "ops/primitives/vectors.px.h"

namespace hoist::primitives {
namespace {

namespace kernels = px::kernels;

constexpr uint64_t kVectorBytes = 16;

Error refuse(const char* what) { return fail(ErrorCode::invalid_argument, what); }

template <typename T>
std::span<T> span_of(Span<T> of) {
  return {of.data, of.size};
}

template <typename T>
bool is_aligned(Span<T> array) {
  return array.size == 0 || reinterpret_cast<uintptr_t>(array.data) % kVectorBytes == 0;
}

template <typename A, typename B>
bool overlap(Span<A> a, Span<B> b) {
  const auto begin_a = reinterpret_cast<uintptr_t>(a.data);
  const auto begin_b = reinterpret_cast<uintptr_t>(b.data);
  return begin_a < begin_b + b.size_bytes() && begin_b < begin_a + a.size_bytes();
}

template <typename A, typename B>
Status check_map(Span<A> from, Span<B> to) {
  if (from.size != to.size) return refuse("the arrays have different lengths");
  if (!is_aligned(from) || !is_aligned(to)) return refuse("an array is not aligned to 16 bytes");
  if (overlap(from, to)) return refuse("the output overlaps an input");
  return {};
}

uint64_t divided_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

// A grid holds 2^31 - 1 threads in each dimension.
Result<ir::Grid> line_of(uint64_t blocks, uint32_t threads) {
  if (blocks * threads > std::numeric_limits<int32_t>::max())
    return refuse("the array is too long");
  return ir::Grid{{static_cast<uint32_t>(blocks), 1, 1}, {threads, 1, 1}};
}

// Four elements a thread.
Result<ir::Grid> vectors(uint64_t size) { return line_of(divided_up(size, 1024), 256); }

}  // namespace

Status unary(const Stream& stream, Unary operation, Span<const float> x, Span<float> out) {
  if (Status fits = check_map(x, out); !fits) return fits;
  const Result<ir::Grid> grid = vectors(x.size);
  if (!grid) return grid.error();
  return kernels::elementwise_unary(stream, *grid, static_cast<int32_t>(operation), span_of(x),
                                    span_of(out));
}

Status binary(const Stream& stream, Binary operation, Span<const float> x, Span<const float> y,
              Span<float> out) {
  if (Status fits = check_map(x, out); !fits) return fits;
  if (Status fits = check_map(y, out); !fits) return fits;
  const Result<ir::Grid> grid = vectors(x.size);
  if (!grid) return grid.error();
  return kernels::elementwise_binary(stream, *grid, static_cast<int32_t>(operation), span_of(x),
                                     span_of(y), span_of(out));
}

Status copy(const Stream& stream, Span<const uint32_t> from, Span<uint32_t> to) {
  if (Status fits = check_map(from, to); !fits) return fits;
  const Result<ir::Grid> grid = vectors(from.size);
  if (!grid) return grid.error();
  return kernels::copy_words(stream, *grid, span_of(from), span_of(to));
}

Status fill(const Stream& stream, Span<uint32_t> to, uint32_t value) {
  if (!is_aligned(to)) return refuse("the array is not aligned to 16 bytes");
  const Result<ir::Grid> grid = vectors(to.size);
  if (!grid) return grid.error();
  return kernels::fill_words(stream, *grid, span_of(to), value);
}

Status saxpy(const Stream& stream, float a, Span<const float> x, Span<float> y) {
  if (Status fits = check_map(x, y); !fits) return fits;
  const Result<ir::Grid> grid = vectors(x.size);
  if (!grid) return grid.error();
  return kernels::saxpy(stream, *grid, a, span_of(x), span_of(y));
}

namespace {

constexpr size_t kSummed = 16384;  // by a block
constexpr uint32_t kSumThreads = 256;

// Rounded so that what follows it is aligned.
size_t sums_of(size_t values) { return (divided_up(values, kSummed) + 3) / 4 * 4; }

}  // namespace

size_t sum_scratch(size_t values) {
  size_t scratch = 0;
  for (size_t left = values; left > kSummed; left = divided_up(left, kSummed)) {
    scratch += sums_of(left);
  }
  return scratch;
}

Status sum(const Stream& stream, Span<const float> values, Span<float> result,
           Span<float> scratch) {
  if (result.size != 1) return refuse("a sum is one value");
  if (scratch.size < sum_scratch(values.size)) return refuse("too little scratch memory for a sum");
  if (!is_aligned(values) || !is_aligned(scratch)) {
    return refuse("an array is not aligned to 16 bytes");
  }
  if (overlap(values, result) || overlap(values, scratch)) {
    return refuse("the output overlaps an input");
  }
  Span<const float> left = values;
  size_t used = 0;
  while (true) {
    const size_t blocks = std::max<size_t>(divided_up(left.size, kSummed), 1);
    const Result<ir::Grid> grid = line_of(blocks, kSumThreads);
    if (!grid) return grid.error();
    const Span<float> sums = blocks == 1 ? result : scratch.subspan(used, blocks);
    if (Status done = kernels::sum_blocks(stream, *grid, span_of(left), span_of(sums)); !done) {
      return done;
    }
    if (blocks == 1) return {};
    used += sums_of(left.size);
    left = sums;
  }
}

Status transpose(const Stream& stream, Span<const uint32_t> from, Span<uint32_t> to, size_t width,
                 size_t height) {
  if (from.size != to.size || (width != 0 && from.size / width != height) ||
      from.size != width * height) {
    return refuse("a matrix has width times height elements");
  }
  if (overlap(from, to)) return refuse("the output overlaps the input");
  const uint64_t blocks_x = divided_up(width, 32);
  const uint64_t blocks_y = divided_up(height, 32);
  if (blocks_x > std::numeric_limits<int32_t>::max() / 32 || blocks_y > 65535) {
    return refuse("a matrix has at most 2^31 - 32 columns and 2097120 rows");
  }
  const ir::Grid grid = {{static_cast<uint32_t>(blocks_x), static_cast<uint32_t>(blocks_y), 1},
                         {32, 8, 1}};
  return kernels::transpose_words(stream, grid, span_of(from), span_of(to),
                                  static_cast<int64_t>(width), static_cast<int64_t>(height));
}

Status histogram(const Stream& stream, Span<const std::byte> data, Span<uint64_t> counts) {
  if (counts.size != 256) return refuse("a histogram of bytes has 256 counts");
  if (!is_aligned(data)) return refuse("the data is not aligned to 16 bytes");
  if (overlap(data, counts)) return refuse("the output overlaps the input");
  device::Device& device = stream.device();
  if (Status zeroed = device.fill(counts.data, std::byte{0}, counts.size_bytes(), stream.handle());
      !zeroed) {
    return zeroed;
  }
  constexpr uint64_t kBytesOfABlock = uint64_t{256} * 16 * 4;
  const auto most = static_cast<uint64_t>(std::max(device.properties().multiprocessors, 1)) * 8;
  const auto blocks = static_cast<uint32_t>(std::min(divided_up(data.size, kBytesOfABlock), most));
  return kernels::histogram_bytes(stream, {{blocks, 1, 1}, {256, 1, 1}},
                                  {reinterpret_cast<const uint8_t*>(data.data), data.size},
                                  {reinterpret_cast<const uint32_t*>(data.data), data.size / 4},
                                  span_of(counts));
}

Status bitonic_sort(const Stream& stream, Span<uint32_t> keys) {
  constexpr uint64_t kTile = 2048;
  constexpr uint32_t kThreads = 1024;
  const Result<ir::Grid> tiles = line_of(divided_up(keys.size, kTile), kThreads);
  if (!tiles) return tiles.error();
  Status done = kernels::bitonic_tile(stream, *tiles, span_of(keys), true);
  // Each grid of comparators has half as many threads as keys, rounded up to whole tiles.
  for (uint64_t size = 2 * kTile; done && size < 2 * keys.size; size *= 2) {
    for (uint64_t distance = size / 2; done && distance >= kTile; distance /= 2) {
      // A last merge that is not whole has comparators up to its mirror image.
      const Result<ir::Grid> grid =
          line_of(divided_up(divided_up(keys.size, size) * size / 2, kThreads), kThreads);
      if (!grid) return grid.error();
      done = kernels::bitonic_compare(stream, *grid, span_of(keys), static_cast<int64_t>(distance),
                                      distance == size / 2);
    }
    if (done) done = kernels::bitonic_tile(stream, *tiles, span_of(keys), false);
  }
  return done;
}

}  // namespace hoist::primitives
