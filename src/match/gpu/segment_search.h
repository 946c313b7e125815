// Who searches the large segments of an index: the CPU, GPUs that were named, or, with "auto", the
// CPU at first and whoever is faster later.
//
// To open a GPU and to send it the segments takes as long as hundreds of searches. So "auto" leaves
// it alone until the CPU's searches have taken that long together, then opens the first GPU on a
// thread of its own, and has it repeat the largest search that the CPU has done. Where it is faster
// it gets all searches from then on that have so many pairs of a state and a pattern that the CPU
// would take longer than it did. A process that asks little never opens one.
//
//   auto searches = SegmentSearch::create("auto");
//   auto found = (*searches)->search(segment_owner, view, queries, options);
//
// Answers are those of search() (match/scan/search.h). Thread-safe. In a child after fork() the CPU
// searches.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/fork.h"
#include "match/gpu/gpu_scan.h"

namespace hoist::match {

class SegmentSearch {
 public:
  using Queries = std::span<const std::span<const uint32_t>>;
  using Owner = GpuScan::Owner;
  using Open = std::function<Result<std::unique_ptr<GpuScan>>()>;

  // "cpu"; "auto"; "cuda:N", or several of them with commas between. `invalid_argument` for another
  // name, `unavailable` or `not_found` without such a device.
  static Result<std::unique_ptr<SegmentSearch>> create(std::string_view device);

  // On these devices, whatever their speed; null: on the CPU. Blocks from so many patterns on; 0:
  // from where all the CPU's threads usually take longer.
  explicit SegmentSearch(std::unique_ptr<GpuScan> scan, uint64_t least_blocks = 0);
  // Once the CPU's searches have taken `price`. `favour`, by which the device counts as faster than
  // it is, is for tests.
  SegmentSearch(Open open, std::chrono::duration<double> price, double favour = 1);
  // Waits where a device is being opened.
  ~SegmentSearch();
  SegmentSearch(const SegmentSearch&) = delete;
  SegmentSearch& operator=(const SegmentSearch&) = delete;

  // Where GPUs search already, sends them the segment; the first search then need not.
  void hold(const Owner& owner, const SegmentView& segment);
  // GpuScan::expect_memory(), where GPUs search.
  void expect_memory();

  Result<std::vector<std::vector<Match>>> search(const Owner& owner, const SegmentView& segment,
                                                 Queries queries, const SearchOptions& options);

  // Whether a GPU may be asked for the blocks of so many patterns.
  bool finds_blocks(size_t patterns) const;
  // GpuScan::summarize_blocks(), where a GPU finds the blocks of so many patterns sooner than the
  // CPU. False leaves them to the caller.
  bool summarize_blocks(const Owner& owner, const SegmentView& segment,
                        std::span<const uint32_t> state, std::span<const uint32_t> patterns,
                        const std::stop_token& stop, std::span<BlockSummary> summaries);

  // GpuScan::held(); nothing where the CPU searches.
  std::vector<DeviceBytes> held() const;

  // "cpu", or for example "cuda:0 from 1500000 pairs on, 2000 blocks".
  std::string describe() const;

 private:
  // A search that the CPU did, with the segment, which is to be looked at only while its owner is
  // held.
  struct Example {
    std::weak_ptr<const void> owner;
    SegmentView segment;
    std::vector<std::vector<uint32_t>> queries;
    SearchOptions options;
    std::chrono::duration<double> took{0};
    uint64_t pairs = 0;
  };
  struct Seen {
    std::weak_ptr<const void> owner;
    SegmentView segment;
  };

  Result<std::vector<std::vector<Match>>> search_by_cpu(const Owner& owner,
                                                        const SegmentView& segment, Queries queries,
                                                        const SearchOptions& options);
  void note(const Owner& owner, const SegmentView& segment, Queries queries,
            const SearchOptions& options, std::chrono::duration<double> took);
  void open();
  Status open_and_compare();
  // What it found.
  Result<std::vector<std::vector<Match>>> compare(GpuScan& scan, const Example& example);
  void compare_blocks(GpuScan& scan, const Owner& owner, const Example& example,
                      std::span<const Match> found);
  bool is_own() const;

  std::unique_ptr<GpuScan> owned_;
  std::atomic<GpuScan*> scan_ = nullptr;   // null: the CPU searches
  std::atomic<uint64_t> least_pairs_ = 0;  // for the devices
  std::atomic<uint64_t> least_blocks_;     // patterns whose blocks they are asked for
  std::atomic<bool> is_watching_ = false;  // whether a device may still be opened

  const OwnerProcess process_;
  const Open open_;
  const std::chrono::duration<double> price_{0};
  const double favour_ = 1;
  std::mutex mutex_;  // of what follows
  std::chrono::duration<double> spent_{0};
  Example example_;  // the largest
  std::unordered_map<const void*, Seen> seen_;
  std::thread opening_;
};

}  // namespace hoist::match
