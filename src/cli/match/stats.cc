// hoist match stats and verify.
#include <fmt/core.h>

#include "cli/match/commands.h"
#include "cli/report.h"
#include "match/index/index.h"
#include "match/json/json_text.h"

namespace hoist::cli {
namespace {

std::string json_of(const match::IndexStats& stats) {
  std::string segments;
  for (const uint64_t live : stats.segments) {
    segments += fmt::format("{}{}", segments.empty() ? "" : ", ", live);
  }
  return fmt::format(
      "{{\"patterns\": {}, \"recent_patterns\": {}, \"removed_patterns\": {}, \"frequencies\": {}, "
      "\"symbols\": {}, \"memory_bytes\": {}, \"segments\": [{}], \"next_serial\": {}, "
      "\"next_change\": {}, \"sort\": {}, \"persistence\": {}, \"search_only\": {}}}",
      stats.patterns, stats.recent_patterns, stats.removed_patterns, stats.frequencies,
      stats.symbols, stats.memory, segments, stats.position.serial, stats.position.change,
      stats.settings.sort, stats.settings.persistence, stats.search_only);
}

void print_text(const match::IndexStats& stats) {
  fmt::print("patterns     {}\n", stats.patterns);
  fmt::print("  recent     {}\n", stats.recent_patterns);
  fmt::print("  segments   {}\n", stats.segments.size());
  fmt::print("frequencies  {}\n", stats.frequencies);
  fmt::print("symbols      {}\n", stats.symbols);
  fmt::print("memory       {:.1f} MiB\n", static_cast<double>(stats.memory) / (1 << 20));
  fmt::print("events       {}\n", stats.settings.sort ? "sorted" : "in their own order");
  fmt::print("store        {}\n", stats.search_only ? "none: search-only" : "yes");
}

}  // namespace

int match_stats(const std::string& path, bool json) {
  const auto index = match::Index::open(path, {.read_only = true});
  if (!index) return report(index.error());
  const match::IndexStats stats = (*index)->stats();
  if (json) {
    fmt::print("{}\n", json_of(stats));
  } else {
    print_text(stats);
  }
  return kDone;
}

int match_verify(const std::string& path, bool json) {
  const auto index = match::Index::open(path, {.read_only = true});
  const auto compared = index ? (*index)->verify() : index.error();
  if (json) {
    fmt::print("{{\"ok\": {}, \"patterns\": {}{}}}\n", compared.has_value(),
               compared ? *compared : 0,
               compared ? "" : ", \"error\": " + match::json_string(compared.error().message));
  } else if (compared) {
    fmt::print("{}: OK, {} patterns\n", path, *compared);
  }
  return compared ? kDone : report(compared.error());
}

}  // namespace hoist::cli
