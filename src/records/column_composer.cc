#include "records/column_composer.h"

#include <array>

namespace hoist::records {
namespace {

Error damaged() { return fail(ErrorCode::corrupt, "a composed column of the block is damaged"); }

}  // namespace

const std::vector<std::string_view>& ColumnComposer::texts_of(uint32_t column,
                                                              const DecodedColumn& decoded) {
  if (decoded.type == ColumnType::strings) return decoded.texts.strings;
  std::unique_ptr<Texts>& texts = texts_[column];
  if (texts == nullptr) {
    texts = std::make_unique<Texts>();
    texts->values = records::texts(decoded);
    const std::string_view bytes(texts->values.bytes.data(), texts->values.bytes.size());
    const std::vector<uint64_t>& offsets = texts->values.offsets;
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
      texts->views.push_back(bytes.substr(offsets[i], offsets[i + 1] - offsets[i]));
    }
  }
  return texts->views;
}

Result<std::shared_ptr<const DecodedColumn>> ColumnComposer::compose(
    size_t number, std::span<const std::byte> bytes, const DecodedColumn& patterns,
    const DecodedColumns& before, uint64_t most_bytes) {
  const Result<std::vector<uint32_t>> sources = sources_of(bytes, before.size());
  if (!sources) return sources.error();
  const std::vector<uint32_t>& rows = rows_[number].rows;
  if (!rows_[number].single || rows.size() != patterns.count) return damaged();
  std::vector<std::vector<std::string_view>> parts_of;
  for (const uint32_t source : *sources) {
    if (before[source] == nullptr || !rows_[source].single ||
        rows_[source].rows.size() != before[source]->count) {
      return damaged();
    }
    parts_of.push_back(beside(rows, rows_[source].rows, texts_of(source, *before[source])));
  }
  auto column = std::make_shared<DecodedColumn>();
  column->type = ColumnType::strings;
  column->count = patterns.count;
  std::vector<size_t> ends;
  ends.reserve(patterns.count);
  std::array<std::string_view, kMaxTextSources> parts;
  for (size_t i = 0; i < patterns.count; ++i) {
    for (size_t k = 0; k < parts_of.size(); ++k) parts[k] = parts_of[k][i];
    if (!append_text(patterns.texts.strings[i], std::span(parts).first(parts_of.size()), most_bytes,
                     column->texts.bytes)) {
      return damaged();
    }
    ends.push_back(column->texts.bytes.size());
  }
  const std::string_view all(column->texts.bytes.data(), column->texts.bytes.size());
  size_t begin = 0;
  for (const size_t end : ends) {
    column->texts.strings.push_back(all.substr(begin, end - begin));
    begin = end;
  }
  return std::shared_ptr<const DecodedColumn>(std::move(column));
}

}  // namespace hoist::records
