#include "match/gpu/segment_search.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>

#include "base/chunks.h"
#include "base/log.h"
#include "base/quiet_thread.h"
#include "base/threads.h"
#include "device/device.h"
#include "match/score/blocks.h"

namespace hoist::match {
namespace {

using Clock = std::chrono::steady_clock;

// A context takes 0.3 s, patterns some milliseconds.
constexpr std::chrono::duration<double> kPrice(0.5);
constexpr int kRepeats = 5;
// Patterns for each of the CPU's threads, from which on a device is asked for blocks where that was
// not measured: with 16 threads an H200 was 15 % behind at 110 000 and 5 % ahead at 378 000.
constexpr uint64_t kLeastBlocksOfThread = 1 << 14;
// Patterns by which it is measured: so many at first, then twice as many, until the CPU takes long
// enough or there are no more. Searches go on meanwhile and want the threads, too.
constexpr size_t kFewestCompared = 16;
constexpr size_t kMostCompared = 1 << 14;
constexpr std::chrono::duration<double> kLongEnough(0.005);
// Pairs of positions above which pairs are too long to be compared so.
constexpr uint64_t kComparedCells = 1 << 20;
constexpr size_t kBlocksPerTask = 8;

// The least of some runs, or nothing where one failed.
template <typename Run>
std::optional<std::chrono::duration<double>> least_time(const Run& run) {
  auto best = std::chrono::duration<double>::max();
  for (int i = 0; i < kRepeats; ++i) {
    const auto begin = Clock::now();
    if (!run()) return {};
    best = std::min<std::chrono::duration<double>>(best, Clock::now() - begin);
  }
  return best;
}

// As records are made on the CPU.
bool find_blocks(const SegmentView& segment, std::span<const uint32_t> state,
                 std::span<const uint32_t> patterns, std::span<BlockSummary> summaries) {
  const BlockMatcher matcher(state);
  std::atomic<bool> has_all = true;
  const auto find = [&](size_t begin, size_t end) {
    BlockMatcher::Scratch scratch;
    std::vector<Block> blocks;
    std::vector<uint32_t> symbols;
    for (size_t i = begin; i < end; ++i) {
      if (!read_pattern(segment, patterns[i], symbols)) has_all = false;
      matcher.find(symbols, blocks, scratch);
      summaries[i] = summarize(symbols, blocks);
    }
  };
  parallel_for_chunks(ThreadPool::process(), patterns.size(), kBlocksPerTask, find);
  return has_all;
}

Result<std::unique_ptr<GpuScan>> open_devices(std::string_view names) {
  std::vector<std::string_view> list;
  for (size_t at = 0; at <= names.size(); at += list.back().size() + 1) {
    list.push_back(names.substr(at, names.find(',', at) - at));
    if (list.back().starts_with("cuda:")) continue;
    return fail(ErrorCode::invalid_argument,
                fmt::format("no such device ({}): give auto, cpu, cuda:N or cuda:N,cuda:M", names));
  }
  std::vector<device::Device*> devices;
  for (const std::string_view name : list) {
    const Result<device::Device*> device = device::find_device(name);
    if (!device) return device.error();
    if (std::find(devices.begin(), devices.end(), *device) == devices.end()) {
      devices.push_back(*device);
    }
  }
  return std::make_unique<GpuScan>(devices);
}

}  // namespace

Result<std::unique_ptr<SegmentSearch>> SegmentSearch::create(std::string_view device) {
  if (device == "cpu") return std::make_unique<SegmentSearch>(nullptr);
  if (device == "auto") {
    return std::make_unique<SegmentSearch>([] { return open_devices("cuda:0"); }, kPrice);
  }
  auto scan = open_devices(device);
  if (!scan) return scan.error();
  return std::make_unique<SegmentSearch>(std::move(*scan));
}

SegmentSearch::SegmentSearch(std::unique_ptr<GpuScan> scan, uint64_t least_blocks)
    : owned_(std::move(scan)),
      scan_(owned_.get()),
      least_blocks_(least_blocks != 0
                        ? least_blocks
                        : kLeastBlocksOfThread * static_cast<uint64_t>(usable_cpus())) {}

SegmentSearch::SegmentSearch(Open open, std::chrono::duration<double> price, double favour)
    : least_blocks_(UINT64_MAX),  // until it is measured
      is_watching_(true),
      open_(std::move(open)),
      price_(price),
      favour_(favour) {}

SegmentSearch::~SegmentSearch() {
  if (!is_own()) {  // neither the thread nor the device came along
    if (opening_.joinable()) opening_.detach();
    (void)owned_.release();
  } else if (opening_.joinable()) {
    opening_.join();
  }
}

bool SegmentSearch::is_own() const { return process_.is_current(); }

void SegmentSearch::hold(const Owner& owner, const SegmentView& segment) {
  GpuScan* const scan = scan_.load(std::memory_order_acquire);
  if (scan != nullptr && is_own()) scan->hold(owner, segment);
}

void SegmentSearch::expect_memory() {
  GpuScan* const scan = scan_.load(std::memory_order_acquire);
  if (scan != nullptr && is_own()) scan->expect_memory();
}

Result<std::vector<std::vector<Match>>> SegmentSearch::search(const Owner& owner,
                                                              const SegmentView& segment,
                                                              Queries queries,
                                                              const SearchOptions& options) {
  GpuScan* const scan = scan_.load(std::memory_order_acquire);
  if (scan != nullptr && segment.pattern_count() * queries.size() >= least_pairs_ && is_own()) {
    return scan->search(owner, segment, queries, options);
  }
  if (!is_watching_ || !is_own()) return match::search(segment, queries, options);
  return search_by_cpu(owner, segment, queries, options);
}

bool SegmentSearch::finds_blocks(size_t patterns) const {
  return scan_.load(std::memory_order_acquire) != nullptr && patterns >= least_blocks_ && is_own();
}

bool SegmentSearch::summarize_blocks(const Owner& owner, const SegmentView& segment,
                                     std::span<const uint32_t> state,
                                     std::span<const uint32_t> patterns,
                                     const std::stop_token& stop,
                                     std::span<BlockSummary> summaries) {
  if (!finds_blocks(patterns.size())) return false;
  GpuScan* const scan = scan_.load(std::memory_order_acquire);
  return scan->summarize_blocks(owner, segment, state, patterns, stop, summaries);
}

Result<std::vector<std::vector<Match>>> SegmentSearch::search_by_cpu(const Owner& owner,
                                                                     const SegmentView& segment,
                                                                     Queries queries,
                                                                     const SearchOptions& options) {
  const auto begin = Clock::now();
  auto found = match::search(segment, queries, options);
  if (found) note(owner, segment, queries, options, Clock::now() - begin);
  return found;
}

void SegmentSearch::note(const Owner& owner, const SegmentView& segment, Queries queries,
                         const SearchOptions& options, std::chrono::duration<double> took) {
  const uint64_t pairs = segment.pattern_count() * queries.size();
  const std::lock_guard lock(mutex_);
  if (!is_watching_) return;
  spent_ += took;
  seen_.try_emplace(owner.get(), Seen{owner, segment});
  if (pairs == example_.pairs) example_.took = std::min(example_.took, took);
  // Devices leave others to the CPU.
  const bool is_example = pairs != 0 && std::all_of(queries.begin(), queries.end(), [](auto query) {
                            return !query.empty() && query.size() <= kMaxPatternLength;
                          });
  if (is_example && (pairs > example_.pairs || example_.owner.expired())) {
    example_ = {owner, segment, {}, options, took, pairs};
    for (const auto& query : queries) example_.queries.emplace_back(query.begin(), query.end());
    example_.options.stop = {};
  }
  if (spent_ < price_ || example_.owner.expired()) return;
  if (opening_.joinable()) opening_.join();  // the last one's segment was gone, and so is it
  is_watching_ = false;
  Result<std::thread> thread = start_quiet_thread([this] { open(); });
  if (thread) opening_ = std::move(*thread);
}

// Nobody notes anything any more.
void SegmentSearch::open() {
  Status done;
  try {
    done = open_and_compare();
  } catch (const std::exception& error) {
    done = fail(ErrorCode::exhausted, error.what());
  }
  const std::lock_guard lock(mutex_);
  if (!done && done.error().code == ErrorCode::not_found) {
    is_watching_ = true;  // with the next search
    return;
  }
  log(LogLevel::info, "match: searches by {}{}", describe(),
      done ? "" : fmt::format(" ({})", done.error().message));
  seen_.clear();
  example_ = {};
}

Status SegmentSearch::open_and_compare() {
  if (owned_ == nullptr) {
    auto scan = open_();
    if (!scan) return fail(ErrorCode::unavailable, scan.error().message);
    owned_ = std::move(*scan);
  }
  for (const auto& [key, seen] : seen_) {
    if (const Owner owner = seen.owner.lock()) owned_->hold(owner, seen.segment);
  }
  const auto found = compare(*owned_, example_);
  if (!found) return found.error();
  scan_.store(owned_.get(), std::memory_order_release);
  if (const Owner owner = example_.owner.lock()) {
    compare_blocks(*owned_, owner, example_, found->front());
  }
  return {};
}

// `not_found` where the example's segment was replaced meanwhile.
Result<std::vector<std::vector<Match>>> SegmentSearch::compare(GpuScan& scan,
                                                               const Example& example) {
  const Owner owner = example.owner.lock();
  if (owner == nullptr) return fail(ErrorCode::not_found, "the segment is gone");
  const std::vector<std::span<const uint32_t>> queries(example.queries.begin(),
                                                       example.queries.end());
  Result<std::vector<std::vector<Match>>> found;
  const auto measured = least_time([&] {
    found = scan.search(owner, example.segment, queries, example.options);
    return found.has_value();
  });
  if (!measured) return fail(ErrorCode::unavailable, found.error().message);
  const auto best = *measured / favour_;
  const std::string device = scan.names();
  if (scan.statistics().on_cpu != 0) {
    return fail(ErrorCode::unavailable, fmt::format("{} does not search", device));
  }
  if (best >= example.took) {
    return fail(ErrorCode::unavailable,
                fmt::format("{} took {:.3g} ms, the CPU {:.3g}", device, 1e3 * best.count(),
                            1e3 * example.took.count()));
  }
  least_pairs_ = static_cast<uint64_t>(static_cast<double>(example.pairs) * (best / example.took));
  return std::move(*found);
}

// On patterns from among all that were found, short and long ones; where these are few, from among
// all that there are.
void SegmentSearch::compare_blocks(GpuScan& scan, const Owner& owner, const Example& example,
                                   std::span<const Match> found) {
  const std::vector<uint32_t>& state = example.queries.front();
  const uint64_t all = example.segment.pattern_count();
  const bool has_few = found.size() < kFewestCompared;
  const uint64_t from = has_few ? all : found.size();
  const uint64_t most = std::min<uint64_t>(from, kMostCompared);
  for (uint64_t count = std::min<uint64_t>(most, kFewestCompared);;
       count = std::min(most, 2 * count)) {
    std::vector<uint32_t> patterns;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t place = i * from / count;
      patterns.push_back(has_few ? static_cast<uint32_t>(place) : found[place].pattern);
    }
    const bool has_long = std::any_of(patterns.begin(), patterns.end(), [&](uint32_t pattern) {
      const uint64_t length = example.segment.bucket_of(pattern).length;
      return length * state.size() > kComparedCells;
    });
    if (has_long) return;
    std::vector<BlockSummary> summaries(patterns.size());
    const auto by_device = least_time([&] {
      return scan.summarize_blocks(owner, example.segment, state, patterns, {}, summaries);
    });
    const bool is_known = std::all_of(summaries.begin(), summaries.end(),
                                      [](const BlockSummary& s) { return s.is_known != 0; });
    const auto by_cpu =
        least_time([&] { return find_blocks(example.segment, state, patterns, summaries); });
    if (!by_device || !is_known || !by_cpu) return;
    if (*by_cpu < kLongEnough && count < most) continue;
    least_blocks_ =
        1 + static_cast<uint64_t>(static_cast<double>(count) * (*by_device / favour_ / *by_cpu));
    return;
  }
}

std::vector<DeviceBytes> SegmentSearch::held() const {
  const GpuScan* const scan = scan_.load(std::memory_order_acquire);
  return scan != nullptr && is_own() ? scan->held() : std::vector<DeviceBytes>();
}

std::string SegmentSearch::describe() const {
  const GpuScan* const scan = scan_.load(std::memory_order_acquire);
  if (scan == nullptr || !is_own()) return "cpu";
  std::string text = scan->names();
  if (open_) {
    text += fmt::format(" from {} pairs on", least_pairs_.load());
    if (least_blocks_ != UINT64_MAX) text += fmt::format(", {} blocks", least_blocks_.load());
  }
  return text;
}

}  // namespace hoist::match
