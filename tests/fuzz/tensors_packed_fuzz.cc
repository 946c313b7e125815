// Arbitrary bytes as a packed matrix: what its check lets pass is unpacked, looked up and
// multiplied inside of its bytes, and packs and unpacks to itself. The same bytes as weights: all
// come back.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "tensors/packed/matmul.h"
#include "tensors/packed/pack.h"

namespace {

using namespace hoist;
using namespace hoist::tensors::packed;

constexpr uint32_t kMost = 200;  // rows and columns: the work of one input is bounded

void require(bool holds) {
  if (!holds) std::abort();
}

// A copy that ends where the matrix does, so that AddressSanitizer sees what is read behind it.
std::vector<std::byte> packed_of(std::span<const uint16_t> weights, Shape& shape) {
  const PlainMatrix matrix = {weights.data(), shape.rows, shape.columns, shape.columns};
  const Result<Plan> plan = plan_packing(matrix);
  require(plan.has_value());
  shape = plan->shape;
  std::vector<std::byte> bytes(shape.bytes());
  require(pack(matrix, *plan, bytes).has_value());
  return bytes;
}

std::vector<uint16_t> use(const View& view) {
  const Shape& shape = view.shape;
  std::vector<uint16_t> weights(shape.weights());
  require(unpack(view, weights).has_value());
  std::vector<uint16_t> row(shape.columns);
  for (int64_t i = 0; i < shape.rows; ++i) {
    require(unpack_rows(view, std::span(&i, 1), row).has_value());
    require(shape.columns == 0 ||
            std::memcmp(row.data(), weights.data() + i * shape.columns, 2 * row.size()) == 0);
  }
  const std::vector<uint16_t> x(shape.columns, 0x3f80);
  std::vector<uint16_t> y(shape.rows);
  require(matmul(view, {x.data(), 1, shape.columns, y.data(), shape.rows}).has_value());
  return weights;
}

void round_trip(std::span<const uint16_t> weights, Shape shape) {
  const std::vector<std::byte> bytes = packed_of(weights, shape);
  const Result<View> view = view_of(bytes.data(), bytes.size(), shape);
  require(view && check_contents(*view));
  const std::vector<uint16_t> back = use(*view);
  require(back.empty() || std::memcmp(back.data(), weights.data(), 2 * back.size()) == 0);
}

}  // namespace

// Three bytes say the shape; the next 16-bit words are the matrix's tables or its weights.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4) return 0;
  const Shape shape = {data[0] % kMost, data[1] % kMost, data[2]};
  std::vector<uint16_t> words((size - 4) / 2);
  if (!words.empty()) std::memcpy(words.data(), data + 4, 2 * words.size());
  if (data[3] % 2 == 0) {
    words.resize(shape.weights());
    round_trip(words, shape);
    return 0;
  }
  // Tables as given; tiles, of which all bits are some weights, repeat the first words.
  std::vector<std::byte> bytes(shape.bytes());
  const uint64_t tables = bytes.size() - shape.factors_at();
  const uint64_t given = std::min<uint64_t>(tables, 2 * words.size());
  if (given != 0) std::memcpy(bytes.data() + shape.factors_at(), words.data(), given);
  for (uint64_t i = 0; i < shape.tiles_bytes() && !words.empty(); ++i) {
    bytes[i] = static_cast<std::byte>(words[i % words.size()]);
  }
  const Result<View> view = view_of(bytes.data(), bytes.size(), shape);
  require(view.has_value());
  if (!check_contents(*view)) return 0;
  round_trip(use(*view), {shape.rows, shape.columns, 0});
  return 0;
}
