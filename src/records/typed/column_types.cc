#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/utf8.h"
#include "records/column_layout.h"
#include "records/typed/plain_text.h"
#include "records/typed/scalars.h"
#include "records/typed/seen_values.h"
#include "records/typed/typed_values.h"

namespace hoist::records::typed {
namespace {

struct SeenColumn {
  std::string path;
  Seen seen;
  SeenTexts texts = {};
  bool is_list = false;
  bool missing = false;       // if it is no text
  bool missing_text = false;  // if it is
  uint64_t rows = 0;          // that have it
  uint64_t values = 0;
  uint64_t text_bytes = 0;
  uint64_t stored_bytes = 0;
};

// The rows of a block that have a column.
Result<std::vector<uint32_t>> rows_of(const Block& block, size_t column,
                                      const std::optional<RowPlaces>& places) {
  if (!places) {
    Result<ColumnValues> values = block.read(column);
    if (!values) return values.error();
    return std::move(values->rows);
  }
  std::vector<uint32_t> rows;
  rows.reserve(block.columns()[column].values);
  for (uint32_t row = 0; row < block.rows(); ++row) {
    if (places->places.empty() || places->places[row] != RowPlaces::kNone) rows.push_back(row);
  }
  return rows;
}

// The layout of a column, or of that which it is a copy of.
Result<ColumnLayout> layout_of(const Block& block, size_t column) {
  for (;;) {
    const BlockColumn& about = block.columns()[column];
    Result<ColumnLayout> layout = read_layout(about.bytes, about.values, column);
    if (!layout || layout->type != records::ColumnType::copy) return layout;
    column = layout->copied;
  }
}

// What exact types depend on: the texts, which are those of `values` values.
void look_at_texts(std::span<const std::string_view> texts, size_t values, Format format,
                   ColumnKind kind, SeenColumn& column) {
  std::string storage;
  for (const std::string_view text : texts) {
    if (is_missing_text(text, format, kind)) continue;
    const std::string_view exact = exact_text(text, format, kind, storage);
    column.seen.no_utf8 |= !is_utf8(exact);
    column.texts.add(exact);
  }
  column.texts.add_values(values - std::min(values, texts.size()));
}

// What a column's form and texts say; its numbers are read where dates have no range.
Status look_at(const Block& block, size_t number, const TypeOptions& options, SeenColumn& column) {
  const BlockColumn& about = block.columns()[number];
  const Result<ColumnLayout> layout = layout_of(block, number);
  if (!layout) return layout.error();
  const auto take = [&](std::string_view text) {
    column.seen.take(text, block.format(), about.kind, column.missing);
    column.missing_text |= is_missing_text(text, block.format(), about.kind);
  };
  const auto take_all = [&](std::span<const std::string_view> texts) {
    for (const std::string_view text : texts) take(text);
    if (options.exact) look_at_texts(texts, about.values, block.format(), about.kind, column);
  };
  if (layout->type == records::ColumnType::constant) {
    const std::string_view text(reinterpret_cast<const char*>(layout->text.data()),
                                layout->text.size());
    take_all(std::span(&text, 1));
    return {};
  }
  if (layout->type == records::ColumnType::numbers) {
    column.texts.refuse();
    const NumberForm& form = layout->form;
    if (form.type != NumberType::date) {
      column.seen.take_form(form, block.format());
    } else if (constexpr double kFar = 9e18;
               about.range && -kFar < about.range->least && about.range->most < kFar) {
      column.seen.take_date(form.date, static_cast<int64_t>(about.range->least));
      column.seen.take_date(form.date, static_cast<int64_t>(about.range->most));
    } else {
      const Result<ColumnValues> values = block.read(number);
      if (!values) return values.error();
      for (const int64_t count : values->column->numbers.values) {
        column.seen.take_date(form.date, count / date_units(form.date));
      }
    }
  }
  if (layout->type == records::ColumnType::composed) {
    // Its texts are in other columns.
    const Result<ColumnValues> values = block.read(number);
    if (!values) return values.error();
    take_all(values->column->texts.strings);
    return {};
  }
  const Result<DecodedStrings> texts = texts_of(*layout, block.raw_size());
  if (!texts) return texts.error();
  take_all(texts->strings);
  return {};
}

// In one block.
Result<std::vector<SeenColumn>> look_at(const RecordReader& reader, size_t number,
                                        const TypeOptions& options) {
  const Result<LoadedBlock> loaded = reader.load(number);
  if (!loaded) return loaded.error();
  const Block& block = loaded->block();
  std::vector<size_t> numbers;
  std::map<std::string_view, size_t> counts;  // of columns with a path
  for (size_t c = 0; c < block.columns().size(); ++c) {
    if (block.columns()[c].kind == ColumnKind::length) continue;
    numbers.push_back(c);
    ++counts[block.columns()[c].path];
  }
  std::vector<SeenColumn> columns;
  std::unordered_map<std::string, size_t> places;
  std::vector<std::vector<uint32_t>> rows;
  const auto row_places = block.places(numbers);
  if (!row_places) return row_places.error();
  for (size_t i = 0; i < numbers.size(); ++i) {
    const BlockColumn& about = block.columns()[numbers[i]];
    const auto [found, is_new] = places.try_emplace(about.path, columns.size());
    if (is_new) {
      columns.push_back(
          {.path = about.path, .seen = {}, .is_list = about.path.find("[]") != std::string::npos});
      rows.emplace_back();
    }
    SeenColumn& column = columns[found->second];
    if (Status status = look_at(block, numbers[i], options, column); !status) return status.error();
    column.values += about.values;
    column.text_bytes += about.text_bytes;
    column.stored_bytes += about.bytes.size();
    const std::optional<RowPlaces>& where = (*row_places)[i];
    if (where && counts[about.path] == 1) {
      column.rows = about.values;
      continue;
    }
    const Result<std::vector<uint32_t>> more = rows_of(block, numbers[i], where);
    if (!more) return more.error();
    std::vector<uint32_t>& all = rows[found->second];
    all.insert(all.end(), more->begin(), more->end());
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    if (rows[i].empty()) continue;
    std::sort(rows[i].begin(), rows[i].end());
    const auto end = std::unique(rows[i].begin(), rows[i].end());
    columns[i].is_list |= end != rows[i].end();
    columns[i].rows = static_cast<uint64_t>(end - rows[i].begin());
  }
  return columns;
}

void merge(SeenColumn& column, const SeenColumn& more) {
  column.seen.take_all(more.seen);
  column.texts.add(more.texts);
  column.is_list |= more.is_list;
  column.missing |= more.missing;
  column.missing_text |= more.missing_text;
  column.rows += more.rows;
  column.values += more.values;
  column.text_bytes += more.text_bytes;
  column.stored_bytes += more.stored_bytes;
}

void make_exact(const SeenColumn& column, const TypeOptions& options, ColumnType& type) {
  if (type.kind == ValueKind::real && options.decimals && column.seen.is_decimal()) {
    type.kind = ValueKind::decimal;
    type.scale = static_cast<uint8_t>(column.seen.scale);
  }
  if (type.kind != ValueKind::text) return;
  type.is_binary = column.seen.no_utf8;
  if (column.texts.few() && !type.is_list) {
    type.dictionary = std::make_shared<const TextDictionary>(column.texts.texts());
  }
}

ColumnType type_of(const SeenColumn& column, uint64_t rows, const TypeOptions& options) {
  ColumnType type;
  type.path = column.path;
  std::string storage;
  const std::string_view path = column.path;
  type.name = plain_text(path.starts_with('/') ? path.substr(1) : path, Format::plain,
                         ColumnKind::bare, storage);
  type.kind = column.seen.kind();
  if (type.kind == ValueKind::timestamp) {
    type.fraction = column.seen.fraction;
    type.is_utc = column.seen.zoned;
  }
  type.places = column.seen.places;
  type.is_list = column.is_list;
  if (options.exact) make_exact(column, options, type);
  type.nullable =
      column.rows < rows || (type.kind == ValueKind::text ? column.missing_text : column.missing);
  type.values = column.values;
  type.text_bytes = column.text_bytes;
  type.stored_bytes = column.stored_bytes;
  return type;
}

}  // namespace

Result<std::vector<ColumnType>> column_types(const RecordReader& reader,
                                             const std::stop_token& stop,
                                             const TypeOptions& options) {
  ThreadPool& pool = ThreadPool::process();
  std::vector<SeenColumn> columns;
  std::unordered_map<std::string, size_t> places;
  const auto batch = static_cast<size_t>(pool.size());
  for (size_t at = 0; at < reader.blocks().size(); at += batch) {
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped");
    const size_t count = std::min(batch, reader.blocks().size() - at);
    std::vector<Result<std::vector<SeenColumn>>> found(count, std::vector<SeenColumn>());
    pool.parallel_for(count, [&](size_t i) { found[i] = look_at(reader, at + i, options); });
    for (const Result<std::vector<SeenColumn>>& seen : found) {
      if (!seen) return seen.error();
      for (const SeenColumn& column : *seen) {
        const auto [place, is_new] = places.try_emplace(column.path, columns.size());
        if (is_new) {
          columns.push_back(column);
        } else {
          merge(columns[place->second], column);
        }
      }
    }
  }
  std::vector<ColumnType> types;
  const uint64_t rows = reader.rows() - header_rows(reader);
  for (const SeenColumn& column : columns) types.push_back(type_of(column, rows, options));
  return types;
}

}  // namespace hoist::records::typed
