// Files of records in all column kinds, and what their columns are by their texts.
#pragma once

#include <charconv>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "container/container_testing.h"
#include "container/writer.h"
#include "records/file_format.h"
#include "records/gpu/column_loader.h"
#include "records/gpu/output_values.h"
#include "records/number_text.h"
#include "records/records_testing.h"
#include "records/writer.h"

namespace hoist::records {

inline std::optional<double> double_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// What a text is as a value of a type, by the text alone.
inline std::optional<uint64_t> bits_in(const WantedColumn& wanted, std::string_view text) {
  const auto integer = [](std::optional<int64_t> value) -> std::optional<uint64_t> {
    if (!value) return std::nullopt;
    return static_cast<uint64_t>(*value);
  };
  switch (wanted.type) {
    case DeviceType::int64: {
      int64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
      return static_cast<uint64_t>(value);
    }
    case DeviceType::float64:
    case DeviceType::float32: {
      const std::optional<double> value = double_in(text);
      if (!value || *value != *value) return std::nullopt;
      return bits_of(*value);
    }
    case DeviceType::decimal: {
      const std::optional<Decimal> decimal = parse_decimal(text);
      int64_t scaled = 0;
      if (!decimal || decimal->scale > wanted.digits ||
          !times(decimal->mantissa, power_of_ten(wanted.digits - decimal->scale), scaled)) {
        return integer(parse_integer(text) &&
                               times(*parse_integer(text), power_of_ten(wanted.digits), scaled)
                           ? std::optional(scaled)
                           : std::nullopt);
      }
      return static_cast<uint64_t>(scaled);
    }
    case DeviceType::timestamp: {
      const std::optional<DateForm> form = date_form(text);
      if (!form || form->style == DateForm::time || form->fraction > wanted.digits) {
        return std::nullopt;
      }
      const std::optional<int64_t> count = parse_date(*form, text);
      int64_t scaled = 0;
      if (!count || !times(*count, power_of_ten(wanted.digits - form->fraction), scaled)) {
        return std::nullopt;
      }
      return static_cast<uint64_t>(scaled);
    }
    case DeviceType::boolean:
      if (text == "true") return 1;
      if (text == "false") return 0;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// Texts stand for what they read as; those of codes are numbered as they come.
class PlainMeaning : public ColumnMeaning {
 public:
  explicit PlainMeaning(std::vector<WantedColumn> wanted) : wanted_(std::move(wanted)) {}

  Answer answer(size_t wanted, std::string_view text, Format, ColumnKind) override {
    if (wanted_[wanted].type == DeviceType::codes) {
      const std::lock_guard lock(mutex_);
      const auto [place, is_new] = codes_.try_emplace(std::string(text), texts_.size());
      if (is_new) texts_.emplace_back(text);
      return {place->second, 1};
    }
    const std::optional<uint64_t> bits = bits_in(wanted_[wanted], text);
    return {bits.value_or(0), bits ? 1u : 0u};
  }
  std::optional<int64_t> timestamp(size_t wanted, const DateForm& form, int64_t count) override {
    int64_t scaled = 0;
    if (!times(count, power_of_ten(wanted_[wanted].digits - form.fraction), scaled)) {
      return std::nullopt;
    }
    return scaled;
  }
  Result<std::vector<Answer>> answers(size_t wanted, const Block& block) override {
    std::vector<Answer> answers(block.rows(), Answer{0, 0});
    std::vector<bool> has(block.rows());
    for (size_t c = 0; c < block.columns().size(); ++c) {
      const BlockColumn& column = block.columns()[c];
      if (column.kind == ColumnKind::length || column.path != wanted_[wanted].path) continue;
      const Result<ColumnValues> values = block.read(c);
      if (!values) return values.error();
      ColumnCursor cursor(*values->column);
      for (const uint32_t row : values->rows) {
        const std::string text(cursor.text());
        // The first of several values in a row counts.
        if (!has[row]) answers[row] = answer(wanted, text, Format::plain, {});
        has[row] = true;
      }
    }
    return answers;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<WantedColumn> wanted_;
  std::mutex mutex_;
  std::map<std::string, uint64_t> codes_;
  std::vector<std::string> texts_;
};

// The text of each row of a column; nothing where the row has none.
inline std::vector<std::optional<std::string>> texts_of_column(const RecordReader& reader,
                                                               const std::string& path) {
  std::vector<std::optional<std::string>> texts(reader.rows());
  for (size_t b = 0; b < reader.blocks().size(); ++b) {
    const LoadedBlock loaded = reader.load(b).value();
    const Block& block = loaded.block();
    for (size_t c = 0; c < block.columns().size(); ++c) {
      const BlockColumn& column = block.columns()[c];
      if (column.kind == ColumnKind::length || column.path != path) continue;
      const ColumnValues values = block.read(c).value();
      ColumnCursor cursor(*values.column);
      for (const uint32_t row : values.rows) {
        std::optional<std::string>& text = texts[reader.blocks()[b].id + row];
        const std::string_view value = cursor.text();
        if (!text) text = value;
      }
    }
  }
  return texts;
}

inline void write_records(const std::string& path, std::string_view text,
                          std::optional<Format> format = std::nullopt) {
  RecordOptions options;
  options.durable = false;
  options.format = format;
  RecordWriter writer = RecordWriter::create(path, options).value();
  const Status written =
      writer.write_all([text, at = size_t{0}](std::span<char> into) mutable -> Result<size_t> {
        const size_t size = std::min(into.size(), text.size() - at);
        std::copy_n(text.data() + at, size, into.data());
        at += size;
        return size;
      });
  if (!written || !writer.finish()) std::abort();
}

// JSON of random_columns(), c0 to c15; `missing` of 100 values are not there.
inline std::string random_table(std::mt19937_64& random, size_t rows, unsigned missing) {
  const auto columns = random_columns(random, rows);
  std::string text;
  for (size_t row = 0; row < rows; ++row) {
    std::string line;
    for (size_t c = 0; c < columns.size(); ++c) {
      if (random() % 100 < missing) continue;
      const std::string& value = columns[c][row];
      const bool quoted = c != 1 && c != 2 && c != 5 && c != 6 && c != 14;
      line += (line.empty() ? "\"c" : ", \"c") + std::to_string(c) + "\": ";
      line += quoted ? "\"" + value + "\"" : value;
    }
    text += "{" + line + "}\n";
  }
  return text;
}

// Prices of some symbols that come in any order: numbers that follow those of the same symbol.
inline std::string grouped_candles(std::mt19937_64& random, size_t rows, size_t symbols) {
  std::vector<int64_t> prices(symbols);
  for (int64_t& price : prices) price = static_cast<int64_t>(random() % 100000000);
  std::string text;
  char line[256];
  for (size_t row = 0; row < rows; ++row) {
    const size_t s = random() % symbols;
    const int64_t open = prices[s];
    prices[s] += static_cast<int64_t>(random() % 201) - 100;
    prices[s] = std::max<int64_t>(prices[s], 1);
    std::snprintf(line, sizeof line,
                  "{\"symbol\": \"S%zu\", \"ts\": %zu, \"open\": \"%lld.%02lld\", \"close\": "
                  "\"%lld.%02lld\", \"n\": %llu}\n",
                  s, 1755392220 + 60 * (row / symbols), static_cast<long long>(open / 100),
                  static_cast<long long>(open % 100), static_cast<long long>(prices[s] / 100),
                  static_cast<long long>(prices[s] % 100),
                  static_cast<unsigned long long>(random() >> (random() % 64)));
    text += line;
  }
  return text;
}

// Columns that follow from two others: sums, differences, products, running totals, multiples of
// moves, values of some rows before.
inline std::string related_columns(std::mt19937_64& random, size_t rows) {
  std::string text = "a,b,sum,difference,product,total,last_total,moves,lag,start,minutes,clock\n";
  int64_t total = 0;
  int64_t moves = 500;
  int64_t last_a = 0;
  std::vector<int64_t> lags;
  const auto cell = [&](int64_t value) { text += std::to_string(value) + ","; };
  for (size_t row = 0; row < rows; ++row) {
    const auto a = static_cast<int64_t>(random() % 100000) - 30000;
    const auto b = static_cast<int64_t>(random() % 90000);
    cell(a);
    cell(b);
    cell(a + b);
    cell(a - b);
    cell(a * b);
    const int64_t before = total;
    cell(total += b);
    cell(before);
    cell(moves += 7 * (a - last_a));
    last_a = a;
    lags.push_back(row < 13 ? static_cast<int64_t>(random() % 1000000)
                            : lags[row - 13] + static_cast<int64_t>(random() % 3));
    cell(lags.back());
    const auto start = static_cast<int64_t>(random() % 1440);
    const auto minutes = static_cast<int64_t>(random() % 600);
    const int64_t end = (start + minutes) % 1440;
    cell(start / 60 * 100 + start % 60);
    cell(minutes);
    text += std::to_string(end / 60 * 100 + end % 60) + "\n";
  }
  return text;
}

template <typename T>
std::vector<T> downloaded(const DeviceColumns& columns, const void* data) {
  std::vector<T> values(columns.rows);
  if (!values.empty() &&
      !columns.memory->device()->copy(values.data(), data, values.size() * sizeof(T), {})) {
    std::abort();
  }
  return values;
}

}  // namespace hoist::records
