#include "cli/records/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/svg.h"

namespace hoist::cli {
namespace {

using records::ColumnType;

constexpr size_t kMostBars = 40;
constexpr double kMargin = 24;
constexpr double kNames = 210;  // where they end
constexpr double kBars = 220;
constexpr double kBarsEnd = 520;
constexpr double kLine = 22;
constexpr double kFont = 12;

struct Bar {
  std::string name;
  uint64_t text = 0;
  uint64_t bytes = 0;
  std::map<ColumnType, uint64_t> types = {};
};

// Names are any bytes; a picture is text.
std::string printable(const std::string& name) {
  using nlohmann::json;
  const std::string quoted = json(name).dump(-1, ' ', false, json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

// Cuts names that have no room.
std::string fitting(std::string name) {
  if (svg::text_width(name, kFont) <= kNames - kMargin) return name;
  while (!name.empty() && svg::text_width(name + "…", kFont) > kNames - kMargin) {
    while (!name.empty() && (name.back() & 0xc0) == 0x80) name.pop_back();
    if (!name.empty()) name.pop_back();
  }
  return name + "…";
}

std::string with_commas(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string name_of(const std::pair<std::string, records::ColumnKind>& key) {
  if (key.second == records::ColumnKind::line) return "whole lines";
  const std::string path = key.first.empty() ? "(no name)" : printable(key.first);
  return key.second == records::ColumnKind::length ? path + " (lengths)" : path;
}

// The largest first; what follows the last of them together.
std::vector<Bar> bars_of(const records::RecordReader& reader, const RecordsFacts& facts) {
  std::vector<Bar> bars;
  for (const auto& [key, column] : facts.columns) {
    bars.push_back({name_of(key), column.text_bytes, column.bytes, column.types});
  }
  std::stable_sort(bars.begin(), bars.end(),
                   [](const Bar& a, const Bar& b) { return a.bytes > b.bytes; });
  if (bars.size() > kMostBars) {
    Bar rest{.name = fmt::format("{} other columns", bars.size() - kMostBars)};
    for (size_t i = kMostBars; i < bars.size(); ++i) {
      rest.text += bars[i].text;
      rest.bytes += bars[i].bytes;
      for (const auto& [type, bytes] : bars[i].types) rest.types[type] += bytes;
    }
    bars.resize(kMostBars);
    bars.push_back(std::move(rest));
  }
  const uint64_t columns = std::min(facts.column_bytes, reader.file_size());
  uint64_t text = 0;
  for (const Bar& bar : bars) text += bar.text;
  bars.push_back({.name = "shapes, names, index",
                  .text = reader.text_bytes() - std::min(text, reader.text_bytes()),
                  .bytes = reader.file_size() - columns});
  return bars;
}

std::string rectangle(double x, double y, double width, double height, std::string_view style) {
  return svg::path(
      fmt::format("M{:.1f} {:.1f} h{:.2f} v{:.1f} h{:.2f} z", x, y, width, height, -width), style);
}

std::string colour(ColumnType type) {
  return fmt::format("class=\"{} point\"", svg::colour_class(static_cast<size_t>(type)));
}

std::string words_of(const Bar& bar) {
  const std::string bytes = with_commas(bar.bytes) + " B";
  if (bar.text == 0 || bar.bytes == 0) return bytes;
  const double ratio = static_cast<double>(bar.text) / static_cast<double>(bar.bytes);
  return fmt::format("{} of {} ({:.{}f} : 1)", bytes, with_commas(bar.text), ratio,
                     ratio < 100 ? 1 : 0);
}

std::string draw_bar(const Bar& bar, double y, uint64_t most) {
  const double scale = (kBarsEnd - kBars) / static_cast<double>(std::max<uint64_t>(most, 1));
  std::string drawn = svg::text(kNames, y + 14, "text-anchor=\"end\"", fitting(bar.name));
  double x = kBars;
  const auto piece = [&](uint64_t bytes, std::string_view style) {
    const double width = static_cast<double>(bytes) * scale;
    drawn += rectangle(x, y + 3, width, kLine - 7, style);
    x += width;
  };
  for (const auto& [type, bytes] : bar.types) piece(bytes, colour(type));
  if (bar.types.empty()) piece(bar.bytes, "class=\"frame\"");
  return drawn + svg::text(x + 6, y + 14, "", words_of(bar));
}

std::string draw_legend(const std::vector<Bar>& bars, double y) {
  std::map<ColumnType, uint64_t> used;
  for (const Bar& bar : bars) used.insert(bar.types.begin(), bar.types.end());
  std::string drawn;
  double x = kMargin;
  for (const auto& [type, bytes] : used) {
    drawn += rectangle(x, y - 10, 14, 12, colour(type));
    drawn += svg::text(x + 20, y, "", name(type));
    x += 44 + svg::text_width(name(type), kFont);
  }
  return drawn;
}

}  // namespace

std::string sizes_svg(const records::RecordReader& reader, const RecordsFacts& facts) {
  const std::vector<Bar> bars = bars_of(reader, facts);
  uint64_t most = 0;
  for (const Bar& bar : bars) most = std::max(most, bar.bytes);
  std::string drawn =
      svg::text(kMargin, 28, "font-size=\"16\" font-weight=\"600\"", "What each column takes");
  drawn +=
      svg::text(kMargin, 50, "",
                fmt::format("{} rows: {} bytes of text in a file of {}", with_commas(reader.rows()),
                            with_commas(reader.text_bytes()), with_commas(reader.file_size())));
  drawn += svg::text(kMargin, 68, "", "Bytes stored, of the bytes of text that they stand for");
  double y = 82;
  for (const Bar& bar : bars) {
    drawn += draw_bar(bar, y, most);
    y += kLine;
  }
  y += 22;
  return svg::document(drawn + draw_legend(bars, y), y + 18);
}

}  // namespace hoist::cli
