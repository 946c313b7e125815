#include "records/column.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/varint.h"
#include "records/exact_number.h"
#include "records/integer_stream.h"
#include "records/prediction.h"

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
  ColumnDecoder(std::span<const std::byte> bytes, size_t count, const DecodedColumns& before,
                uint64_t most_bytes)
      : in_(bytes),
        before_(before),
        most_bytes_(most_bytes),
        column_(std::make_shared<DecodedColumn>()) {
    column_->count = count;
  }

  Result<std::shared_ptr<const DecodedColumn>> run() && {
    const auto type = in_.read<uint8_t>();
    if (!in_.ok() || type > static_cast<uint8_t>(ColumnType::copy)) return damaged();
    column_->type = static_cast<ColumnType>(type);
    if (column_->type == ColumnType::copy) return copy();
    if (Status status = decode(); !status) return status.error();
    if (!in_.ok() || in_.remaining() > 0) return damaged();
    return std::shared_ptr<const DecodedColumn>(std::move(column_));
  }

 private:
  Result<std::shared_ptr<const DecodedColumn>> copy() {
    const uint64_t number = read_varint(in_);
    if (!in_.ok() || in_.remaining() > 0 || number >= before_.size() ||
        before_[number] == nullptr || before_[number]->count != column_->count) {
      return damaged();
    }
    return before_[number];
  }

  Status decode() {
    switch (column_->type) {
      case ColumnType::constant: {
        const std::span<const std::byte> text = in_.take(in_.remaining());
        column_->texts.bytes.resize(text.size());
        if (!text.empty()) std::memcpy(column_->texts.bytes.data(), text.data(), text.size());
        column_->texts.strings = {{column_->texts.bytes.data(), text.size()}};
        return {};
      }
      case ColumnType::strings:
        return texts(column_->count);
      case ColumnType::dictionary:
        return dictionary();
      default:
        return numbers();
    }
  }

  Status texts(size_t count) {
    Result<DecodedStrings> strings = decode_strings(in_, count, most_bytes_);
    if (!strings) return strings.error();
    column_->texts = std::move(*strings);
    return {};
  }

  Status dictionary() {
    Result<std::vector<int64_t>> codes = sequence(column_->count);
    if (!codes) return codes.error();
    const uint64_t entries = read_varint(in_);
    if (codes->size() != column_->count || entries > column_->count) return damaged();
    for (const int64_t code : *codes) {
      if (code < 0 || static_cast<uint64_t>(code) >= entries) return damaged();
    }
    column_->codes = std::move(*codes);
    return texts(entries);
  }

  Status numbers() {
    Result<std::vector<int64_t>> values = sequence(column_->count);
    if (!values) return values.error();
    NumberColumn& numbers = column_->numbers;
    numbers.values = std::move(*values);
    Result<NumberForm> form = read_form(in_);
    if (!form) return form.error();
    numbers.form = std::move(*form);
    if (numbers.form.type == NumberType::decimal && numbers.form.style == DecimalStyle::own) {
      Result<std::vector<int64_t>> digits = decode_integers(in_, numbers.values.size());
      if (!digits) return digits.error();
      for (const int64_t count : *digits) {
        if (count < 0 || count > numbers.form.scale) return damaged();
      }
      numbers.digits = std::move(*digits);
    }
    return exceptions();
  }

  Status exceptions() {
    const size_t count = column_->count - column_->numbers.values.size();
    if (count == 0) return {};
    Result<std::vector<int64_t>> gaps = decode_integers(in_, count - 1);
    if (!gaps) return gaps.error();
    std::vector<int64_t>& positions = column_->numbers.exceptions;
    positions.reserve(count);
    uint64_t at = read_varint(in_);
    for (size_t i = 0;; ++i) {
      if (at >= column_->count) return damaged();
      positions.push_back(static_cast<int64_t>(at));
      if (i == count - 1) break;
      const int64_t gap = (*gaps)[i];
      if (gap <= 0 || static_cast<uint64_t>(gap) > column_->count) return damaged();
      at += static_cast<uint64_t>(gap);
    }
    return texts(count);
  }

  // At most `most` values.
  Result<std::vector<int64_t>> sequence(size_t most) {
    const Result<Prediction> prediction = read_prediction(in_, before_.size());
    if (!prediction) return prediction.error();
    const uint64_t count = read_varint(in_);
    if (!in_.ok() || count > most) return damaged();
    Sources sources;
    std::vector<uint32_t> before;
    bool good = true;
    const auto source = [&](uint32_t number) -> std::span<const int64_t> {
      if (before_[number] == nullptr) return {};
      return sequence_of(*before_[number]);
    };
    const Predictor predictor = prediction->predictor;
    if (has_first(predictor)) {
      sources.first = source(prediction->first);
      good &= sources.first.size() == count;
    }
    if (has_second(predictor)) {
      sources.second = source(prediction->second);
      good &= sources.second.size() == count;
    }
    if (has_group(predictor)) {
      const DecodedColumn* group = before_[prediction->group].get();
      if (group == nullptr || group->type != ColumnType::dictionary ||
          group->codes.size() != count) {
        return damaged();
      }
      before = positions_before(group->codes, group->texts.strings.size());
      sources.before = before;
    }
    if (!good) return damaged();
    return values(predictor, count, sources);
  }

  Result<std::vector<int64_t>> values(Predictor predictor, size_t count, const Sources& sources) {
    const bool stored = starts_with_value(predictor) && count > 0;
    const int64_t first = stored ? unzigzag(read_varint(in_)) : 0;
    Result<std::vector<int64_t>> values = decode_integers(in_, count - (stored ? 1 : 0));
    if (!values) return values;
    if (stored) values->insert(values->begin(), first);
    add_predictions(predictor, *values, sources);
    return values;
  }

  ByteReader in_;
  const DecodedColumns& before_;
  uint64_t most_bytes_;
  std::shared_ptr<DecodedColumn> column_;
};

}  // namespace

