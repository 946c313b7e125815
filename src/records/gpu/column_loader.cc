#include "records/gpu/column_loader.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "base/stopwatch.h"
#include "base/threads.h"
#include "records/gpu/decode.h"
#include "records/gpu/load_slot.h"

namespace hoist::records {
namespace {

constexpr size_t kSlots = 3;
// Stored bytes and blocks of a batch: enough for all threads and for the link, few enough that
// the device begins early.
constexpr uint64_t kBatchBytes = uint64_t{24} << 20;
constexpr size_t kBatchBlocks = 64;

size_t aligned(uint64_t size) { return (size + 255) / 256 * 256; }

// Where columns of so many rows lie in one buffer.
class Layout {
 public:
  Layout(const std::vector<WantedColumn>& columns, uint64_t rows, bool with_kept) {
    const auto take = [&](uint64_t size) {
      const size_t at = size_;
      size_ += aligned(size);
      return at;
    };
    for (const WantedColumn& column : columns) {
      values_.push_back(take(rows * element_bytes(element_of(column.type))));
      valid_.push_back(column.nullable ? std::optional(take(rows)) : std::nullopt);
    }
    if (with_kept) kept_ = take(rows);
  }
  size_t size() const { return std::max<size_t>(size_, 1); }
  std::byte* values(const device::Buffer& memory, size_t column) const {
    return memory.view().data + values_[column];
  }
  uint8_t* valid(const device::Buffer& memory, size_t column) const {
    if (!valid_[column]) return nullptr;
    return reinterpret_cast<uint8_t*>(memory.view().data + *valid_[column]);
  }
  uint8_t* kept(const device::Buffer& memory) const {
    return reinterpret_cast<uint8_t*>(memory.view().data + kept_);
  }

 private:
  size_t size_ = 0;
  std::vector<size_t> values_;
  std::vector<std::optional<size_t>> valid_;
  size_t kept_ = 0;
};

// One call of load().
class Loading {
 public:
  Loading(device::PinnedPool& pool, const RecordReader& reader, const LoadRequest& request,
          ColumnMeaning& meaning)
      : pool_(pool), reader_(reader), request_(request), meaning_(meaning) {
    for (const BlockRows& rows : request.blocks) {
      starts_.push_back(rows_);
      rows_ += rows.end - rows.first;
    }
    layout_.emplace(request.columns, rows_, !request.where.empty());
    on_cpu_.resize(request.columns.size());
  }

