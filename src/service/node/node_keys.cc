#include "service/node/node_keys.h"

#include <fmt/core.h>

#include <charconv>

namespace hoist::service {

std::string node_key_part(uint64_t number) {
  std::string part;
  for (int shift = 56; shift >= 0; shift -= 8) part.push_back(static_cast<char>(number >> shift));
  return part;
}

std::optional<uint64_t> parse_node_number(std::string_view bytes) {
  if (bytes.size() != 8) return std::nullopt;
  uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

std::string node_folder(std::string_view folder, std::string_view node, uint64_t number) {
  constexpr size_t kMost = 48;
  std::string name;
  for (const char c : node.substr(0, kMost)) {
    const bool is_harmless =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    name += is_harmless ? c : '_';
  }
  return fmt::format("{}/nodes/{}-{}", folder, name, number);
}

std::optional<uint64_t> number_of_folder(std::string_view name) {
  const size_t dash = name.rfind('-');
  if (dash == name.npos) return std::nullopt;
  const std::string_view digits = name.substr(dash + 1);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc() || end != digits.end()) return std::nullopt;
  return number;
}

}  // namespace hoist::service
