#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/graph/commands.h"
#include "cli/graph/read_expression.h"
#include "cli/report.h"
#include "graph/circuit/evaluate.h"

namespace hoist::cli {
namespace {

void print(const graph::circuit::Evaluation& evaluation) {
  std::vector<std::string> bytes;
  for (const uint8_t byte : evaluation.bytes) bytes.push_back(fmt::format("0x{:02X}", byte));
  fmt::print("bytes      {}\n", fmt::join(bytes, " "));
  if (!evaluation.addresses.empty()) {
    fmt::print("addresses  {}\n", fmt::join(evaluation.addresses, " "));
  }
  fmt::print("words      {}\n", fmt::join(evaluation.words, " "));
}

}  // namespace

int graph_eval(const GraphEvalOptions& options) {
  const ReadCircuit read = read_circuit(options.source);
  if (!read.phrase) return read.status;
  const graph::circuit::Evaluation evaluation = graph::circuit::evaluate(*read.phrase);
  if (!options.json) {
    print(evaluation);
    return kDone;
  }
  const nlohmann::ordered_json json = {{"grammar", name(read.grammar)},
                                       {"bytes", evaluation.bytes},
                                       {"addresses", evaluation.addresses},
                                       {"words", evaluation.words}};
  fmt::print("{}\n", json.dump(2));
  return kDone;
}

}  // namespace hoist::cli