  Result<DeviceColumns> run() {
    if (Status status = prepare(); !status) return status.error();
    for (size_t i = 0; i < request_.blocks.size(); ++i) waiting_.push_back(i);
    for (size_t turn = 0; !waiting_.empty(); ++turn) {
      if (request_.stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped");
      if (Status status = run_batch(slots_[turn % slots_.size()]); !status) return status.error();
    }
    const Stopwatch waiting;
    for (LoadSlot& slot : slots_) {
      if (Status done = slot.stream().synchronize(); !done) return done.error();
      statistics_.copied_bytes += slot.copied_bytes();
    }
    statistics_.wait_seconds += waiting.milliseconds() / 1e3;
    if (Status status = check_flags(); !status) return status.error();
    return request_.where.empty() ? whole() : chosen();
  }

 private:
  Status prepare() {
    device::Device& device = pool_.device();
    Result<device::Buffer> memory = device::Buffer::allocate(device, layout_->size());
    if (!memory) return memory.error();
    memory_ = std::make_shared<device::Buffer>(std::move(*memory));
    Result<device::Buffer> flags =
        device::Buffer::allocate(device, aligned((request_.blocks.size() + 1) * sizeof(uint32_t)));
    if (!flags) return flags.error();
    flags_ = std::move(*flags);
    if (Status cleared = flags_.fill(std::byte{0}); !cleared) return cleared;
    uint64_t stored = 0;
    for (const BlockRows& rows : request_.blocks) {
      stored += reader_.blocks()[rows.block].stored_size;
    }
    statistics_.blocks = request_.blocks.size();
    statistics_.stored_bytes = stored;
    const uint64_t batches =
        std::max<uint64_t>(stored / kBatchBytes + 1, request_.blocks.size() / kBatchBlocks + 1);
    for (size_t i = 0; i < std::min<uint64_t>(kSlots, batches); ++i) {
      Result<LoadSlot> slot = LoadSlot::create(pool_);
      if (!slot) return slot.error();
      slots_.push_back(std::move(*slot));
    }
    return {};
  }

  BlockTarget target_of(size_t number) const {
    const BlockRows& rows = request_.blocks[number];
    BlockTarget target;
    target.first = rows.first;
    target.end = rows.end;
    target.flag = static_cast<uint32_t>(number);
    target.by_cpu = by_cpu_ == number || reader_.blocks()[rows.block].stored_size > kMostStored;
    for (size_t i = 0; i < request_.columns.size(); ++i) {
      const unsigned bytes = element_bytes(element_of(request_.columns[i].type));
      uint8_t* const valid = layout_->valid(*memory_, i);
      target.columns.push_back({layout_->values(*memory_, i) + starts_[number] * bytes,
                                valid == nullptr ? nullptr : valid + starts_[number]});
    }
    if (!request_.where.empty()) target.kept = layout_->kept(*memory_) + starts_[number];
    return target;
  }

  Result<BlockJobs> plan(size_t number, LoadSlot& slot) {
    const BlockRows& rows = request_.blocks[number];
    const Result<LoadedBlock> loaded = reader_.load(rows.block);
    if (!loaded) return loaded.error();
    const Block& block = loaded->block();
    if (rows.first > rows.end || rows.end > block.rows()) {
      return fail(ErrorCode::invalid_argument, "the block has fewer rows");
    }
    const PlanContext context = {.wanted = &request_.columns,
                                 .where = &request_.where,
                                 .meaning = &meaning_,
                                 .staged = &slot.staged(),
                                 .scratch = &slot.scratch()};
    return plan_block(context, block, target_of(number));
  }

  Status run_batch(LoadSlot& slot) {
    const Stopwatch waiting;
    if (Status begun = slot.begin(); !begun) return begun;
    statistics_.wait_seconds += waiting.milliseconds() / 1e3;
    std::vector<size_t> numbers;
    for (uint64_t stored = 0; !waiting_.empty() && numbers.size() < batch_blocks_;) {
      stored += reader_.blocks()[request_.blocks[waiting_.front()].block].stored_size;
      if (!numbers.empty() && stored > kBatchBytes) break;
      numbers.push_back(waiting_.front());
      waiting_.pop_front();
    }
    const Stopwatch preparing;
    std::vector<std::optional<Result<BlockJobs>>> plans(numbers.size());
    ThreadPool::process().parallel_for(numbers.size(),
                                       [&](size_t i) { plans[i] = plan(numbers[i], slot); });
    statistics_.prepare_seconds += preparing.milliseconds() / 1e3;
    std::vector<BlockJobs> batch;
    for (auto& planned : plans) {
      if (!*planned) return planned->error();
      batch.push_back(std::move(**planned));
    }
    const Result<bool> started =
        slot.start(batch, static_cast<uint32_t*>(flags_.data()), request_.decode_repeats);
    if (!started) return started.error();
    bool some_full = !*started;
    for (size_t i = numbers.size(); i-- > 0;) {
      if (!*started || batch[i].is_full) {
        some_full = true;
        waiting_.push_front(numbers[i]);
        continue;
      }
      statistics_.skipped += batch[i].is_skipped ? 1 : 0;
      statistics_.conditions_on_cpu += batch[i].conditions_on_cpu;
      for (size_t c = 0; c < on_cpu_.size(); ++c) on_cpu_[c] += batch[i].on_cpu[c] ? 1 : 0;
    }
    if (!some_full) return {};
    // What does not fit by itself is left to the CPU.
    if (numbers.size() == 1) {
      if (by_cpu_ == numbers[0]) {
        return fail(ErrorCode::exhausted, "a block of records needs too much memory");
      }
      by_cpu_ = numbers[0];
    }
    batch_blocks_ = std::max<size_t>(1, numbers.size() / 2);
    return {};
  }

  // The CPU says what is wrong.
  Status check_flags() {
    std::vector<uint32_t> flags(request_.blocks.size());
    if (flags.empty()) return {};
    if (Status read = flags_.download(std::as_writable_bytes(std::span(flags))); !read) return read;
    for (size_t i = 0; i < flags.size(); ++i) {
      if (flags[i] == 0) continue;
      const Result<LoadedBlock> loaded = reader_.load(request_.blocks[i].block);
      if (!loaded) return loaded.error();
      if (const Result<std::string> text = loaded->block().text(); !text) return text.error();
      return fail(ErrorCode::corrupt, "a block of records is damaged");
    }
    return {};
  }

  DeviceColumns result(std::shared_ptr<device::Buffer> memory, const Layout& layout,
                       uint64_t rows) {
    DeviceColumns columns;
    columns.rows = rows;
    for (size_t i = 0; i < request_.columns.size(); ++i) {
      columns.columns.push_back({layout.values(*memory, i), layout.valid(*memory, i), on_cpu_[i]});
    }
    columns.memory = std::move(memory);
    columns.statistics = statistics_;
    return columns;
  }

  Result<DeviceColumns> whole() { return result(memory_, *layout_, rows_); }

  // The rows for which the conditions hold.
  Result<DeviceColumns> chosen() {
    device::Device& device = pool_.device();
    Result<device::Stream> stream = device::Stream::create(device);
    if (!stream) return stream.error();
    const uint64_t chunks = (rows_ + kKeptChunk - 1) / kKeptChunk;
    Result<device::Buffer> ranks =
        device::Buffer::allocate(device, (chunks + 1) * sizeof(uint64_t));
    if (!ranks) return ranks.error();
    const uint8_t* const kept = layout_->kept(*memory_);
    auto* const rank_words = static_cast<uint64_t*>(ranks->data());
    if (Status s = count_kept(*stream, kept, rows_, rank_words); !s) return s.error();
    if (Status s = stream->synchronize(); !s) return s.error();
    uint64_t rows = 0;
    if (Status s =
            ranks->download(std::as_writable_bytes(std::span(&rows, 1)), chunks * sizeof(uint64_t));
        !s) {
      return s.error();
    }
    const Layout layout(request_.columns, rows, false);
    Result<device::Buffer> memory = device::Buffer::allocate(device, layout.size());
    if (!memory) return memory.error();
    for (size_t i = 0; i < request_.columns.size(); ++i) {
      const unsigned bytes = element_bytes(element_of(request_.columns[i].type));
      Status status = gather_kept(*stream, kept, rows_, rank_words, layout_->values(*memory_, i),
                                  bytes, layout.values(*memory, i));
      if (status && request_.columns[i].nullable) {
        status = gather_kept(*stream, kept, rows_, rank_words, layout_->valid(*memory_, i), 1,
                             layout.valid(*memory, i));
      }
      if (!status) return status.error();
    }
    if (Status s = stream->synchronize(); !s) return s.error();
    return result(std::make_shared<device::Buffer>(std::move(*memory)), layout, rows);
  }

  device::PinnedPool& pool_;
  const RecordReader& reader_;
  const LoadRequest& request_;
  ColumnMeaning& meaning_;
  uint64_t rows_ = 0;
  std::vector<uint64_t> starts_;  // of each block's rows
  std::optional<Layout> layout_;
  std::shared_ptr<device::Buffer> memory_;
  device::Buffer flags_;
  std::vector<LoadSlot> slots_;
  std::deque<size_t> waiting_;
  size_t batch_blocks_ = kBatchBlocks;
  std::optional<size_t> by_cpu_;
  std::vector<uint64_t> on_cpu_;
  LoadStatistics statistics_;
};

}  // namespace

Result<DeviceColumns> ColumnLoader::load(const RecordReader& reader, const LoadRequest& request,
                                         ColumnMeaning& meaning) {
  if (request.columns.size() + request.where.size() > kMostWanted) {
    return fail(ErrorCode::invalid_argument, "too many columns and conditions at a time");
  }
  return Loading(pool_, reader, request, meaning).run();
}

}  // namespace hoist::records
