// The parallel merge.
//
// Threads take ranges from first to last. Each merges its range into memory and appends it to the
// output when its turn has come. Writing a regular file from several threads at once would not be
// faster: Linux lets one at a time write to a file, and those that wait burn their time.
//
// Two things may turn out wrong on the way, and both show as two neighbours in the merged range
// that are out of order: codes were guesses (a locale's collation) and the guess was wrong, so the
// range is merged again without codes; or the files are not sorted (sort -m), so the lines from
// there on are merged one by one as GNU sort does it. What was merged before is right: output in
// order proves that all the files were so far, and then there is only one way to merge them.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "ops/sort/merge.h"
#include "ops/sort/merge_tree.h"
#include "ops/sort/text_merge_tree.h"

namespace hoist::sort {
namespace {

constexpr uint64_t kLargestRange = uint64_t{64} << 20;

struct Plan {
  std::span<const FileRange> files;
  std::vector<Cut> cuts;
  bool trusted = false;

  size_t ranges() const { return cuts.size() + 1; }
  uint64_t begin(size_t range, size_t file) const {
    return range == 0 ? files[file].begin : cuts[range - 1].offsets[file];
  }
  uint64_t end(size_t range, size_t file) const {
    return range == cuts.size() ? files[file].end : cuts[range].offsets[file];
  }
  // Bytes of the merged range, at most.
  uint64_t size(size_t range) const {
    uint64_t bytes = 0;
    for (size_t file = 0; file < files.size(); ++file) {
      bytes += end(range, file) - begin(range, file);
    }
    return bytes + files.size();  // a last line may lack its terminator
  }
};

// Merges one range after another into a buffer of its own.
class RangeMerger {
 public:
  RangeMerger(const Plan& plan, const Coder& coder, size_t block)
      : plan_(plan), coder_(coder), options_(coder.comparator().options()) {
    for (size_t i = 0; i < plan.files.size(); ++i) {
      readers_.emplace_back(options_.terminator, block);
    }
  }

  // False where the merged range is not in order, or a file could not be read as planned.
  bool merge(size_t range) {
    make_room(plan_.size(range));
    if (orders_by_bytes(coder_)) return merge_text(range);
    const MergeOrder by_codes(coder_, true);
    if (merge_by(range, by_codes)) return true;
    return by_codes.guesses() && merge_by(range, MergeOrder(coder_, false));
  }

  const char* data() const { return buffer_.get(); }
  size_t size() const { return size_; }
  Line first() const {
    if (size_ == 0) return {};
    const void* const stop = std::memchr(data(), options_.terminator, size_);
    return {data(), static_cast<size_t>(static_cast<const char*>(stop) - data())};
  }
  Line last() const { return last_.line; }

 private:
  struct Place {
    Line line;  // in the buffer
    uint64_t code = 0;
    uint32_t source = 0;
  };

  void make_room(uint64_t bytes) {
    if (bytes <= capacity_) return;
    buffer_.reset();
    capacity_ = bytes + bytes / 4;
    buffer_ = std::make_unique_for_overwrite<char[]>(capacity_);
  }

  void restart_readers(size_t range) {
    size_ = 0;
    for (size_t i = 0; i < readers_.size(); ++i) {
      const FileRange& file = plan_.files[i];
      readers_[i].restart(file.fd, file.name, plan_.begin(range, i), plan_.end(range, i));
    }
  }

  bool merge_by(size_t range, const MergeOrder& order) {
    restart_readers(range);
    const bool prove = !plan_.trusted || order.guesses();
    MergeTree tree(readers_, order);
    if (tree.empty()) return all_read();
    if (!starts_behind_cut(range, tree.line(), tree.source())) return false;
    keep(tree.line(), tree.code(), tree.source());
    for (tree.advance(); !tree.empty(); tree.advance()) {
      const bool known = plan_.trusted && last_.source == tree.source();
      if ((prove && !known) || options_.unique) {
        const int step = order.prove(last_.code, last_.line, tree.code(), tree.line());
        if (prove && (step > 0 || (step == 0 && last_.source > tree.source()))) return false;
        if (step == 0 && options_.unique) {
          last_.source = tree.source();
          continue;
        }
      }
      keep(tree.line(), tree.code(), tree.source());
    }
    return all_read() && ends_before_cut(range);
  }

  bool merge_text(size_t range) {
    restart_readers(range);
    TextMergeTree tree(readers_, options_.reverse);
    if (tree.empty()) return all_read();
    if (!starts_behind_cut(range, tree.line(), tree.source())) return false;
    for (; !tree.empty(); tree.advance()) {
      if (options_.unique && tree.repeats()) {
        last_.source = tree.source();
      } else {
        keep(tree.line(), 0, tree.source());
      }
    }
    return !tree.disordered() && all_read() && ends_before_cut(range);
  }

  void keep(Line line, uint64_t code, uint32_t source) {
    char* const to = buffer_.get() + size_;
    std::memcpy(to, line.text, line.length + 1);  // the terminator follows every line
    size_ += line.length + 1;
    last_ = {{to, line.length}, code, source};
  }

