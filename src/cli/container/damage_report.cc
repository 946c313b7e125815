#include "cli/container/damage_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/container/commands.h"

namespace hoist::cli {

nlohmann::ordered_json damage_json(std::span<const container::Damage> damage) {
  auto list = nlohmann::ordered_json::array();
  for (const container::Damage& found : damage) {
    nlohmann::ordered_json entry = {
        {"kind", container::name(found.kind)}, {"offset", found.offset}, {"size", found.size}};
    if (found.block) entry["block"] = *found.block;
    entry["what"] = found.what;
    list.push_back(std::move(entry));
  }
  return list;
}

std::string damage_text(std::span<const container::Damage> damage, uint64_t count) {
  std::string text;
  for (const container::Damage& found : damage) {
    text += fmt::format("  {}{} at {}, {} bytes: {}\n", container::name(found.kind),
                        found.block ? fmt::format(" of block {}", *found.block) : "", found.offset,
                        found.size, found.what);
  }
  if (count > damage.size()) text += fmt::format("  and {} more\n", count - damage.size());
  return text;
}

container::Limits limits_for(uint64_t file_size) {
  container::Limits limits;
  limits.index = std::max(limits.index, file_size);
  limits.block = std::max(limits.block, file_size);
  return limits;
}

std::string kind_name(uint32_t kind) {
  std::string letters(reinterpret_cast<const char*>(&kind), sizeof kind);
  const bool printable =
      std::all_of(letters.begin(), letters.end(), [](char c) { return c > ' ' && c <= '~'; });
  return printable ? letters : fmt::format("{:#010x}", kind);
}

std::string hex(const Blake3Digest& digest) {
  std::string text;
  for (const uint8_t byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace hoist::cli
