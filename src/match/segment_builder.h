// Builds segments (segment_view.h).
//
//   Result<Segment> segment = build_segment({symbols, ends, vocabulary_size});
//   scan(segment->view(), …);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/threads.h"
#include "match/segment_view.h"

namespace hoist::match {

// Patterns in ascending order of their names. Pattern i is symbols[ends[i - 1]..ends[i]), the first
// begins at 0. Symbols are vocabulary ids below vocabulary_size.
struct SegmentInput {
  std::span<const uint32_t> symbols;
  std::span<const uint64_t> ends;
  uint32_t vocabulary_size = 0;
};

// Cache lines of memory that is not cleared first.
template <typename T>
class AlignedArray {
 public:
  AlignedArray() = default;
  explicit AlignedArray(size_t size)
      : data_(static_cast<T*>(::operator new[](size * sizeof(T), std::align_val_t{64}))),
        size_(size) {}

  T* data() { return data_.get(); }
  std::span<const T> span() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(T* data) const { ::operator delete[](data, std::align_val_t{64}); }
  };
  std::unique_ptr<T, Free> data_;
  size_t size_ = 0;
};

// The memory of a segment. Movable; views stay valid when it is moved.
struct Segment {
  std::vector<LengthBucket> buckets;
  std::vector<uint32_t> dense_symbols;
  AlignedArray<uint16_t> symbols16;
  AlignedArray<uint32_t> symbols32;
  std::vector<uint32_t> name_ranks;  // by pattern index: the pattern's place in the input

  SegmentView view() const {
    return {buckets, dense_symbols, symbols16.span(), symbols32.span(), name_ranks};
  }
};

// On all cores; 4 bytes for each symbol of the vocabulary besides the segment itself.
// `invalid_argument` for ends that do not ascend or do not cover `symbols`, for a symbol outside
// the vocabulary, for a pattern longer than kMaxPatternLength and for 2^32 patterns or more.
Result<Segment> build_segment(const SegmentInput& input, ThreadPool& pool = ThreadPool::process());

}  // namespace hoist::match
