#include "cli/records/facts.h"

#include <algorithm>

namespace hoist::cli {

using namespace hoist::records;

void ColumnFacts::add(const BlockColumn& column) {
  values += column.values;
  text_bytes += column.text_bytes;
  bytes += column.bytes.size();
  types[column.type] += column.bytes.size();
  if (!column.range) {
    has_range = false;
  } else if (!range) {
    range = column.range;
  } else {
    range->least = std::min(range->least, column.range->least);
    range->most = std::max(range->most, column.range->most);
  }
}

std::string_view kind_of(ColumnKind kind) {
  constexpr std::string_view kNames[] = {"bare", "text", "length", "line"};
  return kNames[static_cast<size_t>(kind)];
}

RecordsFacts gather_facts(const RecordReader& reader) {
  RecordsFacts facts;
  std::map<std::pair<std::string, ColumnKind>, size_t> places;
  for (size_t i = 0; i < reader.blocks().size(); ++i) {
    const Result<LoadedBlock> loaded = reader.load(i);
    if (!loaded) {
      if (facts.read) facts.read = loaded.error();
      continue;
    }
    const Block& block = loaded->block();
    ++facts.formats[name(block.format())];
    facts.shapes += block.shapes();
    for (const BlockColumn& column : block.columns()) {
      std::pair<std::string, ColumnKind> key(column.path, column.kind);
      const auto [place, is_new] = places.try_emplace(key, facts.columns.size());
      if (is_new) facts.columns.emplace_back(std::move(key), ColumnFacts());
      facts.columns[place->second].second.add(column);
      facts.column_bytes += column.bytes.size();
    }
  }
  return facts;
}

}  // namespace hoist::cli
