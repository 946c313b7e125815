// Streams of Arrow's for tests: where bytes come from, and columns that many batches have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrow/batch_builder.h"
#include "arrow/reader.h"

namespace hoist::arrow {

// Gives `bytes` in pieces of at most `step`.
inline Reader::Read source_of(std::string bytes, size_t step = SIZE_MAX) {
  return [bytes = std::move(bytes), step,
          at = size_t{0}](std::span<char> into) mutable -> Result<size_t> {
    const size_t count = std::min({into.size(), bytes.size() - at, step});
    std::memcpy(into.data(), bytes.data() + at, count);
    at += count;
    return count;
  };
}

inline void add_texts(BatchBuilder& builder, const std::vector<std::string>& texts) {
  std::vector<int32_t> ends = {0};
  std::string bytes;
  for (const std::string& text : texts) {
    bytes += text;
    ends.push_back(static_cast<int32_t>(bytes.size()));
  }
  builder.node(texts.size());
  builder.buffer(ends);
  builder.buffer(std::string_view(bytes));
}

// A structure's texts and numbers, or a map's.
inline void add_pairs(BatchBuilder& builder, const std::vector<std::string>& texts,
                      const std::vector<double>& numbers) {
  builder.node(texts.size());
  add_texts(builder, texts);
  builder.node(numbers.size());
  builder.buffer(numbers);
}

inline Batch texts_batch(const std::vector<std::string>& texts) {
  BatchBuilder builder(texts.size());
  add_texts(builder, texts);
  return builder.take();
}

}  // namespace hoist::arrow
