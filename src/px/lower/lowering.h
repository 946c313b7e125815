// What the parts of the lowering, from syntax tree to IR, share.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "ir/module.h"
#include "px/lower/scope.h"
#include "px/syntax/syntax.h"
#include "px/text/diagnostic.h"
#include "px/text/names.h"
#include "px/text/source.h"

namespace hoist::px {

struct Lowering {
  const Source& source;
  Diagnostics& diagnostics;
  ir::Module& module;
  Scopes scopes = {};
  // Lines that did not parse may have declared the names that are missing then.
  bool forgives_unknown_names = false;
  // The one whose body is being lowered.
  const syntax::Function* function = nullptr;
  bool is_host = false;  // not a kernel's or a function's

  void error(Span span, std::string what, std::string mend) {
    diagnostics.error(span, std::move(what), std::move(mend));
  }
  void warn(Span span, std::string what, std::string mend) {
    diagnostics.warn(span, std::move(what), std::move(mend));
  }

  ir::Place place(Span span) const {
    const Position at = source.position(span.begin);
    return {at.line, at.column};
  }
  uint32_t line(Span span) const { return source.position(span.begin).line; }
  // The text of an expression, for messages; long ones are cut.
  std::string text(Span span) const;

  // The element type, or none where it is unknown, which is reported then.
  std::optional<ir::Type> type(const syntax::TypeName& name);
  // Adds the name to the innermost block. What hides a name of the language, or is in the block
  // already, is reported; the name is then known as failed, so that its uses are not reported.
  // Null then.
  Symbol* declare(const syntax::Name& name, Symbol symbol);
  // The symbol; null where there is none, which is reported, or where its declaration failed.
  Symbol* find(const std::string& name, Span span);
};

}  // namespace hoist::px