  bool starts_behind_cut(size_t range, Line first, uint32_t source) const {
    if (plan_.trusted || range == 0) return true;
    const Cut& cut = plan_.cuts[range - 1];
    const int order = coder_.comparator().compare(first, {cut.line.data(), cut.line.size()});
    return order != 0 ? order > 0 : source >= cut.source;
  }

  bool ends_before_cut(size_t range) const {
    if (plan_.trusted || range == plan_.cuts.size()) return true;
    const Cut& cut = plan_.cuts[range];
    const int order = coder_.comparator().compare(last_.line, {cut.line.data(), cut.line.size()});
    return order != 0 ? order < 0 : last_.source <= cut.source;
  }

  bool all_read() const {
    return std::all_of(readers_.begin(), readers_.end(), [](const LineReader& reader) {
      return reader.status().has_value() && !reader.ended_early();
    });
  }

  const Plan& plan_;
  const Coder& coder_;
  const Options& options_;
  std::vector<LineReader> readers_;
  std::unique_ptr<char[]> buffer_;
  uint64_t capacity_ = 0;
  size_t size_ = 0;
  Place last_;
};

class ParallelMerge {
 public:
  ParallelMerge(const Plan& plan, const MergeContext& context, size_t block, Output& output)
      : plan_(plan), context_(context), block_(block), output_(output), limit_(plan.ranges()) {}

  Status run() {
    context_.pool.parallel_for(static_cast<size_t>(context_.pool.size()), [&](size_t) { work(); });
    if (Status written = output_.status(); !written) return written;
    return limit_ == plan_.ranges() ? Status() : merge_rest();
  }

 private:
  void work() {
    try {
      RangeMerger merger(plan_, context_.coder, block_);
      for (size_t range = next_++; range < limit_; range = next_++) {
        const bool handed_on = merger.merge(range) && hand_on(range, merger);
        if (!handed_on) stop_at(range);
      }
    } catch (...) {
      stop_at(0);  // nobody may wait for a turn that never comes
      throw;
    }
  }

  bool hand_on(size_t range, const RangeMerger& merger) {
    std::unique_lock lock(mutex_);
    turned_.wait(lock, [&] { return turn_ == range || limit_ <= range; });
    if (turn_ != range) return false;
    if (!append(merger)) return false;
    ++turn_;
    turned_.notify_all();
    return true;
  }

  bool append(const RangeMerger& merger) {
    if (merger.size() == 0) return true;
    size_t from = 0;
    if (context_.coder.comparator().options().unique) {
      const Line first = merger.first();
      const Comparator& comparator = context_.coder.comparator();
      if (previous_ && comparator.compare({previous_->data(), previous_->size()}, first) == 0) {
        from = first.length + 1;
      }
      if (from < merger.size()) previous_.emplace(merger.last().text, merger.last().length);
    }
    return output_.append(merger.data() + from, merger.size() - from);
  }

  // Ranges before `range` go on to their end; it and those behind it are given up.
  void stop_at(size_t range) {
    const std::lock_guard lock(mutex_);
    limit_ = std::min<size_t>(limit_, range);
    turned_.notify_all();
  }

  // Merges line by line from the first range on that was given up.
  Status merge_rest() {
    const size_t range = limit_;
    std::vector<LineReader> readers;
    for (size_t i = 0; i < plan_.files.size(); ++i) {
      const FileRange& file = plan_.files[i];
      readers.emplace_back(context_.coder.comparator().options().terminator);
      readers.back().restart(file.fd, file.name, plan_.begin(range, i), file.end);
    }
    return merge_lines(readers, context_.coder, output_, std::move(previous_));
  }

  const Plan& plan_;
  const MergeContext& context_;
  const size_t block_;
  Output& output_;
  std::atomic<size_t> next_{0};
  std::atomic<size_t> limit_;  // the first range that was given up
  std::mutex mutex_;
  std::condition_variable turned_;
  size_t turn_ = 0;                      // the next range to append
  std::optional<std::string> previous_;  // the last line appended, with unique
};

}  // namespace

Result<bool> merge_ranges(std::span<const FileRange> files, bool trusted, uint64_t range_bytes,
                          const MergeContext& context, Output& output) {
  const Comparator& comparator = context.coder.comparator();
  const char terminator = comparator.options().terminator;
  Plan plan;
  plan.files = files;
  plan.trusted = trusted;
  Result<std::vector<Cut>> cuts =
      plan_cuts(files, comparator, terminator, range_bytes, context.pool);
  if (!cuts) return false;
  plan.cuts = std::move(*cuts);
  for (size_t range = 0; range < plan.ranges(); ++range) {
    if (plan.size(range) > std::max(kLargestRange, 8 * range_bytes)) return false;
  }
  const size_t block =
      std::clamp<size_t>(2 * range_bytes / files.size(), size_t{16} << 10, size_t{512} << 10);
  ParallelMerge merge(plan, context, block, output);
  if (Status merged = merge.run(); !merged) return merged.error();
  return true;
}

}  // namespace hoist::sort
