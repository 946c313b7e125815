// What a device has to do for one block: the parts of its wanted columns that go there, and the
// jobs that make typed values of them (records/gpu/jobs.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/filter.h"
#include "records/gpu/device_type.h"
#include "records/gpu/jobs.h"
#include "records/reader.h"

namespace hoist::records {

struct WantedColumn {
  std::string path;
  DeviceType type = DeviceType::int64;
  uint8_t digits = 0;     // of decimals and timestamps
  bool nullable = false;  // some row has no value
};

// What texts and whole columns stand for, by the rules of who asks. Any number of threads call it.
class ColumnMeaning {
 public:
  virtual ~ColumnMeaning() = default;
  // A text of the wanted column of that number.
  virtual Answer answer(size_t wanted, std::string_view text, Format format, ColumnKind kind) = 0;
  // A date's count as one of the wanted timestamps.
  virtual std::optional<int64_t> timestamp(size_t wanted, const DateForm& form, int64_t count) = 0;
  // All rows of the block: what the device does not decode.
  virtual Result<std::vector<Answer>> answers(size_t wanted, const Block& block) = 0;
};

// Room that some threads share: memory of the host, which goes to the device as a whole, or of the
// device alone.
class Arena {
 public:
  struct Piece {
    std::byte* host;
    std::byte* device;
  };
  Arena() = default;
  void reset(std::byte* host, std::byte* device, size_t size) {
    host_ = host;
    device_ = device;
    size_ = size;
    used_ = 0;
  }
  // Aligned to 256 bytes; nothing where it is full.
  std::optional<Piece> take(size_t size) {
    const size_t rounded = (size + 255) / 256 * 256;
    const size_t at = used_.fetch_add(rounded);
    if (size > size_ || at > size_ - rounded) return std::nullopt;
    return Piece{host_ == nullptr ? nullptr : host_ + at, device_ + at};
  }
  size_t used() const { return used_ < size_ ? used_.load() : size_; }

 private:
  std::byte* host_ = nullptr;
  std::byte* device_ = nullptr;
  size_t size_ = 0;
  std::atomic<size_t> used_ = 0;
};

// Where a block's values go.
struct BlockTarget {
  uint32_t first = 0;  // rows of the block
  uint32_t end = 0;
  struct Column {
    std::byte* values = nullptr;  // of row `first`
    uint8_t* valid = nullptr;
  };
  std::vector<Column> columns;  // of the wanted ones
  uint8_t* kept = nullptr;      // of row `first`; null where there are no conditions
  uint32_t flag = 0;            // is set where the block is damaged
  bool by_cpu = false;          // the device decodes nothing
};

struct BlockJobs {
  std::vector<SymbolJob> symbols;
  std::vector<std::vector<SequenceJob>> sequences;  // each behind those before
  std::vector<OutputJob> outputs;
  std::vector<OutputJob> conditions;  // one after the other
  std::vector<bool> on_cpu;           // of the wanted columns, those that the CPU decoded
  size_t conditions_on_cpu = 0;       // evaluated by the CPU
  bool is_skipped = false;            // no row can hold: nothing is decoded
  bool is_full = false;               // there was no room: nothing else counts
};

struct PlanContext {
  const std::vector<WantedColumn>* wanted;
  const std::vector<Condition>* where;
  ColumnMeaning* meaning;
  Arena* staged;   // goes to the device
  Arena* scratch;  // the device's
};

// `corrupt` where it shows that the block is damaged.
Result<BlockJobs> plan_block(const PlanContext& context, const Block& block,
                             const BlockTarget& target);

// What fits into an arena of kStagedBytes whatever the block is: of larger blocks the CPU decodes
// all columns.
inline constexpr size_t kStagedBytes = size_t{64} << 20;
inline constexpr size_t kScratchBytes = size_t{256} << 20;
inline constexpr size_t kMostStored = size_t{16} << 20;
inline constexpr size_t kMostWanted = 24;  // columns and conditions at a time

}  // namespace hoist::records
