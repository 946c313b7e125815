#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/utf8.h"
#include "service/node/pattern_batches.h"
#include "service/node/pattern_fields.h"

namespace hoist::service {
namespace {

using arrow::Array;
using arrow::Field;
using arrow::Items;
using arrow::Type;

Error wrong(std::string what) { return fail(ErrorCode::invalid_argument, std::move(what)); }

bool is_text(const Field& field) {
  return field.type == Type::text || field.type == Type::large_text ||
         field.type == Type::text_view;
}

bool is_list(const Field& field) {
  return field.type == Type::list || field.type == Type::large_list ||
         field.type == Type::fixed_size_list;
}

// Where all lists are empty, programs may not know of what.
bool is_text_or_unknown(const Field& field) { return is_text(field) || field.type == Type::null; }

bool is_events(const Field& field) {
  if (!is_list(field)) return false;
  const Field& event = field.children[0];
  return event.type == Type::null || (is_list(event) && is_text_or_unknown(event.children[0]));
}

// A map's entries, or what libraries without maps write in their place.
bool is_entries(const Field& field) {
  return field.type == Type::structure && field.children.size() == 2 &&
         field.children[0].name == "key" && field.children[1].name == "value" &&
         is_text(field.children[0]);
}

bool is_map(const Field& field) {
  return field.type == Type::map || (is_list(field) && is_entries(field.children[0]));
}

// Reads one row's values. A few bytes of a batch may stand for a large row, many times: so rows
// have limits, those of lines.
class RowReader {
 public:
  RowReader(int64_t row, const ImportLimit& limit) : row_(row), limit_(limit) {}

  Result<std::string> text(const Array& array, int64_t i) {
    const std::string_view text = array.text(i);
    if (Status room = take(1 + text.size()); !room) return room.error();
    if (!is_utf8(text)) return wrong("a text is no UTF-8");
    return std::string(text);
  }

  Status events(const Array& array, PatternRecord& record) {
    const Array& events = array.child();
    const Items items = array.items(row_);
    for (int64_t k = items.begin; k < items.end; ++k) {
      Event event;
      if (events.is_null(k)) return wrong("an event is null");
      const Items symbols = events.items(k);
      for (int64_t s = symbols.begin; s < symbols.end; ++s) {
        if (events.child().is_null(s)) return wrong("a symbol is null");
        auto symbol = text(events.child(), s);
        if (!symbol) return symbol.error();
        event.push_back(*std::move(symbol));
      }
      if (Status room = take(1); !room) return room;
      add_event(std::move(event), record);
    }
    return {};
  }

  size_t bytes() const { return bytes_; }

  // Any value as the JSON that a line would have.
  Result<nlohmann::json> value(const Array& array, int64_t i) {
    if (Status room = take(1); !room) return room.error();
    if (array.is_null(i)) return nlohmann::json();
    const Field& field = array.field();
    if (is_text(field)) {
      auto read = text(array, i);
      if (!read) return read.error();
      return nlohmann::json(*std::move(read));
    }
    if (is_map(field)) return map(array, i);
    switch (field.type) {
      case Type::boolean:
        return nlohmann::json(array.boolean(i));
      case Type::integer:
        return field.is_signed ? nlohmann::json(array.signed_integer(i))
                               : nlohmann::json(array.unsigned_integer(i));
      case Type::real:
        if (!std::isfinite(array.real(i))) return wrong("a number is infinite, or none");
        return nlohmann::json(array.real(i));
      case Type::structure:
        return structure(array, i);
      default:
        return list(array, i);
    }
  }

 private:
  Result<nlohmann::json> list(const Array& array, int64_t i) {
    nlohmann::json list = nlohmann::json::array();
    const Items items = array.items(i);
    for (int64_t k = items.begin; k < items.end; ++k) {
      auto item = value(array.child(), k);
      if (!item) return item.error();
      list.push_back(*std::move(item));
    }
    return list;
  }

  Result<nlohmann::json> map(const Array& array, int64_t i) {
    nlohmann::json map = nlohmann::json::object();
    const Array& keys = array.child().child(0);
    const Items items = array.items(i);
    for (int64_t k = items.begin; k < items.end; ++k) {
      if (!is_text(keys.field()) || keys.is_null(k)) return wrong("a key is no text");
      auto key = text(keys, k);
      if (!key) return key.error();
      auto item = value(array.child().child(1), k);
      if (!item) return item.error();
      if (!item->is_null()) map[*key] = *std::move(item);
    }
    return map;
  }

  Result<nlohmann::json> structure(const Array& array, int64_t i) {
    nlohmann::json object = nlohmann::json::object();
    for (const Array& member : array.children()) {
      const std::string& name = member.field().name;
      auto item = value(member, i);
      if (!item) return item.error();
      if (item->is_null()) continue;
      if (Status room = take(name.size()); !room) return room.error();
      if (!is_utf8(name)) return wrong("a name is no UTF-8");
      object[name] = *std::move(item);
    }
    return object;
  }

