#include "ops/gunzip/file_name.h"

#include <array>
#include <cctype>

#include "takeover/takeover.h"

namespace hoist::gunzip {
namespace {

constexpr size_t kMaxRestoredName = 240;  // near NAME_MAX gzip starts to shorten names

bool ends_with_ignoring_case(std::string_view text, std::string_view suffix) {
  if (text.size() < suffix.size()) return false;
  const std::string_view tail = text.substr(text.size() - suffix.size());
  for (size_t i = 0; i < suffix.size(); ++i) {
    const char c = tail[i];
    if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != suffix[i]) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> uncompressed_name(std::string_view path, std::string_view suffix) {
  const std::array<std::string_view, 8> known = {suffix, ".gz", ".z", ".taz",
                                                 ".tgz", "-gz", "-z", "_z"};
  for (const std::string_view candidate : known) {
    if (path.size() <= candidate.size() || !ends_with_ignoring_case(path, candidate)) continue;
    const std::string_view stem = path.substr(0, path.size() - candidate.size());
    if (stem.back() == '/') continue;
    const bool tar = candidate == ".taz" || candidate == ".tgz";
    return std::string(stem) + (tar ? ".tar" : "");
  }
  return std::nullopt;
}

std::vector<std::string> names_with_suffix(std::string_view path, std::string_view suffix) {
  std::vector<std::string> names;
  for (const std::string_view candidate : {suffix, std::string_view(".gz"), std::string_view(".z"),
                                           std::string_view("-z"), std::string_view(".Z")}) {
    if (names.empty() || candidate != suffix) {
      names.push_back(std::string(path) + std::string(candidate));
    }
  }
  return names;
}

std::string_view last_component(std::string_view path) {
  const size_t end = path.find_last_not_of('/');
  if (end == std::string_view::npos) return {};
  const size_t slash = path.rfind('/', end);
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::optional<std::string> restored_name(std::string_view path, std::string_view stored) {
  const std::string_view base = base_name(stored);
  if (base.empty() || base.size() > kMaxRestoredName || base.find('/') != std::string_view::npos ||
      base == "." || base == "..") {
    return std::nullopt;
  }
  const size_t slash = path.rfind('/');
  return std::string(path.substr(0, slash + 1)) + std::string(base);
}

}  // namespace hoist::gunzip
