#include "records/column.h"

#include <algorithm>
#include <cstring>

#include "base/varint.h"
#include "records/column_layout.h"
#include "records/exact_number.h"
#include "records/integer_stream.h"
#include "records/prediction.h"
#include "records/sources.h"

namespace hoist::records {
namespace {

Error damaged() { return fail(ErrorCode::corrupt, "a column of the block is damaged"); }

// The numbers of a column, or the codes of its dictionary.
std::span<const int64_t> sequence_of(const DecodedColumn& column) {
  if (column.type == ColumnType::dictionary) return column.codes;
  return column.numbers.values;
}

class ColumnDecoder {
 public:
  ColumnDecoder(const ColumnLayout& layout, size_t count, const DecodedColumns& before,
                uint64_t most_bytes)
      : layout_(layout),
        before_(before),
        most_bytes_(most_bytes),
        column_(std::make_shared<DecodedColumn>()) {
    column_->type = layout.type;
    column_->count = count;
  }

  Result<std::shared_ptr<const DecodedColumn>> run() && {
    if (column_->type == ColumnType::copy) return copy();
    if (Status status = decode(); !status) return status.error();
    return std::shared_ptr<const DecodedColumn>(std::move(column_));
  }

 private:
  Result<std::shared_ptr<const DecodedColumn>> copy() {
    const auto& copied = before_[layout_.copied];
    if (copied == nullptr || copied->count != column_->count) return damaged();
    return copied;
  }

  Status decode() {
    switch (column_->type) {
      case ColumnType::constant: {
        const std::span<const std::byte> text = layout_.text;
        column_->texts.bytes.resize(text.size());
        if (!text.empty()) std::memcpy(column_->texts.bytes.data(), text.data(), text.size());
        column_->texts.strings = {{column_->texts.bytes.data(), text.size()}};
        return {};
      }
      case ColumnType::strings:
      case ColumnType::composed:
        return texts();
      case ColumnType::dictionary:
        return dictionary();
      default:
        return numbers();
    }
  }

  Status texts() {
    Result<DecodedStrings> strings = texts_of(layout_, most_bytes_);
    if (!strings) return strings.error();
    column_->texts = std::move(*strings);
    return {};
  }

  Status dictionary() {
    Result<std::vector<int64_t>> codes = sequence();
    if (!codes) return codes.error();
    if (Status status = undo_prediction(*codes, {}); !status) return status;
    for (const int64_t code : *codes) {
      if (code < 0 || static_cast<uint64_t>(code) >= layout_.texts) return damaged();
    }
    column_->codes = std::move(*codes);
    return texts();
  }

  Status numbers() {
    Result<std::vector<int64_t>> values = sequence();
    if (!values) return values.error();
    NumberColumn& numbers = column_->numbers;
    numbers.values = std::move(*values);
    numbers.form = layout_.form;
    if (layout_.has_digits) {
      Result<std::vector<int64_t>> digits =
          decode_integer_stream(layout_.digits, numbers.values.size());
      if (!digits) return digits.error();
      for (const int64_t count : *digits) {
        if (count < 0 || count > numbers.form.scale) return damaged();
      }
      numbers.digits = std::move(*digits);
    }
    Result<std::vector<int64_t>> positions = exceptions_of(layout_, column_->count);
    if (!positions) return positions.error();
    numbers.exceptions = std::move(*positions);
    if (Status status = texts(); !status) return status;
    return undo_prediction(numbers.values, numbers.exceptions);
  }

  // Differences, behind the first value if that is stored.
  Result<std::vector<int64_t>> sequence() {
    const SequenceLayout& from = layout_.sequence;
    Result<std::vector<int64_t>> values = decode_integer_stream(from.integers, from.differences());
    if (values && from.stores_first) values->insert(values->begin(), from.first);
    return values;
  }

  // From differences to values.
  Status undo_prediction(std::vector<int64_t>& values, std::span<const int64_t> exceptions) {
    const Prediction& prediction = layout_.sequence.prediction;
    const auto rows = [&](uint32_t number) -> std::optional<NumberRows> {
      if (before_[number] == nullptr) return std::nullopt;
      const DecodedColumn& column = *before_[number];
      const NumberRows found{.numbers = sequence_of(column),
                             .exceptions = column.numbers.exceptions,
                             .count = column.count};
      if (found.numbers.size() + found.exceptions.size() != found.count) return std::nullopt;
      return found;
    };
    const auto sources = LinedUpSources::make(
        prediction, {.numbers = values, .exceptions = exceptions, .count = column_->count}, rows);
    if (!sources) return damaged();
    add_predictions(prediction.predictor, values, sources->get());
    return {};
  }

