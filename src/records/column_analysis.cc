#include "records/column_analysis.h"

#include <algorithm>
#include <optional>

#include "codec/dictionary.h"
#include "records/composition_search.h"

namespace hoist::records {
namespace {

constexpr size_t kMaxEntries = size_t{1} << 16;
constexpr size_t kLongConstant = 64;  // bytes

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

AnalysedColumn analyse_lengths(const TokenColumn& column) {
  AnalysedColumn analysed;
  analysed.type = ColumnType::numbers;
  analysed.numbers.values.reserve(column.values.size());
  for (const Field& value : column.values) analysed.numbers.values.push_back(value.size);
  return analysed;
}

AnalysedColumn analyse(const Tokens& tokens, const TokenColumn& column) {
  if (column.kind == ColumnKind::length) return analyse_lengths(column);
  AnalysedColumn analysed;
  analysed.texts.reserve(column.values.size());
  for (const Field& value : column.values) {
    analysed.texts.push_back(tokens.text.substr(value.offset, value.size));
    analysed.text_bytes += value.size;
  }
  const std::vector<std::string_view>& texts = analysed.texts;
  const auto is_first = [&](std::string_view text) { return text == texts[0]; };
  if (!texts.empty() && std::all_of(texts.begin(), texts.end(), is_first)) {
    // A constant is stored as it is, an entry of a dictionary compressed.
    const bool is_long = texts[0].size() > kLongConstant;
    analysed.type = is_long ? ColumnType::dictionary : ColumnType::constant;
    if (is_long) {
      analysed.entries = {texts[0]};
      analysed.codes.assign(texts.size(), 0);
    }
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
void find_copies(std::vector<AnalysedColumn>& columns) {
  for (uint32_t i = 0; i < columns.size(); ++i) {
    AnalysedColumn& column = columns[i];
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

}  // namespace

std::vector<AnalysedColumn> analyse_columns(const Tokens& tokens, Effort effort) {
  std::vector<AnalysedColumn> columns;
  columns.reserve(tokens.columns.size());
  for (const TokenColumn& column : tokens.columns) columns.push_back(analyse(tokens, column));
  find_copies(columns);
  compose_columns(tokens, effort, columns);
  return columns;
}

}  // namespace hoist::records
