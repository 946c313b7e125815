#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/records/commands.h"
#include "cli/records/state.h"
#include "cli/report.h"
#include "records/reader.h"

namespace hoist::cli {
namespace {

using namespace hoist::records;
using nlohmann::ordered_json;

// A column over all blocks.
struct ColumnFacts {
  uint64_t values = 0;
  uint64_t text_bytes = 0;
  uint64_t bytes = 0;
  std::set<std::string_view> types;
  std::optional<ColumnRange> range;
  bool has_range = true;  // in every block

  void add(const BlockColumn& column) {
    values += column.values;
    text_bytes += column.text_bytes;
    bytes += column.bytes.size();
    types.insert(name(column.type));
    if (!column.range) {
      has_range = false;
    } else if (!range) {
      range = column.range;
    } else {
      range->least = std::min(range->least, column.range->least);
      range->most = std::max(range->most, column.range->most);
    }
  }
};

struct Facts {
  // By path and what stands there, in the order of first appearance.
  std::vector<std::pair<std::pair<std::string, ColumnKind>, ColumnFacts>> columns;
  std::map<std::string_view, uint64_t> formats;
  uint64_t column_bytes = 0;
  uint64_t shapes = 0;
  Status read;  // why not all blocks are counted
};

std::string_view kind_of(ColumnKind kind) {
  constexpr std::string_view kNames[] = {"bare", "text", "length", "line"};
  return kNames[static_cast<size_t>(kind)];
}

Facts gather(const RecordReader& reader) {
  Facts facts;
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

ordered_json info_json(const RecordReader& reader, const Facts& facts) {
  ordered_json json = {{"file", reader.name()},
                       {"state", state_name(reader)},
                       {"bytes", reader.file_size()},
                       {"text_bytes", reader.text_bytes()},
                       {"rows", reader.rows()},
                       {"format", name(reader.dialect().format)},
                       {"blocks", reader.blocks().size()},
                       {"shapes", facts.shapes},
                       {"columns", ordered_json::array()}};
  for (const auto& [key, column] : facts.columns) {
    ordered_json entry = {
        {"path", key.first},       {"kind", kind_of(key.second)},     {"types", column.types},
        {"values", column.values}, {"text_bytes", column.text_bytes}, {"bytes", column.bytes}};
    if (column.range && column.has_range) {
      entry["least"] = column.range->least;
      entry["most"] = column.range->most;
    }
    json["columns"].push_back(std::move(entry));
  }
  return json;
}

void print_text(const RecordReader& reader, const Facts& facts) {
  const auto ratio = [](uint64_t before, uint64_t after) {
    return static_cast<double>(before) / static_cast<double>(std::max<uint64_t>(after, 1));
  };
  fmt::print("{}: {} rows, {} bytes of text in a file of {} ({:.2f} to 1)\n", reader.name(),
             reader.rows(), reader.text_bytes(), reader.file_size(),
             ratio(reader.text_bytes(), reader.file_size()));
  fmt::print("  {} blocks, {} shapes, {} bytes beside the columns\n", reader.blocks().size(),
             facts.shapes, reader.file_size() - std::min(facts.column_bytes, reader.file_size()));
  for (const auto& [format, blocks] : facts.formats) {
    fmt::print("  {} blocks of format {}\n", blocks, format);
  }
  if (facts.columns.empty()) return;
  fmt::print("{:<28} {:<6} {:<18} {:>10} {:>12} {:>12} {:>7}  {}\n", "column", "kind", "types",
             "values", "text", "stored", "share", "least … most");
  for (const auto& [key, column] : facts.columns) {
    const std::string range =
        column.range && column.has_range
            ? fmt::format("{:.12g} … {:.12g}", column.range->least, column.range->most)
            : "";
    fmt::print("{:<28} {:<6} {:<18} {:>10} {:>12} {:>12} {:>5.1f} %  {}\n", key.first,
               kind_of(key.second), fmt::format("{}", fmt::join(column.types, ",")), column.values,
               column.text_bytes, column.bytes, 100 / ratio(reader.file_size(), column.bytes),
               range);
  }
}

}  // namespace

int records_info_command(const RecordsInfoOptions& options) {
  const Result<RecordReader> reader = RecordReader::open(options.file, {.partial = true});
  if (!reader) return report(reader.error());
  warn_of_state(*reader);
  const Facts facts = gather(*reader);
  if (options.json) {
    fmt::print(
        "{}\n",
        info_json(*reader, facts).dump(2, ' ', false, ordered_json::error_handler_t::replace));
  } else {
    print_text(*reader, facts);
  }
  if (!reader->check_whole()) return report(reader->check_whole().error());
  return facts.read ? kDone : report(facts.read.error());
}

}  // namespace hoist::cli
