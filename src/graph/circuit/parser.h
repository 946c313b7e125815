// From the text of a circuit to its syntax.
//
//   const px::Source source("EXPR", "mark@c21 . mark@c21");
//   px::Diagnostics diagnostics;
//   std::optional<Phrase> phrase = parse(source, Grammar::compiler, diagnostics);
//   if (!phrase) …px::render(source, diagnostics)…  // with line, caret and mend
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "graph/circuit/syntax.h"
#include "px/text/diagnostic.h"

namespace hoist::graph::circuit {

// Bounds what a circuit takes: time and memory grow with its length alone.
inline constexpr size_t kMostBytes = 1 << 20;
// Parentheses and transforms within one another.
inline constexpr int kMostDepth = 100;

// Nothing where `diagnostics` has errors. Reads no more than kMostBytes; a longer source is an
// error.
std::optional<Phrase> parse(const px::Source& source, Grammar grammar,
                            px::Diagnostics& diagnostics);

// `invalid_argument`: what is wrong, as `hoist graph canon` prints it. `name`: of the text.
Result<Phrase> parse(std::string_view text, Grammar grammar, const std::string& name = "EXPR");

}  // namespace hoist::graph::circuit
