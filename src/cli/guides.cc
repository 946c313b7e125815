#include "cli/guides.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "cli/tree.h"

namespace hoist::cli {

std::vector<Guide> guides_of(std::string_view index) {
  static const std::regex row(
      R"(\| \[[^\]]*\]\(guides/([a-z0-9-]+)\.md\) \| ([^\n|]*[^\n| ]) *\|)");
  std::vector<Guide> guides;
  using Rows = std::regex_iterator<std::string_view::const_iterator>;
  for (Rows at(index.begin(), index.end(), row); at != Rows(); ++at) {
    std::string summary = (*at)[2];
    std::erase(summary, '`');
    guides.push_back({(*at)[1], std::move(summary)});
  }
  return guides;
}

std::string docs_folder() {
  return std::filesystem::path(tree_prefix()) / HOIST_DOC_FOLDER / "docs";
}

Result<std::vector<Guide>> installed_guides() {
  const std::string path = docs_folder() + "/README.md";
  std::ifstream file(path);
  const std::string index(std::istreambuf_iterator<char>(file), {});
  std::vector<Guide> guides = guides_of(index);
  if (guides.empty()) {
    return fail(
        ErrorCode::unavailable,
        fmt::format("the guides are missing ({}): install Hoist again, with its share/doc", path));
  }
  return guides;
}

std::string list_guides(const std::vector<Guide>& guides) {
  size_t widest = 0;
  for (const Guide& guide : guides) widest = std::max(widest, guide.name.size());
  std::string text;
  for (const Guide& guide : guides) {
    text += fmt::format("  {:<{}}  {}\n", guide.name, widest, guide.summary);
  }
  return text;
}

}  // namespace hoist::cli
