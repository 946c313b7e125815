// The guides that are installed with Hoist: docs/guides/*.md. docs/README.md lists them, one row of
// a table each: `| [Title](guides/NAME.md) | you learn to … |`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hoist::cli {

struct Guide {
  std::string name;     // the topic: "first-steps"
  std::string summary;  // what a reader learns to do
};

// In the index's order. Rows of other tables are passed over.
std::vector<Guide> guides_of(std::string_view index);

// PREFIX/share/doc/hoist/docs; the build tree has a link there to the source's docs.
std::string docs_folder();

// `unavailable` where the documentation is not installed.
Result<std::vector<Guide>> installed_guides();

// One line a guide, each begun with two blanks.
std::string list_guides(const std::vector<Guide>& guides);

}  // namespace hoist::cli
