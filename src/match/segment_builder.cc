#include "match/segment_builder.h"

#include <fmt/core.h>

#include <atomic>
#include <limits>
#include <new>

#include "base/threads.h"

namespace hoist::match {
namespace {

constexpr uint32_t kAbsent = std::numeric_limits<uint32_t>::max();
constexpr size_t kTilesPerTask = 256;

std::span<const uint32_t> pattern_of(const SegmentInput& input, size_t i) {
  const uint64_t begin = i == 0 ? 0 : input.ends[i - 1];
  return input.symbols.subspan(begin, input.ends[i] - begin);
}

Status check_input(const SegmentInput& input) {
  if (input.ends.size() >= kAbsent) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} patterns in one segment: split them, at most {} each",
                            input.ends.size(), kAbsent - 1));
  }
  uint64_t begin = 0;
  for (size_t i = 0; i < input.ends.size(); ++i) {
    if (input.ends[i] < begin || input.ends[i] > input.symbols.size()) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("pattern {} ends at symbol {}, out of order", i, input.ends[i]));
    }
    if (input.ends[i] - begin > kMaxPatternLength) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("pattern {} has {} symbols: at most {}", i, input.ends[i] - begin,
                              kMaxPatternLength));
    }
    begin = input.ends[i];
  }
  if (begin != input.symbols.size()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("patterns cover {} of {} symbols", begin, input.symbols.size()));
  }
  return {};
}

// Dense ids by vocabulary id, and the segment's dictionary.
Result<std::vector<uint32_t>> number_symbols(const SegmentInput& input,
                                             std::vector<uint32_t>& dictionary) {
  std::vector<uint32_t> dense(input.vocabulary_size, kAbsent);
  for (const uint32_t symbol : input.symbols) {
    if (symbol >= input.vocabulary_size) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("symbol {} in a vocabulary of {}", symbol, input.vocabulary_size));
    }
    dense[symbol] = 0;
  }
  for (uint32_t symbol = 0; symbol < input.vocabulary_size; ++symbol) {
    if (dense[symbol] == kAbsent) continue;
    dense[symbol] = static_cast<uint32_t>(dictionary.size());
    dictionary.push_back(symbol);
  }
  return dense;
}

// A stable sort by length keeps the input's order, which is that of the names, inside a bucket.
void order_by_length(const SegmentInput& input, Segment& segment) {
  std::vector<uint32_t> counts(size_t{kMaxPatternLength} + 1);
  for (size_t i = 0; i < input.ends.size(); ++i) ++counts[pattern_of(input, i).size()];
  std::vector<uint32_t> next(counts.size());
  uint64_t patterns = 0;
  uint64_t symbols = 0;
  for (uint32_t length = 0; length < counts.size(); ++length) {
    next[length] = static_cast<uint32_t>(patterns);
    if (counts[length] == 0) continue;
    segment.buckets.push_back({patterns, symbols, length, counts[length]});
    patterns += counts[length];
    symbols += segment.buckets.back().symbols();
  }
  segment.name_ranks.resize(input.ends.size());
  for (size_t i = 0; i < input.ends.size(); ++i) {
    segment.name_ranks[next[pattern_of(input, i).size()]++] = static_cast<uint32_t>(i);
  }
}

template <typename T>
class Filler {
 public:
  Filler(const SegmentInput& input, const std::vector<uint32_t>& dense, const Segment& segment,
         T* symbols)
      : input_(input), dense_(dense), segment_(segment), symbols_(symbols) {}

  void fill_tile(const LengthBucket& bucket, uint32_t tile) const {
    T* const to = symbols_ + bucket.tile_at(tile);
    for (uint32_t lane = 0; lane < kTileWidth; ++lane) {
      const uint32_t position = tile * kTileWidth + lane;
      if (position >= bucket.count) {
        for (uint32_t row = 0; row < bucket.length; ++row) to[row * kTileWidth + lane] = kPadding;
      } else {
        copy(bucket, position, to + lane, kTileWidth);
      }
    }
  }

  // The singles, and the padding to the next bucket.
  void fill_rest(const LengthBucket& bucket) const {
    for (uint32_t position = bucket.tiled(); position < bucket.count; ++position) {
      copy(bucket, position, symbols_ + bucket.pattern_at(position), 1);
    }
    T* const end = symbols_ + bucket.first_symbol + bucket.symbols();
    const uint32_t singles = bucket.count - bucket.tiled();
    std::fill(symbols_ + bucket.tile_at(bucket.tiles()) + uint64_t{singles} * bucket.length, end,
              kPadding);
  }

 private:
  static constexpr T kPadding = std::numeric_limits<T>::max();

  void copy(const LengthBucket& bucket, uint32_t position, T* to, size_t stride) const {
    for (const uint32_t symbol :
         pattern_of(input_, segment_.name_ranks[bucket.first_pattern + position])) {
      *to = static_cast<T>(dense_[symbol]);
      to += stride;
    }
  }

