#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/output_rule.h"
#include "cli/records/commands.h"
#include "cli/records/facts.h"
#include "cli/records/plot.h"
#include "cli/records/state.h"
#include "cli/report.h"
#include "records/file_state.h"
#include "records/reader.h"

namespace hoist::cli {
namespace {

using namespace hoist::records;
using nlohmann::ordered_json;

std::vector<std::string_view> type_names(const ColumnFacts& column) {
  std::vector<std::string_view> names;
  for (const auto& [type, bytes] : column.types) names.push_back(name(type));
  return names;
}

ordered_json info_json(const RecordReader& reader, const RecordsFacts& facts) {
  ordered_json json = {{"file", reader.name()},
                       {"state", records::state_name(reader)},
                       {"unfinished_bytes", reader.unfinished_bytes()},
                       {"bytes", reader.file_size()},
                       {"text_bytes", reader.text_bytes()},
                       {"rows", reader.rows()},
                       {"format", name(reader.dialect().format)},
                       {"blocks", reader.blocks().size()},
                       {"shapes", facts.shapes},
                       {"columns", ordered_json::array()}};
  for (const auto& [key, column] : facts.columns) {
    ordered_json entry = {
        {"path", key.first},       {"kind", kind_of(key.second)},     {"types", type_names(column)},
        {"values", column.values}, {"text_bytes", column.text_bytes}, {"bytes", column.bytes}};
    if (column.range && column.has_range) {
      entry["least"] = column.range->least;
      entry["most"] = column.range->most;
    }
    json["columns"].push_back(std::move(entry));
  }
  return json;
}

// On one line.
std::string shown(const std::string& path) {
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<uint8_t>(c);
    out += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return out;
}

void print_text(const RecordReader& reader, const RecordsFacts& facts) {
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
    fmt::print("{:<28} {:<6} {:<18} {:>10} {:>12} {:>12} {:>5.1f} %  {}\n", shown(key.first),
               kind_of(key.second), fmt::format("{}", fmt::join(type_names(column), ",")),
               column.values, column.text_bytes, column.bytes,
               100 / ratio(reader.file_size(), column.bytes), range);
  }
}

}  // namespace

int records_info_command(const RecordsInfoOptions& options) {
  const Result<RecordReader> reader = RecordReader::open(options.file, {.partial = true});
  if (!reader) return report(reader.error());
  warn_of_state(*reader);
  const RecordsFacts facts = gather_facts(*reader);
  if (options.plot) {
    const Status written = write_output(*options.plot, sizes_svg(*reader, facts),
                                        output_rule(options.force, {options.file}));
    if (!written) return report(written.error());
  }
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
