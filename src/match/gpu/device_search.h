// One search of one segment that lies on devices, for several states: what search()
// (match/scan/search.h) answers, to the bit.
//
// Matches are found and sorted on the devices; the host turns counts into scores. For the best
// ones, a first scan also counts the matches by score, and where they are many a second one takes
// only those from the score on that enough reach. Scorers that are no function of LCS or distance
// are computed on the CPU, for the candidates that the LCS leaves.
#pragma once

#include <span>
#include <vector>

#include "match/gpu/device_segment.h"
#include "match/gpu/scan_workspace.h"
#include "match/scan/search.h"

namespace hoist::match {

class DeviceSearch {
 public:
  // All of them must outlive it.
  DeviceSearch(const SegmentView& segment, const DeviceSegment& on_devices,
               const SearchOptions& options, const ScanTuning& tuning, ThreadPool& pool)
      : segment_(segment),
        on_devices_(on_devices),
        options_(options),
        tuning_(tuning),
        pool_(pool) {}

  // No query is empty or longer than kMaxPatternLength.
  Result<std::vector<std::vector<Match>>> run(std::span<const std::span<const uint32_t>> queries);

  // Why the answer is an error: a device, and nothing else, stood in the way.
  ScanDevice* failed_device() const { return failed_; }
  // There were more candidates than the CPU should score again.
  bool gave_up() const { return gave_up_; }

 private:
  using Queries = std::span<const std::span<const uint32_t>>;
  struct Loan;  // of a workspace

  size_t batch_size(Queries queries) const;
  Status run_batch(Queries queries);
  Status find(std::vector<Loan>& loans, std::vector<ScanState>& states, uint64_t& total);
  bool raise_thresholds(std::span<const ScanCounts> counts, std::vector<ScanState>& states) const;
  Status take(Queries queries, std::span<const uint64_t> found, size_t first_result);
  Result<std::vector<Match>> score_again(std::span<const uint32_t> query,
                                         std::span<const uint32_t> patterns) const;
  void keep_best(std::vector<Match>& matches) const;
  Status check_matches(uint64_t more) const;
  bool scores_again() const {
    return !needs_only_lcs(options_.scorer) && options_.scorer != Scorer::levenshtein;
  }
  Status failed(ScanDevice& device, const Status& status);
  bool is_cancelled() const { return options_.stop.stop_requested(); }

  const SegmentView& segment_;
  const DeviceSegment& on_devices_;
  const SearchOptions& options_;
  const ScanTuning& tuning_;
  ThreadPool& pool_;
  std::vector<std::vector<Match>> results_;
  ScanDevice* failed_ = nullptr;
  bool gave_up_ = false;
};

}  // namespace hoist::match
