#include "records/column_layout.h"

#include "base/varint.h"
#include "records/composition.h"
#include "records/integer_stream.h"

namespace hoist::records {
namespace {

Error damaged() { return fail(ErrorCode::corrupt, "a column of the block is damaged"); }

class LayoutReader {
 public:
  LayoutReader(std::span<const std::byte> bytes, size_t count, size_t columns_before)
      : in_(bytes), count_(count), columns_before_(columns_before) {}

  Result<ColumnLayout> run() {
    const auto type = in_.read<uint8_t>();
    if (!in_.ok() || type > static_cast<uint8_t>(ColumnType::composed)) return damaged();
    layout_.type = static_cast<ColumnType>(type);
    if (Status status = read(); !status) return status.error();
    layout_.strings = in_.take(in_.remaining());
    if (!in_.ok()) return damaged();
    return layout_;
  }

 private:
  Status read() {
    switch (layout_.type) {
      case ColumnType::constant:
        layout_.text = in_.take(in_.remaining());
        return {};
      case ColumnType::strings:
        layout_.texts = count_;
        return {};
      case ColumnType::composed:
        layout_.texts = count_;
        return text_sources();
      case ColumnType::dictionary: {
        if (Status status = sequence(); !status) return status;
        const uint64_t entries = read_varint(in_);
        if (layout_.sequence.count != count_ || entries > count_) return damaged();
        layout_.texts = entries;
        return {};
      }
      case ColumnType::numbers:
        return numbers();
      case ColumnType::copy: {
        const uint64_t number = read_varint(in_);
        if (!in_.ok() || in_.remaining() > 0 || number >= columns_before_) return damaged();
        layout_.copied = static_cast<uint32_t>(number);
        return {};
      }
    }
    return damaged();
  }

  Status text_sources() {
    const uint64_t count = read_varint(in_);
    if (count > kMaxTextSources) return damaged();
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t source = read_varint(in_);
      if (source >= columns_before_) return damaged();
      layout_.text_sources.push_back(static_cast<uint32_t>(source));
    }
    return in_.ok() ? Status() : damaged();
  }

  Status sequence() {
    const Result<Prediction> prediction = read_prediction(in_, columns_before_);
    if (!prediction) return prediction.error();
    SequenceLayout& sequence = layout_.sequence;
    sequence.prediction = *prediction;
    const uint64_t count = read_varint(in_);
    if (!in_.ok() || count > count_) return damaged();
    sequence.count = count;
    sequence.stores_first = starts_with_value(prediction->predictor) && count > 0;
    if (sequence.stores_first) sequence.first = unzigzag(read_varint(in_));
    sequence.integers = in_.take(read_varint(in_));
    return in_.ok() ? Status() : damaged();
  }

  Status numbers() {
    if (Status status = sequence(); !status) return status;
    Result<NumberForm> form = read_form(in_);
    if (!form) return form.error();
    layout_.form = std::move(*form);
    layout_.has_digits =
        layout_.form.type == NumberType::decimal && layout_.form.style == DecimalStyle::own;
    if (layout_.has_digits) layout_.digits = in_.take(read_varint(in_));
    layout_.texts = count_ - layout_.sequence.count;
    if (layout_.texts > 0) {
      layout_.gaps = in_.take(read_varint(in_));
      layout_.first_exception = read_varint(in_);
    }
    return in_.ok() ? Status() : damaged();
  }

  ByteReader in_;
  size_t count_;
  size_t columns_before_;
  ColumnLayout layout_;
};

}  // namespace

Result<ColumnLayout> read_layout(std::span<const std::byte> bytes, size_t count,
                                 size_t columns_before) {
  return LayoutReader(bytes, count, columns_before).run();
}

Result<std::vector<int64_t>> exceptions_of(const ColumnLayout& layout, size_t count) {
  std::vector<int64_t> positions;
  if (layout.type != ColumnType::numbers || layout.texts == 0) return positions;
  const Result<std::vector<int64_t>> gaps = decode_integer_stream(layout.gaps, layout.texts - 1);
  if (!gaps) return gaps.error();
  positions.reserve(layout.texts);
  uint64_t at = layout.first_exception;
  for (size_t i = 0;; ++i) {
    if (at >= count) return damaged();
    positions.push_back(static_cast<int64_t>(at));
    if (i == layout.texts - 1) return positions;
    const int64_t gap = (*gaps)[i];
    if (gap <= 0 || static_cast<uint64_t>(gap) > count) return damaged();
    at += static_cast<uint64_t>(gap);
  }
}

Result<DecodedStrings> texts_of(const ColumnLayout& layout, uint64_t most_bytes) {
  if (layout.type == ColumnType::numbers && layout.texts == 0) {
    if (!layout.strings.empty()) return damaged();
    return DecodedStrings();
  }
  ByteReader in(layout.strings);
  Result<DecodedStrings> texts = decode_strings(in, layout.texts, most_bytes);
  if (texts && (!in.ok() || in.remaining() > 0)) return damaged();
  return texts;
}

}  // namespace hoist::records
