#include "records/column_encode.h"

#include <algorithm>

#include "base/varint.h"
#include "codec/dictionary.h"
#include "records/exact_number.h"
#include "records/integer_stream.h"
#include "records/json_number.h"
#include "records/prediction_search.h"
#include "records/sources.h"

namespace hoist::records {
namespace {

constexpr size_t kMaxEntries = size_t{1} << 16;

struct Analysed {
  ColumnType type = ColumnType::strings;
  std::vector<std::string_view> texts;  // all of them; not of lengths
  uint64_t text_bytes = 0;
  NumberColumn numbers;
  std::vector<std::string_view> entries;
  std::vector<int64_t> codes;
  uint32_t copied = 0;

  // None where the column has neither numbers nor codes.
  NumberRows rows() const {
    if (type == ColumnType::dictionary)
      return {.numbers = codes, .exceptions = {}, .count = codes.size()};
    if (type != ColumnType::numbers) return {};
    const size_t count = numbers.values.size() + numbers.exceptions.size();
    return {.numbers = numbers.values, .exceptions = numbers.exceptions, .count = count};
  }
  Sequence sequence() const {
    return {.rows = rows(), .form = type == ColumnType::numbers ? &numbers.form : nullptr};
  }
};

std::optional<codec::Dictionary<std::string_view>> dictionary_of(
    const std::vector<std::string_view>& texts) {
  // A sample of neighbours that hardly repeat shows that a dictionary is none.
  constexpr size_t kProbe = 1024;
  if (texts.size() > 2 * kProbe) {
    const auto probe = Strings(texts).subspan(texts.size() / 2, kProbe);
    if (!codec::make_string_dictionary(probe, kProbe - kProbe / 16)) return std::nullopt;
  }
  return codec::make_string_dictionary(texts, std::min(kMaxEntries, texts.size() / 2));
}

Analysed analyse_lengths(const TokenColumn& column) {
  Analysed analysed;
  analysed.type = ColumnType::numbers;
  analysed.numbers.values.reserve(column.values.size());
  for (const Field& value : column.values) analysed.numbers.values.push_back(value.size);
  return analysed;
}

Analysed analyse(const Tokens& tokens, const TokenColumn& column) {
  if (column.kind == ColumnKind::length) return analyse_lengths(column);
  Analysed analysed;
  analysed.texts.reserve(column.values.size());
  for (const Field& value : column.values) {
    analysed.texts.push_back(tokens.text.substr(value.offset, value.size));
    analysed.text_bytes += value.size;
  }
  const std::vector<std::string_view>& texts = analysed.texts;
  if (std::all_of(texts.begin(), texts.end(), [&](auto text) { return text == texts[0]; })) {
    analysed.type = ColumnType::constant;
  } else if (column.kind == ColumnKind::line) {
    analysed.type = ColumnType::strings;
  } else if (std::optional<NumberColumn> numbers = as_numbers(texts)) {
    analysed.type = ColumnType::numbers;
    analysed.numbers = std::move(*numbers);
  } else if (auto dictionary = dictionary_of(texts)) {
    analysed.type = ColumnType::dictionary;
    analysed.entries = std::move(dictionary->entries);
    analysed.codes.assign(dictionary->codes.begin(), dictionary->codes.end());
  }
  return analysed;
}

// Marks columns whose texts are those of another one before them.
void find_copies(std::vector<Analysed>& columns) {
  for (uint32_t i = 0; i < columns.size(); ++i) {
    Analysed& column = columns[i];
    if (column.type != ColumnType::strings && column.type != ColumnType::dictionary) continue;
    for (uint32_t j = 0; j < i; ++j) {
      if (columns[j].type == column.type && columns[j].text_bytes == column.text_bytes &&
          columns[j].texts == column.texts) {
        column.type = ColumnType::copy;
        column.copied = j;
        break;
      }
    }
  }
}

std::optional<ColumnRange> range_of(const Analysed& column) {
  if (column.type != ColumnType::numbers || column.numbers.values.empty()) return std::nullopt;
  const NumberForm& form = column.numbers.form;
  // Dates and names are compared as they are written.
  if (form.type != NumberType::integer && form.type != NumberType::decimal) return std::nullopt;
  // An exception that is compared with numbers may lie outside.
  for (const int64_t at : column.numbers.exceptions) {
    const std::string_view text = column.texts[static_cast<size_t>(at)];
    if (is_json_number(text) || is_ordered_text(text)) return std::nullopt;
  }
  const auto [least, most] =
      std::minmax_element(column.numbers.values.begin(), column.numbers.values.end());
  // Reading rounds as well, and never changes the order.
  return ColumnRange{.least = number_of(form, *least), .most = number_of(form, *most)};
}

class ColumnWriter {
 public:
  ColumnWriter(const std::vector<Analysed>& columns, const Predictions& predictions, Effort effort)
      : columns_(columns), predictions_(predictions), effort_(effort), place_(columns.size()) {
    for (uint32_t i = 0; i < predictions.order.size(); ++i) place_[predictions.order[i]] = i;
  }

