#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "arrow/batch_builder.h"
#include "service/node/pattern_batches.h"
#include "service/session/python_text.h"

namespace hoist::service {
namespace {

constexpr size_t kMostRows = 8192;
constexpr size_t kMostBytes = 4 << 20;
// Offsets have 31 bits, and Python's text of metadata is longer than its JSON.
constexpr size_t kMostPattern = 256 << 20;

std::vector<arrow::Field> columns_of_patterns() {
  using arrow::list_field;
  using arrow::map_field;
  using arrow::text_field;
  return {text_field("name", false), list_field("events", list_field("item", text_field("item"))),
          arrow::integer_field("frequency", 32, false, false),
          list_field("emotives", map_field("item", arrow::double_field("value"))),
          map_field("metadata", list_field("value", text_field("item")))};
}

// Where each list, or text, ends; in front of the first, 0.
class Ends {
 public:
  void add(size_t end) { ends_.push_back(static_cast<int32_t>(end)); }
  size_t count() const { return ends_.size() - 1; }
  const std::vector<int32_t>& all() const { return ends_; }

 private:
  std::vector<int32_t> ends_ = {0};
};

struct Texts {
  Ends ends;
  std::string bytes;

  void add(std::string_view text) {
    bytes += text;
    ends.add(bytes.size());
  }
  size_t count() const { return ends.count(); }
  void build(arrow::BatchBuilder& builder) const {
    builder.node(count());
    builder.buffer(ends.all());
    builder.buffer(std::string_view(bytes));
  }
};

size_t bytes_of(const match::VisitedPattern& pattern, std::string_view metadata) {
  size_t bytes = pattern.name.size() + metadata.size();
  for (const auto& event : pattern.events) {
    bytes += sizeof(int32_t);
    for (const std::string_view symbol : event) bytes += symbol.size() + sizeof(int32_t);
  }
  if (pattern.emotives == nullptr) return bytes;
  for (const match::Emotives& entry : *pattern.emotives) {
    for (const auto& [name, value] : entry) bytes += name.size() + sizeof(int32_t) + sizeof value;
  }
  return bytes;
}

}  // namespace

struct PatternBatchWriter::Columns {
  size_t bytes = 0;
  Texts names;
  Ends events;   // of patterns
  Ends symbols;  // of events
  Texts texts;
  std::vector<uint32_t> frequencies;
  std::vector<uint8_t> has_emotives;
  Ends emotives;  // of patterns
  Ends numbers;   // of emotives
  Texts number_names;
  std::vector<double> values;
  std::vector<uint8_t> has_metadata;
  Ends keys;  // of patterns
  Texts key_names;
  Ends items;  // of keys
  Texts item_texts;

  void add(const match::VisitedPattern& pattern, std::string_view metadata) {
    names.add(pattern.name);
    for (const auto& event : pattern.events) {
      for (const std::string_view symbol : event) texts.add(symbol);
      symbols.add(texts.count());
    }
    events.add(symbols.count());
    frequencies.push_back(pattern.frequency);
    add_emotives(pattern.emotives.get());
    add_metadata(metadata);
  }

  void add_emotives(const match::EmotiveList* list) {
    has_emotives.push_back(list != nullptr && !list->empty() ? 1 : 0);
    if (list != nullptr) {
      for (const match::Emotives& entry : *list) {
        for (const auto& [name, value] : entry) {
          number_names.add(name);
          values.push_back(value);
        }
        numbers.add(values.size());
      }
    }
    emotives.add(numbers.count());
  }

  void add_metadata(std::string_view text) {
    const nlohmann::json kept =
        text.empty() ? nlohmann::json() : nlohmann::json::parse(text, nullptr, false);
    has_metadata.push_back(kept.is_object() && !kept.empty() ? 1 : 0);
    if (kept.is_object()) {
      for (const auto& [key, value] : kept.items()) {
        key_names.add(key);
        if (value.is_array()) {
          for (const nlohmann::json& one : value) item_texts.add(python_text(one));
        } else {
          item_texts.add(python_text(value));
        }
        items.add(item_texts.count());
      }
    }
    keys.add(key_names.count());
  }

  // In the order of columns_of_patterns().
  arrow::Batch build() const {
    arrow::BatchBuilder builder(names.count());
    names.build(builder);
    builder.node(events.count());
    builder.buffer(events.all());
    builder.node(symbols.count());
    builder.buffer(symbols.all());
    texts.build(builder);
    builder.node(frequencies.size());
    builder.buffer(frequencies);
    builder.node(has_emotives);
    builder.buffer(emotives.all());
    builder.node(numbers.count());
    builder.buffer(numbers.all());
    builder.node(values.size());
    number_names.build(builder);
    builder.node(values.size());
    builder.buffer(values);
    builder.node(has_metadata);
    builder.buffer(keys.all());
    builder.node(items.count());
    key_names.build(builder);
    builder.node(items.count());
    builder.buffer(items.all());
    item_texts.build(builder);
    return builder.take();
  }
};

PatternBatchWriter::PatternBatchWriter(bool as_file, arrow::Writer::Write write)
    : writer_(columns_of_patterns(), as_file, std::move(write)),
      columns_(std::make_unique<Columns>()) {}
PatternBatchWriter::~PatternBatchWriter() = default;

Status PatternBatchWriter::begin() { return writer_.begin(); }

Status PatternBatchWriter::add(const match::VisitedPattern& pattern, std::string_view metadata) {
  const size_t bytes = bytes_of(pattern, metadata);
  if (bytes > kMostPattern) {
    return fail(ErrorCode::unsupported, "a pattern has more than 256 MiB");
  }
  if (columns_->names.count() == kMostRows || columns_->bytes + bytes > kMostBytes) {
    if (Status flushed = flush(); !flushed) return flushed;
  }
  columns_->bytes += bytes;
  columns_->add(pattern, metadata);
  return {};
}

Status PatternBatchWriter::flush() {
  if (columns_->names.count() == 0) return {};
  const arrow::Batch batch = columns_->build();
  *columns_ = Columns();
  return writer_.add(batch);
}

Status PatternBatchWriter::end() {
  if (Status flushed = flush(); !flushed) return flushed;
  return writer_.end();
}

}  // namespace hoist::service
