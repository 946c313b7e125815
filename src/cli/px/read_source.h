// Reading a px file for a command, and telling what is wrong with it.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "px/lower/lower.h"
#include "px/text/diagnostic.h"
#include "px/text/source.h"

namespace hoist::cli {

// The text of a file; "-" is standard input.
Result<px::Source> read_px(const std::string& path);
// Prints errors and warnings on standard error.
void print(const px::Source& source, const px::Diagnostics& diagnostics);

// A whole file, whose errors and warnings have been printed.
struct PxFile {
  px::Source source;
  std::optional<px::Lowered> lowered;  // none: it has errors
};
Result<PxFile> load_px(const std::string& path);

}  // namespace hoist::cli
