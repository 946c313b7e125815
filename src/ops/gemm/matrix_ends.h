// Sub-matrices of the program's memory as an end of a transfer: their columns one after another, so
// that they lie packed on the device (leading dimension = rows).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device/host_end.h"

namespace hoist::gemm {

// Which elements of a square matrix may be written.
enum class Region : uint8_t { all, upper, lower };

struct SubMatrix {
  std::byte* data = nullptr;  // of element (0, 0)
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t leading = 0;  // elements
  size_t element = 0;   // bytes
  Region region = Region::all;
  int64_t count = 1;                   // of matrices, one behind the other in the transfer
  const void* const* items = nullptr;  // where they are; null: `stride` bytes from one to the next
  int64_t stride = 0;

  // item_bytes() is the size of one matrix, bytes() that of all.
  uint64_t item_bytes() const {
    return static_cast<uint64_t>(rows) * static_cast<uint64_t>(columns) * element;
  }
  uint64_t bytes() const { return item_bytes() * static_cast<uint64_t>(count); }
  std::byte* item(int64_t index) const {
    if (items != nullptr) return static_cast<std::byte*>(const_cast<void*>(items[index]));
    return data + index * stride;
  }
  // All bytes follow one another.
  bool is_contiguous() const {
    if (region != Region::all || (leading != rows && columns > 1)) return false;
    return count == 1 || (items == nullptr && stride == static_cast<int64_t>(item_bytes()));
  }
};

class MatrixReader : public device::HostReader {
 public:
  explicit MatrixReader(const SubMatrix& matrix) : matrix_(matrix) {}
  Status read(uint64_t at, std::span<std::byte> into) override;

 private:
  SubMatrix matrix_;
};

// Leaves the elements outside the region as they are.
class MatrixWriter : public device::HostWriter {
 public:
  explicit MatrixWriter(const SubMatrix& matrix) : matrix_(matrix) {}
  Status write(uint64_t at, std::span<const std::byte> bytes) override;

 private:
  SubMatrix matrix_;
};

}  // namespace hoist::gemm
