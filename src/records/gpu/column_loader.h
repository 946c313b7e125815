// Columns of a file of records in a device's memory, as typed arrays.
//
//   ColumnLoader loader(device);
//   Result<DeviceColumns> columns = loader.load(reader, request, meaning);
//
// Blocks are read, checked and taken apart on all threads of the pool; the streams of the wanted
// columns, and of those that these are predicted from, go to the device as they are stored, and
// kernels decode them there while later blocks are read. What the kernels do not decode the CPU
// does, column by column of a block, and DeviceColumns says where (on_cpu). On the CPU device the
// same goes on in host memory.
//
// Memory on the device while loading: the columns, with conditions twice; three times 320 MiB at
// most. Pinned on the host: three times 72 MiB, kept for the next call. One thread at a time.
//
// Errors: `corrupt`, `cancelled`, `exhausted`, and what files and devices answer.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "device/buffer.h"
#include "device/pinned_pool.h"
#include "records/gpu/block_plan.h"
#include "records/reader.h"

namespace hoist::records {

// Rows first to end - 1 of a block.
struct BlockRows {
  size_t block;
  uint32_t first;
  uint32_t end;
};

struct LoadRequest {
  std::vector<WantedColumn> columns;  // kMostWanted with the conditions, at most
  std::vector<BlockRows> blocks;      // in their order; of rows that nobody wants none
  std::vector<Condition> where;       // that all hold
  std::stop_token stop = {};
  int decode_repeats = 1;  // how often kernels run: for measuring them
};

struct DeviceColumn {
  std::byte* values = nullptr;
  uint8_t* valid = nullptr;  // a byte for each row; null where the column is not nullable
  uint64_t on_cpu = 0;       // blocks of which the CPU decoded it
};

struct LoadStatistics {
  uint64_t blocks = 0;
  uint64_t skipped = 0;            // of these, by the ranges of their numbers
  uint64_t conditions_on_cpu = 0;  // conditions of blocks that the CPU evaluated
  uint64_t stored_bytes = 0;       // of the blocks
  uint64_t copied_bytes = 0;       // to the device
  double prepare_seconds = 0;      // reading and taking apart
  double wait_seconds = 0;         // for the device
};

struct DeviceColumns {
  uint64_t rows = 0;
  std::vector<DeviceColumn> columns;
  std::shared_ptr<device::Buffer> memory;  // that they lie in
  LoadStatistics statistics;
};

class ColumnLoader {
 public:
  explicit ColumnLoader(device::Device& device) : pool_(device) {}
  device::Device& device() const { return pool_.device(); }
  device::PinnedPool& pool() { return pool_; }

  // Returns when all is there.
  Result<DeviceColumns> load(const RecordReader& reader, const LoadRequest& request,
                             ColumnMeaning& meaning);

 private:
  device::PinnedPool pool_;
};

}  // namespace hoist::records
