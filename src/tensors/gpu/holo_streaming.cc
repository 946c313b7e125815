#include "tensors/gpu/holo_streaming.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "base/quiet_thread.h"

namespace hoist::tensors {

Result<double> ProgressiveHoloLoader::feed(size_t part, std::span<const std::byte> bytes) {
  if (Status added = context_->accumulate_fragment(tensor_, part, bytes); !added) {
    return added.error();
  }
  return quality();
}

Status ProgressiveHoloLoader::finalize(device::Span<std::byte> out) {
  return context_->finalize_reconstruction(tensor_, out);
}

namespace {

// A thread that fetches parts in order and keeps a few ready.
class Fetcher {
 public:
  struct Fetched {
    size_t part;
    Result<std::vector<std::byte>> bytes;
  };

  Fetcher(const FetchPart& fetch, std::vector<size_t> order, size_t depth)
      : fetch_(fetch), order_(std::move(order)), depth_(depth) {}
  ~Fetcher() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;

  Status start() {
    auto thread = start_quiet_thread([this] { run(); });
    if (!thread) return thread.error();
    thread_ = *std::move(thread);
    return {};
  }

  // Nothing: that was the last one, or `stop` was requested.
  std::optional<Fetched> next(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return !ready_.empty() || ended_; });
    if (stop.stop_requested()) return std::nullopt;
    if (ready_.empty()) return std::nullopt;
    Fetched fetched = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return fetched;
  }

 private:
  void run() {
    for (const size_t part : order_) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopping_ || ready_.size() < depth_; });
        if (stopping_) break;
      }
      Result<std::vector<std::byte>> bytes = fetch_(part);
      const bool is_fetched = bytes.has_value();
      const std::lock_guard lock(mutex_);
      ready_.push_back({part, std::move(bytes)});
      changed_.notify_all();
      if (!is_fetched) break;
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  const FetchPart& fetch_;
  const std::vector<size_t> order_;
  const size_t depth_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Fetched> ready_;
  bool stopping_ = false;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace

Result<StreamedTensor> StreamingHoloContext::stream(const TensorDescription& description,
                                                    const FetchPart& fetch,
                                                    const StreamOptions& options) {
  if (depth_ == 0) {
    return fail(ErrorCode::invalid_argument, "a pipeline_depth of 0: at least 1");
  }
  Result<GpuAccumulator> tensor = context_->create_accumulator(description);
  if (!tensor) return tensor.error();
  std::vector<size_t> order;
  if (options.order) {
    order = *options.order;
  } else {
    order.resize(description.part_bytes.size());
    std::iota(order.begin(), order.end(), 0);
  }
  bool enough = false;
  {
    Fetcher fetcher(fetch, std::move(order), depth_);
    if (Status started = fetcher.start(); !started) return started.error();
    while (!enough) {
      std::optional<Fetcher::Fetched> fetched = fetcher.next(options.stop);
      if (options.stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped (tensor)");
      if (!fetched) break;
      if (!fetched->bytes) return fetched->bytes.error();
      Status added = context_->accumulate_fragment(*tensor, fetched->part,
                                                   std::span<const std::byte>(*fetched->bytes));
      if (!added) return added.error();
      const double quality = tensor->quality();
      enough = tensor->can_reconstruct() && quality >= options.min_quality;
      if (options.on_fragment && !options.on_fragment(fetched->part, quality)) {
        if (!tensor->can_reconstruct()) {
          return fail(
              ErrorCode::invalid_argument,
              fmt::format("on_fragment ended a tensor with {} of {} fragments: it cannot be "
                          "rebuilt from so few",
                          tensor->fragments(), description.part_bytes.size()));
        }
        enough = true;
      }
    }
  }
  // All fragments of a lossy encoding, whose quality is just below 1, are all there is.
  const bool all = tensor->fragments() == description.part_bytes.size();
  if (!enough && !(all && options.min_quality >= 1)) {
    return fail(ErrorCode::corrupt,
                fmt::format("a tensor of quality {:.4f} with {} of {} fragments: {:.4f} is wanted",
                            tensor->quality(), tensor->fragments(), description.part_bytes.size(),
                            options.min_quality));
  }
  StreamedTensor result;
  result.dtype = options.dtype.value_or(description.dtype);
  Result<device::Buffer> elements =
      context_->reconstruct_as(*tensor, result.dtype, options.quantisation);
  if (!elements) return elements.error();
  result.elements = *std::move(elements);
  result.quality = tensor->quality();
  result.fragments = tensor->fragments();
  return result;
}

}  // namespace hoist::tensors
