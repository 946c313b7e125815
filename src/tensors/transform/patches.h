// Elements that are not finite: transforms see 0 in their place, and they come back bit for bit
// from the description's parameters, whichever fragments there are.
//
// Runs of equal elements in rising order, each
//   varint gap        elements between the last run and this one
//   varint length     of the run, at least 1
//   element           raw, of the tensor's dtype
// where a varint is LEB128: seven bits a byte, lowest first, the top bit set on all but the last
// byte, at most ten bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "tensors/tensor.h"

namespace hoist::tensors {

struct PatchRun {
  uint64_t first = 0;
  uint64_t length = 0;
  uint64_t bits = 0;  // the element, zero-extended
};

// What parameters have room for.
inline constexpr size_t kMaxPatchBytes = size_t{48} << 10;

// Collects elements in rising order.
class PatchWriter {
 public:
  explicit PatchWriter(size_t element_bytes) : element_bytes_(element_bytes) {}

  void add(uint64_t index, uint64_t bits);
  // More than kMaxPatchBytes may have been needed; what came later is forgotten.
  bool too_many() const { return too_many_; }
  // Ends the writer.
  std::vector<std::byte> finish();

 private:
  void write_run();
  void write_varint(uint64_t value);

  size_t element_bytes_;
  PatchRun run_;
  uint64_t written_ = 0;  // elements up to here are done
  bool too_many_ = false;
  std::vector<std::byte> bytes_;
};

// Runs ascend, do not overlap and end within `elements`; `corrupt` otherwise. Their number is at
// most a third of the bytes'.
Result<std::vector<PatchRun>> read_patches(std::span<const std::byte> bytes, DType dtype,
                                           uint64_t elements);

// Writes those that touch elements [first, first + count), whose bytes are `out`.
void apply_patches(std::span<const PatchRun> runs, DType dtype, uint64_t first,
                   std::span<std::byte> out);

}  // namespace hoist::tensors