  Status take(size_t bytes) {
    constexpr size_t kMostBytes = 16 << 20;
    constexpr size_t kMostValues = 2'000'000;
    bytes_ += bytes;
    if (bytes_ > kMostBytes) return wrong("a row has more than 16 MiB");
    if (++values_ > kMostValues) return wrong("a row has more than two million values");
    return values_ % ImportLimit::kValuesBetween == 0 ? limit_.goes_on() : Status();
  }

  int64_t row_;
  const ImportLimit& limit_;
  size_t bytes_ = 0;
  size_t values_ = 0;
};

Result<uint32_t> read_frequency(const Array& array, int64_t row) {
  const auto fault = wrong("\"frequency\" is no whole number from 1 on");
  if (array.field().type == Type::real) {
    const double number = array.real(row);
    if (!(number >= 1 && number <= UINT32_MAX) || number != std::floor(number)) return fault;
    return static_cast<uint32_t>(number);
  }
  // A number of 64 bits without a sign that looks negative is too large as well.
  const int64_t number = array.signed_integer(row);
  if (number < 1 || number > int64_t{UINT32_MAX}) return fault;
  return static_cast<uint32_t>(number);
}

}  // namespace

Result<PatternBatchReader> PatternBatchReader::open(arrow::Reader::Read read, GoesOn goes_on) {
  auto limit = std::make_unique<ImportLimit>(std::move(goes_on));
  const auto read_some = [read = std::move(read),
                          limit = limit.get()](std::span<char> into) -> Result<size_t> {
    if (Status goes = limit->goes_on(); !goes) return goes.error();
    const auto got = read(into);
    if (got) limit->came(*got);
    return got;
  };
  auto reader = arrow::Reader::open(
      read_some, {.columns = {"name", "events", "frequency", "emotives", "metadata"},
                  .on_body = [limit = limit.get()](size_t bytes) { return limit->take(bytes); }});
  if (!reader) return reader.error();
  PatternBatchReader patterns(*std::move(reader), std::move(limit));
  if (Status checked = patterns.check_columns(); !checked) return checked.error();
  return patterns;
}

Status PatternBatchReader::check_columns() const {
  const std::vector<Field>& fields = reader_.fields();
  bool has_events = false;
  for (size_t i = 0; i < fields.size(); ++i) {
    const Field& field = fields[i];
    for (size_t k = 0; k < i; ++k) {
      if (fields[k].name == field.name) {
        return wrong(fmt::format("two columns are named \"{}\"", field.name));
      }
    }
    if (field.name == "events") {
      has_events = true;
      if (!is_events(field)) return wrong("\"events\" is no list of lists of strings");
    }
    if (field.name == "name" && !is_text_or_unknown(field)) return wrong("\"name\" is no string");
    if (field.name == "frequency" && field.type != Type::integer && field.type != Type::real &&
        field.type != Type::null) {
      return wrong("\"frequency\" is no whole number from 1 on");
    }
  }
  return has_events ? Status() : wrong("\"events\" is missing");
}

const Array* PatternBatchReader::column(std::string_view name) const {
  for (const Array& array : batch_->columns) {
    if (array.field().name == name) return &array;
  }
  return nullptr;
}

Result<std::optional<PatternRecord>> PatternBatchReader::next() {
  while (batch_ == nullptr || row_ == batch_->rows) {
    ++batches_;
    row_ = 0;
    batch_ = nullptr;
    const auto batch = reader_.next();
    if (!batch) return batch.error();
    if (*batch == nullptr) return std::optional<PatternRecord>();
    batch_ = *batch;
  }
  auto read = record(row_++);
  if (!read) return read.error();
  return std::optional(*std::move(read));
}

Result<PatternRecord> PatternBatchReader::record(int64_t row) {
  PatternRecord record;
  RowReader reader(row, *limit_);
  // Null: none there.
  const auto find = [&](std::string_view name) {
    const Array* array = column(name);
    return array == nullptr || array->is_null(row) ? nullptr : array;
  };
  const Array* events = find("events");
  if (events == nullptr) return wrong("\"events\" is null");
  if (Status read = reader.events(*events, record); !read) return read.error();
  if (const Array* array = find("name")) {
    auto name = reader.text(*array, row);
    if (!name) return name.error();
    record.name = *std::move(name);
  }
  if (const Array* array = find("frequency")) {
    const auto frequency = read_frequency(*array, row);
    if (!frequency) return frequency.error();
    record.frequency = *frequency;
  }
  if (const Array* array = find("emotives")) {
    const auto value = reader.value(*array, row);
    if (!value) return value.error();
    if (Status read = read_emotives(*value, record); !read) return read.error();
  }
  if (const Array* array = find("metadata")) {
    const auto value = reader.value(*array, row);
    if (!value) return value.error();
    if (Status read = read_metadata(*value, record); !read) return read.error();
  }
  const uint64_t bytes = std::max<uint64_t>(reader.bytes(), ImportLimit::kLeastRow);
  if (Status room = limit_->take(bytes); !room) return room.error();
  return record;
}

}  // namespace hoist::service
