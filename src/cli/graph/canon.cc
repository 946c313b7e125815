#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/graph/commands.h"
#include "cli/graph/read_expression.h"
#include "cli/report.h"
#include "graph/circuit/canonical.h"

namespace hoist::cli {
namespace {

namespace circuit = graph::circuit;

nlohmann::ordered_json as_json(circuit::GateElement element) {
  const circuit::GateMatrix& matrix = circuit::gate_group().matrix(element);
  nlohmann::ordered_json rows = nlohmann::json::array();
  for (const int row : {0, 2}) {
    const std::vector<std::string> entries = {circuit::entry_text(matrix, row),
                                              circuit::entry_text(matrix, row + 1)};
    rows.push_back(entries);
  }
  return {{"number", element}, {"order", circuit::gate_group().order(element)}, {"matrix", rows}};
}

nlohmann::ordered_json as_json(const circuit::Canonical& canonical, circuit::Grammar grammar) {
  nlohmann::ordered_json json = {{"canonical", canonical.text}, {"grammar", name(grammar)}};
  json["group_element"] = nullptr;
  if (canonical.group_element) json["group_element"] = as_json(*canonical.group_element);
  json["before"] = canonical.before;
  json["after"] = canonical.after;
  json["rules"] = canonical.rules;
  return json;
}

}  // namespace

int graph_canon(const GraphCanonOptions& options) {
  const ReadCircuit read = read_circuit(options.source);
  if (!read.phrase) return read.status;
  const circuit::Canonical canonical =
      circuit::canonicalize(*read.phrase, {.grammar = read.grammar, .gates = options.gates});
  if (options.json) {
    fmt::print("{}\n", as_json(canonical, read.grammar).dump(2));
  } else {
    fmt::print("{}\n", canonical.text);
  }
  return kDone;
}

}  // namespace hoist::cli
