#include "ops/gemm/matrix_ends.h"

#include <algorithm>
#include <cstring>

namespace hoist::gemm {
namespace {

// Calls visit(column, offset in it, offset in the range, bytes, the column's memory) for every run
// of the packed range [at, at + size) that lies in one column.
template <typename Visit>
void for_each_run(const SubMatrix& matrix, uint64_t at, size_t size, Visit visit) {
  const uint64_t column_bytes = static_cast<uint64_t>(matrix.rows) * matrix.element;
  const uint64_t pitch = static_cast<uint64_t>(matrix.leading) * matrix.element;
  size_t done = 0;
  while (done < size) {
    const uint64_t item = (at + done) / matrix.item_bytes();
    const uint64_t column = (at + done) % matrix.item_bytes() / column_bytes;
    const uint64_t inside = (at + done) % column_bytes;
    const size_t run = std::min<uint64_t>(size - done, column_bytes - inside);
    visit(column, inside, done, run, matrix.item(static_cast<int64_t>(item)) + column * pitch);
    done += run;
  }
}

}  // namespace

Status MatrixReader::read(uint64_t at, std::span<std::byte> into) {
  for_each_run(matrix_, at, into.size(),
               [&](uint64_t, uint64_t inside, size_t done, size_t run, const std::byte* column) {
                 std::memcpy(into.data() + done, column + inside, run);
               });
  return {};
}

Status MatrixWriter::write(uint64_t at, std::span<const std::byte> bytes) {
  for_each_run(matrix_, at, bytes.size(),
               [&](uint64_t index, uint64_t inside, size_t done, size_t run, std::byte* column) {
                 // The rows of this column that count are [first, last), in bytes.
                 const uint64_t diagonal = index * matrix_.element;
                 uint64_t first = inside;
                 uint64_t last = inside + run;
                 if (matrix_.region == Region::lower) first = std::max(first, diagonal);
                 if (matrix_.region == Region::upper) {
                   last = std::min(last, diagonal + matrix_.element);
                 }
                 if (first >= last) return;
                 std::memcpy(column + first, bytes.data() + done + (first - inside), last - first);
               });
  return {};
}

}  // namespace hoist::gemm
