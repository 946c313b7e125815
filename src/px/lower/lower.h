// From syntax tree to IR: names resolved, every type known, every rule of the language checked.
//
//   const Source source("k.px", text);
//   Diagnostics diagnostics;
//   std::optional<Lowered> lowered = read(source, diagnostics);
//   if (!lowered) …render(source, diagnostics)…
#pragma once

#include <optional>

#include "ir/module.h"
#include "px/host/host_program.h"
#include "px/syntax/syntax.h"
#include "px/text/diagnostic.h"
#include "px/text/source.h"

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
