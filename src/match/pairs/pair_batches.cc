#include "match/pairs/pair_batches.h"

namespace hoist::match {
namespace {

size_t narrowest_row(size_t bytes) {
  size_t row = 0;
  while (kRowWidths[row] < bytes) ++row;
  return row;
}

}  // namespace

std::vector<Batch> batches_of(const NumberedList& lanes, std::span<const uint32_t> by_length,
                              uint32_t distinct) {
  std::vector<Batch> batches;
  for (size_t begin = 0; begin < by_length.size();) {
    const size_t kind = kind_of(lanes.length(by_length[begin]));
    const size_t most = kind == kPairwise ? 1 : kRowBytes / lane_bytes(kind);
    size_t end = begin;
    uint64_t symbols = 0;
    while (end < by_length.size() && end - begin < most &&
           kind_of(lanes.length(by_length[end])) == kind) {
      symbols += lanes.length(by_length[end++]);
    }
    const size_t words = std::max<size_t>(1, (lanes.length(by_length[end - 1]) + 63) / 64);
    const uint64_t groups = std::min<uint64_t>(symbols, distinct) + 2;
    const bool fits = kind != kLongLanes || groups * words * kRowBytes <= kMaxTableBytes;
    const size_t row = kind >= kLongLanes ? narrowest_row(kRowBytes)
                                          : narrowest_row((end - begin) * lane_bytes(kind));
    batches.push_back({by_length.subspan(begin, end - begin), fits ? kind : kPairwise, words, row});
    begin = end;
  }
  return batches;
}

}  // namespace hoist::match