  const ColumnLayout& layout_;
  const DecodedColumns& before_;
  uint64_t most_bytes_;
  std::shared_ptr<DecodedColumn> column_;
};

}  // namespace

std::string_view name(ColumnType type) {
  constexpr std::string_view kNames[] = {"constant", "strings", "dictionary",
                                         "numbers",  "copy",    "composed"};
  return kNames[static_cast<size_t>(type)];
}

Result<std::shared_ptr<const DecodedColumn>> decode_column(std::span<const std::byte> bytes,
                                                           size_t count,
                                                           const DecodedColumns& before,
                                                           uint64_t most_bytes) {
  const Result<ColumnLayout> layout = read_layout(bytes, count, before.size());
  if (!layout) return layout.error();
  return ColumnDecoder(*layout, count, before, most_bytes).run();
}

Result<std::vector<uint32_t>> sources_of(std::span<const std::byte> bytes, size_t columns_before) {
  ByteReader in(bytes);
  const auto type = in.read<uint8_t>();
  std::vector<uint32_t> sources;
  if (type == static_cast<uint8_t>(ColumnType::composed)) {
    const Result<ColumnLayout> layout = read_layout(bytes, 0, columns_before);
    if (!layout) return layout.error();
    return layout->text_sources;
  }
  if (type == static_cast<uint8_t>(ColumnType::copy)) {
    const uint64_t number = read_varint(in);
    if (number >= columns_before) return damaged();
    sources.push_back(static_cast<uint32_t>(number));
  } else if (type == static_cast<uint8_t>(ColumnType::dictionary) ||
             type == static_cast<uint8_t>(ColumnType::numbers)) {
    const Result<Prediction> prediction = read_prediction(in, columns_before);
    if (!prediction) return prediction.error();
    for_sources(*prediction, [&](uint32_t source) { sources.push_back(source); });
  }
  if (!in.ok()) return damaged();
  return sources;
}

bool ColumnCursor::take_exception() {
  const size_t at = next_++;
  const std::vector<int64_t>& exceptions = column_->numbers.exceptions;
  return exception_ < exceptions.size() && static_cast<size_t>(exceptions[exception_]) == at;
}

std::string_view ColumnCursor::text() {
  const std::vector<std::string_view>& texts = column_->texts.strings;
  switch (column_->type) {
    case ColumnType::constant:
      ++next_;
      return texts[0];
    case ColumnType::strings:
      return texts[next_++];
    case ColumnType::dictionary:
      return texts[static_cast<size_t>(column_->codes[next_++])];
    default:
      break;
  }
  if (take_exception()) return texts[exception_++];
  const NumberColumn& numbers = column_->numbers;
  const auto digits = numbers.digits.empty() ? 0 : numbers.digits[number_];
  const char* end =
      render_number(numbers.form, numbers.values[number_++], static_cast<uint8_t>(digits), buffer_);
  return {buffer_, static_cast<size_t>(end - buffer_)};
}

char* ColumnCursor::render(char* out, char* end) {
  if (at_end()) return nullptr;
  if (column_->type == ColumnType::numbers && column_->numbers.exceptions.empty() &&
      static_cast<size_t>(end - out) >= kMaxNumberBytes) {
    const NumberColumn& numbers = column_->numbers;
    const auto digits = numbers.digits.empty() ? 0 : numbers.digits[number_];
    ++next_;
    return render_number(numbers.form, numbers.values[number_++], static_cast<uint8_t>(digits),
                         out);
  }
  const std::string_view value = text();
  if (static_cast<size_t>(end - out) < value.size()) return nullptr;
  return std::copy(value.begin(), value.end(), out);
}

std::optional<double> ColumnCursor::number() {
  if (column_->type == ColumnType::numbers) {
    const NumberColumn& numbers = column_->numbers;
    const std::vector<int64_t>& exceptions = numbers.exceptions;
    if (exception_ == exceptions.size() || static_cast<size_t>(exceptions[exception_]) != next_) {
      ++next_;
      return number_of(numbers.form, numbers.values[number_++]);
    }
  }
  return nearest_double(text());
}

int64_t ColumnCursor::length() {
  if (at_end() || column_->type != ColumnType::numbers || !column_->numbers.exceptions.empty()) {
    return -1;
  }
  ++next_;
  return column_->numbers.values[number_++];
}

}  // namespace hoist::records
