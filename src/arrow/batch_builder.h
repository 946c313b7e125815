// The nodes and buffers of a record batch, one after another: a list before its items.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "arrow/message.h"

namespace hoist::arrow {

class BatchBuilder {
 public:
  explicit BatchBuilder(size_t rows) { batch_.rows = static_cast<int64_t>(rows); }

  // A node without nulls, and its validity.
  void node(size_t length) {
    batch_.nodes.push_back({static_cast<int64_t>(length), 0});
    buffer(std::span<const char>());
  }
  // `valid` says of each value whether it is there. The validity is empty where all are.
  void node(const std::vector<uint8_t>& valid) {
    const auto nulls = std::count(valid.begin(), valid.end(), 0);
    batch_.nodes.push_back({static_cast<int64_t>(valid.size()), nulls});
    if (nulls == 0) return buffer(std::span<const char>());
    bits(valid);
  }

  // A node of the type null, which has no buffers.
  void nulls(size_t length) { batch_.nodes.push_back({static_cast<int64_t>(length), 0}); }

  template <typename T>
  void bits(const std::vector<T>& values) {
    std::vector<uint8_t> packed((values.size() + 7) / 8);
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] != 0) packed[i / 8] |= static_cast<uint8_t>(1u << (i % 8));
    }
    buffer(std::span<const uint8_t>(packed));
  }

  template <typename T>
  void buffer(std::span<const T> values) {
    const size_t size = values.size_bytes();
    batch_.buffers.push_back(
        {static_cast<int64_t>(batch_.body.size()), static_cast<int64_t>(size)});
    batch_.body.append(reinterpret_cast<const char*>(values.data()), size);
    batch_.body.resize((batch_.body.size() + kAlignment - 1) / kAlignment * kAlignment);
  }
  template <typename T>
  void buffer(const std::vector<T>& values) {
    buffer(std::span<const T>(values));
  }
  void buffer(std::string_view bytes) { buffer(std::span<const char>(bytes)); }

  Batch take() { return std::move(batch_); }

 private:
  // Every buffer begins at a multiple of 64, as Arrow advises.
  static constexpr size_t kAlignment = 64;

  Batch batch_;
};

}  // namespace hoist::arrow
