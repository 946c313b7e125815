// Matrices that the program keeps as they are (include/hoist/gemm.h), and their copies on a device.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "device/buffer.h"
#include "ops/gemm/plan.h"

namespace hoist::gemm {

// The ranges of memory that the program has promised not to change. Thread-safe.
class KeptRanges {
 public:
  // This process's.
  static KeptRanges& get();

  // 0, or the errno value of include/hoist/gemm.h.
  int keep(const void* memory, size_t bytes);
  int dirty(const void* memory, size_t bytes);
  int release(const void* memory);

  // What a call is about to write, as dirty(), where anything is kept there: by us, or, where we
  // leave it to the program's BLAS (`is_ours` is false), by that, whatever it makes of it.
  void written_by(const hoist_blas_call& call, bool is_ours);

  // The number of the content of the range that holds all of [memory, memory + bytes): another
  // after each change, never one that was; 0: none holds it.
  uint64_t content(const void* memory, size_t bytes) const;

 private:
  struct Range {
    uintptr_t end;
    uint64_t content;
  };
  bool renew(uintptr_t first, uintptr_t end);
  void written(const Operand& operand, size_t element);

  mutable std::mutex mutex_;
  std::map<uintptr_t, Range> ranges_;  // by their first byte
  uint64_t contents_ = 0;
  std::atomic<bool> is_used_ = false;  // since the first keep()
};

// Copies of kept matrices in a device's memory, packed. Thread-safe.
class ResidentMatrices {
 public:
  explicit ResidentMatrices(const KeptRanges& ranges) : ranges_(ranges) {}

  struct Copy {
    std::shared_ptr<device::Buffer> buffer;  // null: not kept, or there is no memory for a copy
    bool is_there = false;                   // else it is to be uploaded
    uint64_t content = 0;
  };
  // Finds the copy of a matrix that a call reads.
  Copy find(device::Device& device, const Operand& operand, size_t element);
  // The copy has been uploaded.
  void add(const Operand& operand, size_t element, const Copy& copy);

  // Frees what no call will find again.
  void prune();
  // Frees all; false: there was none.
  bool drop();

 private:
  using Key = std::tuple<const std::byte*, int64_t, int64_t, int64_t, size_t>;
  static Key key_of(const Operand& operand, size_t element) {
    return {operand.data, operand.rows, operand.columns, operand.leading, element};
  }
  void prune_locked();

  const KeptRanges& ranges_;
  std::mutex mutex_;
  std::map<Key, Copy> copies_;
};

}  // namespace hoist::gemm