std::string_view name(ColumnType type) {
  constexpr std::string_view kNames[] = {"constant", "strings", "dictionary", "numbers", "copy"};
  return kNames[static_cast<size_t>(type)];
}

Result<std::shared_ptr<const DecodedColumn>> decode_column(std::span<const std::byte> bytes,
                                                           size_t count,
                                                           const DecodedColumns& before,
                                                           uint64_t most_bytes) {
  return ColumnDecoder(bytes, count, before, most_bytes).run();
}

Result<std::vector<uint32_t>> sources_of(std::span<const std::byte> bytes, size_t columns_before) {
  ByteReader in(bytes);
  const auto type = in.read<uint8_t>();
  std::vector<uint32_t> sources;
  if (type == static_cast<uint8_t>(ColumnType::copy)) {
    const uint64_t number = read_varint(in);
    if (number >= columns_before) return damaged();
    sources.push_back(static_cast<uint32_t>(number));
  } else if (type == static_cast<uint8_t>(ColumnType::dictionary) ||
             type == static_cast<uint8_t>(ColumnType::numbers)) {
    const Result<Prediction> prediction = read_prediction(in, columns_before);
    if (!prediction) return prediction.error();
    if (has_first(prediction->predictor)) sources.push_back(prediction->first);
    if (has_second(prediction->predictor)) sources.push_back(prediction->second);
    if (has_group(prediction->predictor)) sources.push_back(prediction->group);
  }
  if (!in.ok()) return damaged();
  return sources;
}

Result<NumberForm> form_of(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  if (in.read<uint8_t>() != static_cast<uint8_t>(ColumnType::numbers)) return damaged();
  const Result<Prediction> prediction = read_prediction(in, std::numeric_limits<uint32_t>::max());
  if (!prediction) return prediction.error();
  const uint64_t count = read_varint(in);
  if (starts_with_value(prediction->predictor) && count > 0) read_varint(in);
  in.take(read_varint(in));  // the integers
  return read_form(in);
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