  const SegmentInput& input_;
  const std::vector<uint32_t>& dense_;
  const Segment& segment_;
  T* symbols_;
};

struct FillTask {
  size_t bucket;
  uint32_t begin;
  uint32_t end;
};

template <typename T>
AlignedArray<T> fill(const SegmentInput& input, const std::vector<uint32_t>& dense,
                     const Segment& segment, ThreadPool& pool) {
  const LengthBucket& last = segment.buckets.back();
  AlignedArray<T> symbols(last.first_symbol + last.symbols());
  const Filler<T> filler(input, dense, segment, symbols.data());
  std::vector<FillTask> tasks;
  for (size_t b = 0; b < segment.buckets.size(); ++b) {
    const uint32_t tiles = segment.buckets[b].tiles();
    for (uint32_t begin = 0; begin < tiles; begin += kTilesPerTask) {
      tasks.push_back({b, begin, std::min<uint32_t>(tiles, begin + kTilesPerTask)});
    }
    filler.fill_rest(segment.buckets[b]);
  }
  pool.parallel_for(tasks.size(), [&](size_t i) {
    for (uint32_t tile = tasks[i].begin; tile < tasks[i].end; ++tile) {
      filler.fill_tile(segment.buckets[tasks[i].bucket], tile);
    }
  });
  return symbols;
}

template <typename T>
Status decode(const SegmentView& segment, std::span<const T> symbols, const LengthBucket& bucket,
              uint32_t position, std::vector<uint32_t>& out) {
  const T* at = symbols.data() + bucket.pattern_at(position);
  const uint32_t stride = bucket.stride_of(position);
  out.resize(bucket.length);
  for (uint32_t i = 0; i < bucket.length; ++i, at += stride) {
    if (*at >= segment.dense_symbols.size()) {
      return fail(ErrorCode::corrupt,
                  fmt::format("segment: symbol {} of {}", *at, segment.dense_symbols.size()));
    }
    out[i] = segment.dense_symbols[*at];
  }
  return {};
}

}  // namespace

Status check_segment(const SegmentView& segment) {
  if (!segment.symbols16.empty() && !segment.symbols32.empty()) {
    return fail(ErrorCode::corrupt, "segment: symbols of two widths");
  }
  uint64_t patterns = 0;
  uint64_t symbols = 0;
  uint32_t shortest = 0;
  for (const LengthBucket& bucket : segment.buckets) {
    // Both sums stay far below 2^64: 2^16 lengths, 2^32 patterns each of 2^16 symbols.
    if (bucket.length < shortest || bucket.length > kMaxPatternLength || bucket.count == 0 ||
        bucket.first_pattern != patterns || bucket.first_symbol != symbols) {
      return fail(ErrorCode::corrupt,
                  fmt::format("segment: bucket of {} patterns of length {} out of place",
                              bucket.count, bucket.length));
    }
    shortest = bucket.length + 1;
    patterns += bucket.count;
    symbols += bucket.symbols();
  }
  if (patterns >= kAbsent) {
    return fail(ErrorCode::corrupt, fmt::format("segment: {} patterns are too many", patterns));
  }
  if (symbols != segment.symbols16.size() + segment.symbols32.size()) {
    return fail(ErrorCode::corrupt,
                fmt::format("segment: {} symbols stored, {} wanted",
                            segment.symbols16.size() + segment.symbols32.size(), symbols));
  }
  if (segment.name_ranks.empty()) return {};
  const auto rank = std::max_element(segment.name_ranks.begin(), segment.name_ranks.end());
  if (segment.name_ranks.size() != patterns || *rank >= patterns) {
    return fail(ErrorCode::corrupt, fmt::format("segment: {} name ranks up to {} for {} patterns",
                                                segment.name_ranks.size(), *rank, patterns));
  }
  return {};
}

Status read_pattern(const SegmentView& segment, uint64_t pattern, std::vector<uint32_t>& out) {
  if (pattern >= segment.pattern_count()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("segment: pattern {} of {}", pattern, segment.pattern_count()));
  }
  const LengthBucket& bucket = segment.bucket_of(pattern);
  const auto position = static_cast<uint32_t>(pattern - bucket.first_pattern);
  return segment.symbols32.empty() ? decode(segment, segment.symbols16, bucket, position, out)
                                   : decode(segment, segment.symbols32, bucket, position, out);
}

Result<Segment> build_segment(const SegmentInput& input, ThreadPool& pool) {
  if (const Status checked = check_input(input); !checked) {
    return checked.error();
  }
  Segment segment;
  const auto dense = number_symbols(input, segment.dense_symbols);
  if (!dense) return dense.error();
  order_by_length(input, segment);
  if (input.ends.empty()) return segment;
  if (segment.dense_symbols.size() <= std::numeric_limits<uint16_t>::max()) {
    segment.symbols16 = fill<uint16_t>(input, *dense, segment, pool);
  } else {
    segment.symbols32 = fill<uint32_t>(input, *dense, segment, pool);
  }
  return segment;
}

}  // namespace hoist::match
