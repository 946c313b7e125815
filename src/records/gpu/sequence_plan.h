// Plans the decoding of a block's sequences on a device: see block_plan.h.
#pragma once

#include <map>

#include "records/column_layout.h"
#include "records/gpu/block_plan.h"

namespace hoist::records {

class SequencePlan {
 public:
  SequencePlan(const PlanContext& context, const Block& block, uint32_t flag, BlockJobs& jobs)
      : context_(context), block_(block), flag_(flag), jobs_(jobs) {}

  struct Planned {
    const int64_t* values = nullptr;
    size_t count = 0;
    uint32_t codes = 0;    // of a dictionary
    size_t level = 0;      // the step behind which they are there
    bool has_all = false;  // a number for each value of the column
    bool on_cpu = false;   // the CPU decoded it, or what it is made from
  };

  // The layout of a column of the block; of the one that it copies where it is a copy. Lives as
  // long as the plan.
  Result<const ColumnLayout*> layout(size_t column);
  // The numbers of a column, or codes of its dictionary.
  Result<Planned> sequence(size_t column);

  // A copy of these bytes that goes to the device, with 16 zero bytes behind them.
  std::byte* stage(std::span<const std::byte> bytes);
  Arena::Piece room(size_t size);
  bool is_full() const { return full_; }

 private:
  // Behind its sources.
  Status plan(size_t column);
  Result<const uint8_t*> symbols(std::span<const std::byte> stream, size_t count, SequenceJob& job);
  Result<const uint8_t*> coded_symbols(std::span<const std::byte> stream, size_t count);
  Result<const uint8_t*> symbols_by_cpu(std::span<const std::byte> stream, size_t count);
  Status tokens(std::span<const std::byte> stream, size_t count, SequenceJob& job);
  Status integers(std::span<const std::byte> stream, size_t count, SequenceJob& job);
  Status integers_by_cpu(std::span<const std::byte> stream, size_t count, SequenceJob& job);
  // A column whose prediction the device does not know.
  Status whole_by_cpu(size_t column, SequenceJob& job);
  void send(std::span<const int64_t> values, SequenceJob& job);
  // Whether the device knows the prediction.
  bool sources(const Prediction& prediction, bool has_all, SequenceJob& job, size_t& level);
  std::byte* scratch(size_t size);

  const PlanContext& context_;
  const Block& block_;
  const uint32_t flag_;
  BlockJobs& jobs_;
  bool full_ = false;
  std::map<size_t, ColumnLayout> layouts_;
  std::map<size_t, Planned> planned_;
  std::vector<std::byte> spare_;  // written where there is no more room
};

}  // namespace hoist::records
