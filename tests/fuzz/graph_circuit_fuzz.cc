// Fuzzes circuits with texts of their own words in any order: each byte of the input is a word, a
// class, a number or a sign. The first byte chooses the grammar, and whether there are gates.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "graph/circuit/canonical.h"
#include "graph/circuit/evaluate.h"
#include "graph/circuit/parser.h"
#include "graph/circuit/print.h"

namespace {

using namespace hoist::graph::circuit;

constexpr std::string_view kWords[] = {
    "mark@c21",
    "mark@c42",
    "mark@c07",
    "mark@c00",
    "copy@c05",
    "->c06",
    "copy@c05->c06",
    "copy@c01->c02",
    "swap@c01<->c02",
    "merge@c00[c01,c02]",
    "split@",
    "quote@c06",
    "evaluate@",
    "mark@c[0..9]",
    "c",
    "[",
    "]",
    "..",
    ",",
    " . ",
    " . ",
    " . ",
    " . ",
    " || ",
    "(",
    ")",
    "@",
    "^",
    "~",
    "+1",
    "-7",
    "R+1@ ",
    "T-1 ~@ ",
    "D+1@ ",
    "3",
    "47",
    "96",
    "// c\n",
    "->",
    "<->",
    "\xff",
    "|",
    "mark@c21@1",
    "copy@c06->c05",
    "copy@c02->c02",
};

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const std::string& text, const CanonicalOptions& options) {
  const hoist::px::Source source("EXPR", text);
  hoist::px::Diagnostics diagnostics;
  const std::optional<Phrase> phrase = parse(source, options.grammar, diagnostics);
  require(phrase.has_value() != diagnostics.has_errors());
  require(hoist::px::render(source, diagnostics).empty() == phrase.has_value());
  if (!phrase) return;
  require(parse(print(*phrase), options.grammar).value() == *phrase);
  const Evaluation evaluation = evaluate(*phrase);
  require(evaluation.addresses.size() <= evaluation.bytes.size());
  const Canonical canonical = canonicalize(*phrase, options);
  require(parse(canonical.text, options.grammar).value() == canonical.phrase);
  require(canonicalize(canonical.phrase, options).text == canonical.text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const CanonicalOptions options{.grammar = (data[0] & 1) != 0 ? Grammar::spec : Grammar::compiler,
                                 .gates = (data[0] & 2) == 0};
  check(std::string(reinterpret_cast<const char*>(data), size), options);
  std::string text;
  for (size_t at = 1; at < size; ++at) text += kWords[data[at] % std::size(kWords)];
  check(text, options);
  return 0;
}
