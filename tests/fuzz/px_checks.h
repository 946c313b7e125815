// What must hold of the front end of px for any text: it never crashes, every diagnostic can be
// shown, and what parses is laid out to a text that is its own layout and means the same.
#pragma once

#include <cstdlib>
#include <string>

#include "ir/print.h"
#include "px/lower/lower.h"
#include "px/syntax/format.h"
#include "px/syntax/parser.h"

namespace hoist::px {

inline void require(bool condition) {
  if (!condition) std::abort();
}

inline std::string tree_of(const Source& source) {
  Diagnostics diagnostics;
  const syntax::File file = parse(source, diagnostics);
  require(!diagnostics.has_errors());
  return print(file);
}

inline std::string meaning_of(const Source& source) {
  Diagnostics diagnostics;
  const std::optional<Lowered> lowered = read(source, diagnostics);
  require(lowered.has_value() != diagnostics.has_errors());
  require(render(source, diagnostics).empty() == diagnostics.sorted().empty());
  return lowered ? ir::text_of(lowered->module) : std::string();
}

inline void check_front(std::string text) {
  const Source source("k.px", std::move(text));
  const std::string meaning = meaning_of(source);
  Diagnostics diagnostics;
  (void)parse(source, diagnostics);
  if (diagnostics.has_errors()) return;
  const Source laid_out("k.px", format(source));
  require(format(laid_out) == laid_out.text());
  require(tree_of(laid_out) == tree_of(source));
  require(meaning_of(laid_out) == meaning);
}

}  // namespace hoist::px
