// hoist._graph_circuit: the native part of hoist.graph.circuit.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>

#include "graph/circuit/canonical.h"
#include "graph/circuit/evaluate.h"
#include "graph/circuit/parser.h"
#include "graph/circuit/print.h"
#include "python/errors.h"
#include "python/main_interpreter.h"
#include "python/released_gil.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

namespace circuit = graph::circuit;

struct Circuit {
  circuit::Phrase phrase;
  circuit::Grammar grammar;
};

circuit::Grammar grammar_of(const std::string& text) {
  const std::optional<circuit::Grammar> grammar = circuit::find_grammar(text);
  if (grammar) return *grammar;
  raise({ErrorCode::invalid_argument, "no grammar " + text + ": give \"compiler\" or \"spec\""});
}

// (circuit or None, [(line, column, message, mend), …], errors' text)
nb::tuple parse(const std::string& text, const std::string& grammar_name, const std::string& name) {
  const circuit::Grammar grammar = grammar_of(grammar_name);
  std::optional<px::Source> source;
  px::Diagnostics diagnostics;
  std::optional<circuit::Phrase> phrase;
  {
    const ReleasedGil released;
    source.emplace(name, text);
    phrase = circuit::parse(*source, grammar, diagnostics);
  }
  nb::list list;
  for (const px::Diagnostic& diagnostic : diagnostics.sorted()) {
    const px::Position at = source->position(diagnostic.span.begin);
    list.append(nb::make_tuple(at.line, at.column, diagnostic.what, diagnostic.mend));
  }
  const nb::object read =
      phrase ? nb::cast(Circuit{*std::move(phrase), grammar}) : nb::object(nb::none());
  return nb::make_tuple(read, list, px::render(*source, diagnostics));
}

// (number, order, matrix) or None
nb::object element_of(const std::optional<circuit::GateElement>& element) {
  if (!element) return nb::none();
  const circuit::GateMatrix& matrix = circuit::gate_group().matrix(*element);
  const auto row = [&](int first) {
    return nb::make_tuple(circuit::entry_text(matrix, first),
                          circuit::entry_text(matrix, first + 1));
  };
  return nb::make_tuple(static_cast<int>(*element), circuit::gate_group().order(*element),
                        nb::make_tuple(row(0), row(2)));
}

nb::tuple canonical(const Circuit& self, bool gates) {
  circuit::Canonical result;
  {
    const ReleasedGil released;
    result = circuit::canonicalize(self.phrase, {.grammar = self.grammar, .gates = gates});
  }
  return nb::make_tuple(result.text, element_of(result.group_element), result.before, result.after,
                        result.rules);
}

nb::tuple evaluate(const Circuit& self) {
  circuit::Evaluation result;
  {
    const ReleasedGil released;
    result = circuit::evaluate(self.phrase);
  }
  return nb::make_tuple(nb::bytes(result.bytes.data(), result.bytes.size()), result.addresses,
                        result.words);
}

}  // namespace
}  // namespace hoist::python

NB_MODULE(_graph_circuit, module) {
  using namespace hoist::python;
  refuse_subinterpreters("hoist");
  nb::set_leak_warnings(false);
  watch_interpreters_end();
  module.def("parse", &parse, "text"_a, "grammar"_a, "name"_a);
  nb::class_<Circuit>(module, "Circuit")
      .def("text", [](const Circuit& self) { return hoist::graph::circuit::print(self.phrase); })
      .def("canonical", &canonical, "gates"_a)
      .def("evaluate", &evaluate);
}
