#include "records/column_encode.h"

#include <algorithm>

#include "base/varint.h"
#include "records/column_analysis.h"
#include "records/exact_number.h"
#include "records/integer_stream.h"
#include "records/json_number.h"

namespace hoist::records {
namespace {

std::optional<ColumnRange> range_of(const AnalysedColumn& column) {
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

// Composed columns behind their sources, copies last: none of either is a source of predictions.
void put_behind(const std::vector<AnalysedColumn>& columns, std::vector<uint32_t>& order) {
  const auto rank = [&](uint32_t number) {
    if (columns[number].type == ColumnType::copy) return SIZE_MAX;
    return columns[number].text_depth;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return rank(a) < rank(b); });
}

class ColumnWriter {
 public:
  ColumnWriter(const std::vector<AnalysedColumn>& columns, const Predictions& predictions,
               Effort effort)
      : columns_(columns), predictions_(predictions), effort_(effort), place_(columns.size()) {
    for (uint32_t i = 0; i < predictions.order.size(); ++i) place_[predictions.order[i]] = i;
  }

  std::string write(uint32_t number) const {
    const AnalysedColumn& column = columns_[number];
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
      case ColumnType::composed:
        write_varint(out, column.text_sources.size());
        for (const uint32_t source : column.text_sources) write_varint(out, place_[source]);
        encode_strings(column.patterns, effort_, out);
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

  void write_numbers(const AnalysedColumn& column, std::string& out) const {
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

  const std::vector<AnalysedColumn>& columns_;
  const Predictions& predictions_;
  Effort effort_;
  std::vector<uint32_t> place_;
};

// Bytes of the columns that predictions bear upon, encoded quickly.
size_t size_with(const std::vector<AnalysedColumn>& columns, const Predictions& predictions) {
  const ColumnWriter writer(columns, predictions, Effort::usual);
  size_t size = 0;
  for (const uint32_t number : predictions.order) {
    if (columns[number].rows().count > 0) size += writer.write(number).size();
  }
  return size;
}

Predictions best_predictions(const std::vector<AnalysedColumn>& columns,
                             const std::vector<Sequence>& sequences, Effort effort) {
  const auto search = [&](Effort how) {
    Predictions predictions = choose_predictions(sequences, how);
    put_behind(columns, predictions.order);
    return predictions;
  };
  Predictions predictions = search(effort);
  if (effort == Effort::usual) return predictions;
  // A longer search finds more that looks well on an excerpt alone.
  Predictions usual = search(Effort::usual);
  const bool is_better = size_with(columns, usual) < size_with(columns, predictions);
  return is_better ? std::move(usual) : std::move(predictions);
}

}  // namespace

std::vector<EncodedColumn> encode_columns(const Tokens& tokens, Effort effort) {
  const std::vector<AnalysedColumn> columns = analyse_columns(tokens, effort);
  std::vector<Sequence> sequences;
  sequences.reserve(columns.size());
  for (const AnalysedColumn& column : columns) sequences.push_back(column.sequence());
  const Predictions predictions = best_predictions(columns, sequences, effort);
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
