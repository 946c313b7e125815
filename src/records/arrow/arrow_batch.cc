#include "records/arrow/arrow_batch.h"

#include <algorithm>

namespace hoist::records::arrow {
namespace {

using typed::ColumnChunk;
using typed::ColumnType;
using typed::ValueKind;

// Every buffer begins at a multiple of 64, as Arrow advises.
constexpr size_t kAlignment = 64;

class BatchBuilder {
 public:
  explicit BatchBuilder(size_t rows) { batch_.rows = static_cast<int64_t>(rows); }

  void column(const ColumnChunk& chunk, const ColumnType& type) {
    if (!type.is_list) return values(chunk, type);
    node(chunk.list_valid);
    buffer(std::span(chunk.lists));
    values(chunk, type);
  }

  void texts(const std::vector<std::string>& entries) {
    batch_.nodes.push_back({static_cast<int64_t>(entries.size()), 0});
    buffer(std::span<const char>());
    std::vector<int64_t> offsets = {0};
    std::string bytes;
    for (const std::string& entry : entries) {
      bytes += entry;
      offsets.push_back(static_cast<int64_t>(bytes.size()));
    }
    buffer(std::span(offsets));
    buffer(std::span(bytes));
  }

  Batch take() { return std::move(batch_); }

 private:
  void values(const ColumnChunk& chunk, const ColumnType& type) {
    node(chunk.valid);
    switch (type.kind) {
      case ValueKind::boolean:
        return bits(chunk.integers);
      case ValueKind::real:
        return buffer(std::span(chunk.reals));
      case ValueKind::decimal:
        return buffer(std::span(chunk.decimals));
      case ValueKind::text:
        if (type.dictionary != nullptr) return codes(chunk.integers);
        buffer(std::span(chunk.offsets));
        return buffer(std::span(chunk.bytes));
      default:
        return buffer(std::span(chunk.integers));
    }
  }

  void codes(const std::vector<int64_t>& integers) {
    const std::vector<int32_t> narrow(integers.begin(), integers.end());
    buffer(std::span(narrow));
  }

  // The node and its validity, which is empty where all are valid.
  void node(const std::vector<uint8_t>& valid) {
    const auto nulls = std::count(valid.begin(), valid.end(), 0);
    batch_.nodes.push_back({static_cast<int64_t>(valid.size()), nulls});
    if (nulls == 0) return buffer(std::span<const char>());
    bits(valid);
  }

  template <typename T>
  void bits(const std::vector<T>& values) {
    std::vector<uint8_t> packed((values.size() + 7) / 8);
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] != 0) packed[i / 8] |= static_cast<uint8_t>(1u << (i % 8));
    }
    buffer(std::span(packed));
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
  void buffer(std::span<T> values) {
    buffer(std::span<const T>(values));
  }

  Batch batch_;
};

}  // namespace

Batch make_batch(const typed::SelectedBlock& block, std::span<const ColumnType> columns) {
  BatchBuilder builder(block.rows);
  for (size_t i = 0; i < columns.size(); ++i) builder.column(block.columns[i], columns[i]);
  return builder.take();
}

Batch make_dictionary(const typed::TextDictionary& dictionary) {
  BatchBuilder builder(dictionary.entries.size());
  builder.texts(dictionary.entries);
  return builder.take();
}

}  // namespace hoist::records::arrow
