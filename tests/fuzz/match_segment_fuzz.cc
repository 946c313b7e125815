// Untrusted segments: check_segment() accepts only what a search may read, and a search of what it
// accepted stays inside, for every kernel, and finds the same. Input: a byte each for the numbers
// of buckets, dictionary symbols and query symbols, for options, and for how the buckets are made;
// then buckets, query, symbols.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "match/scan/search.h"

namespace {

using hoist::match::LengthBucket;

class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), left_(size) {}

  uint8_t byte() { return left_ == 0 ? 0 : (--left_, *data_++); }
  uint16_t half() { return static_cast<uint16_t>(byte() | byte() << 8); }
  template <typename T>
  std::vector<T> rest() {
    std::vector<T> values(left_ / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), data_, values.size() * sizeof(T));
    return values;
  }

 private:
  const uint8_t* data_;
  size_t left_;
};

// As the bytes say, or in order with only lengths and counts from them.
std::vector<LengthBucket> read_buckets(Bytes& bytes, size_t count, bool in_order) {
  std::vector<LengthBucket> buckets;
  uint64_t patterns = 0;
  uint64_t symbols = 0;
  uint32_t length = 0;
  for (size_t i = 0; i < count; ++i) {
    if (in_order) {
      length += bytes.byte();
      buckets.push_back({patterns, symbols, length++, bytes.byte()});
      patterns += buckets.back().count;
      symbols += buckets.back().symbols();
    } else {
      buckets.push_back({bytes.half(), bytes.half(), bytes.half(), bytes.half()});
    }
  }
  return buckets;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hoist::match;
  Bytes bytes(data, size);
  const size_t bucket_count = bytes.byte() % 5;
  const size_t symbol_count = bytes.byte();
  const size_t query_length = bytes.byte();
  const uint8_t choice = bytes.byte();
  const bool in_order = choice % 8 != 0;
  const std::vector<LengthBucket> buckets = read_buckets(bytes, bucket_count, in_order);
  std::vector<uint32_t> dictionary;
  for (uint32_t i = 0; i < symbol_count; ++i) dictionary.push_back(2 * i);
  std::vector<uint32_t> query;
  for (size_t i = 0; i < query_length; ++i) query.push_back(bytes.byte());
  std::vector<uint16_t> symbols16 = choice & 8 ? std::vector<uint16_t>{} : bytes.rest<uint16_t>();
  std::vector<uint32_t> symbols32 = choice & 8 ? bytes.rest<uint32_t>() : std::vector<uint32_t>{};
  if (in_order && !buckets.empty()) {  // fits, most often: what follows is of interest then
    const uint64_t wanted = buckets.back().first_symbol + buckets.back().symbols();
    if (wanted > 1 << 16) return 0;
    if (choice & 8) {
      symbols32.resize(wanted, 1);
    } else {
      symbols16.resize(wanted, 1);
    }
  }
  const SegmentView view = {buckets, dictionary, symbols16, symbols32, {}};
  if (!check_segment(view)) return 0;
  SearchOptions options;
  options.scorer = static_cast<Scorer>(choice / 16 % 6);
  options.threshold = query.empty() ? 0.0 : query.front() / 255.0;
  options.top = choice & 1 ? 7 : 0;
  const std::vector<std::span<const uint32_t>> queries = {query, {}};
  hoist::ThreadPool one(1);
  options.kernels = all_tile_kernels().front();
  const auto expected = search(view, queries, options, one);
  for (const TileKernels* kernels : all_tile_kernels().subspan(1)) {
    options.kernels = kernels;
    const auto found = search(view, queries, options, one);
    if (found.has_value() != expected.has_value()) std::abort();
    if (found && *found != *expected) std::abort();
  }
  patterns_that_begin_with(view, query.empty() ? 0 : query.front());
  return 0;
}