  std::string write(uint32_t number) const {
    const Analysed& column = columns_[number];
    std::string out(1, static_cast<char>(column.type));
    switch (column.type) {
      case ColumnType::constant:
        if (!column.texts.empty()) out += column.texts[0];
        break;
      case ColumnType::strings:
        encode_strings(column.texts, effort_, out);
        break;
      case ColumnType::dictionary:
        write_sequence(number, column.codes, out);
        write_varint(out, column.entries.size());
        encode_strings(column.entries, effort_, out);
        break;
      case ColumnType::numbers:
        write_sequence(number, column.numbers.values, out);
        write_numbers(column, out);
        break;
      case ColumnType::copy:
        write_varint(out, place_[column.copied]);
        break;
    }
    return out;
  }

 private:
  // The prediction, the number of values, the first one if stored, the differences.
  void write_sequence(uint32_t number, std::span<const int64_t> values, std::string& out) const {
    Prediction prediction = predictions_.of[number];
    const auto rows = [&](uint32_t source) -> std::optional<NumberRows> {
      return columns_[source].rows();
    };
    auto sources = LinedUpSources::make(prediction, columns_[number].rows(), rows);
    if (!sources) {
      prediction = {};
      sources = LinedUpSources();
    }
    const std::vector<int64_t> rest = differences(prediction.predictor, values, sources->get());
    prediction.first = place_[prediction.first];
    prediction.second = place_[prediction.second];
    prediction.group = place_[prediction.group];
    prediction.other_group = place_[prediction.other_group];
    write_prediction(prediction, out);
    write_varint(out, values.size());
    if (rest.size() < values.size()) write_varint(out, zigzag(values[0]));
    encode_integers(rest, effort_, out);
  }

  void write_numbers(const Analysed& column, std::string& out) const {
    const NumberColumn& numbers = column.numbers;
    write_form(numbers.form, out);
    if (numbers.form.style == DecimalStyle::own) encode_integers(numbers.digits, effort_, out);
    if (numbers.exceptions.empty()) return;
    encode_integers(differences(Predictor::last, numbers.exceptions, {}), effort_, out);
    write_varint(out, static_cast<uint64_t>(numbers.exceptions[0]));
    std::vector<std::string_view> texts;
    texts.reserve(numbers.exceptions.size());
    for (const int64_t at : numbers.exceptions) {
      texts.push_back(column.texts[static_cast<size_t>(at)]);
    }
    encode_strings(texts, effort_, out);
  }

  const std::vector<Analysed>& columns_;
  const Predictions& predictions_;
  Effort effort_;
  std::vector<uint32_t> place_;
};

}  // namespace

std::vector<EncodedColumn> encode_columns(const Tokens& tokens, Effort effort) {
  std::vector<Analysed> columns;
  columns.reserve(tokens.columns.size());
  for (const TokenColumn& column : tokens.columns) columns.push_back(analyse(tokens, column));
  find_copies(columns);
  std::vector<Sequence> sequences;
  sequences.reserve(columns.size());
  for (const Analysed& column : columns) sequences.push_back(column.sequence());
  Predictions predictions = choose_predictions(sequences, effort);
  // A copy is behind what it copies: copies last, for none of them is anybody's source.
  std::stable_partition(predictions.order.begin(), predictions.order.end(),
                        [&](uint32_t number) { return columns[number].type != ColumnType::copy; });
  const ColumnWriter writer(columns, predictions, effort);
  std::vector<EncodedColumn> encoded;
  encoded.reserve(columns.size());
  for (const uint32_t number : predictions.order) {
    encoded.push_back({.source = number,
                       .type = columns[number].type,
                       .bytes = writer.write(number),
                       .text_bytes = columns[number].text_bytes,
                       .range = range_of(columns[number])});
  }
  return encoded;
}

}  // namespace hoist::records
