// Fuzzes the front end of px with whatever text: it never crashes, every diagnostic can be shown,
// and what parses is laid out to a text that is its own layout and means the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ir/print.h"
#include "px/format.h"
#include "px/lower.h"
#include "px/parser.h"

namespace {

using namespace hoist::px;

void require(bool condition) {
  if (!condition) std::abort();
}

std::string tree_of(const Source& source) {
  Diagnostics diagnostics;
  const syntax::File file = parse(source, diagnostics);
  require(!diagnostics.has_errors());
  return print(file);
}

std::string meaning_of(const Source& source) {
  Diagnostics diagnostics;
  const std::optional<Lowered> lowered = read(source, diagnostics);
  require(lowered.has_value() != diagnostics.has_errors());
  require(render(source, diagnostics).empty() == diagnostics.sorted().empty());
  return lowered ? hoist::ir::text_of(lowered->module) : std::string();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Source source("k.px", std::string(reinterpret_cast<const char*>(data), size));
  const std::string meaning = meaning_of(source);
  Diagnostics diagnostics;
  (void)parse(source, diagnostics);
  if (diagnostics.has_errors()) return 0;
  const Source laid_out("k.px", format(source));
  require(format(laid_out) == laid_out.text());
  require(tree_of(laid_out) == tree_of(source));
  require(meaning_of(laid_out) == meaning);
  return 0;
}
