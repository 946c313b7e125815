// From syntax tree to IR: names resolved, every type known, every rule of the language checked.
//
//   const Source source("k.px", text);
//   Diagnostics diagnostics;
//   std::optional<Lowered> lowered = read(source, diagnostics);
//   if (!lowered) …render(source, diagnostics)…
#pragma once

#include <optional>

#include "ir/module.h"
#include "px/diagnostic.h"
#include "px/host.h"
#include "px/source.h"
#include "px/syntax.h"

namespace hoist::px {

struct Lowered {
  ir::Module module;
  HostProgram host;
};

// None where there are errors. The module has passed ir::verify().
std::optional<Lowered> lower(const syntax::File& file, const Source& source,
                             Diagnostics& diagnostics);
// Parses, and lowers what parsed.
std::optional<Lowered> read(const Source& source, Diagnostics& diagnostics);

}  // namespace hoist::px
