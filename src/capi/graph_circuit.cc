// Circuits over the 96 classes of bytes.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "capi/status.h"
#include "capi/structs.h"
#include "capi/text.h"
#include "graph/circuit/canonical.h"
#include "graph/circuit/evaluate.h"
#include "graph/circuit/parser.h"
#include "hoist/graph.h"

namespace hoist::capi {
namespace {

namespace circuit = graph::circuit;

// What hoist_graph_eval() gives, and what it points to.
struct OwnEvaluation : hoist_graph_evaluation {
  circuit::Evaluation evaluation;
  std::vector<const char*> word_list;
};

struct ReadCircuit {
  circuit::Phrase phrase;
  circuit::CanonicalOptions options;
};

Result<ReadCircuit> read(const char* text, const hoist_graph_circuit_options* options) {
  if (Status there = needed(text, "circuit"); !there) return there.error();
  const auto own = options_of(options, "hoist_graph_circuit_options");
  if (!own) return own.error();
  circuit::CanonicalOptions how;
  how.gates = own->no_gates == 0;
  if (own->grammar != nullptr) {
    const auto grammar = circuit::find_grammar(own->grammar);
    if (!grammar) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("no grammar {}: compiler or spec", own->grammar));
    }
    how.grammar = *grammar;
  }
  Result<circuit::Phrase> phrase = circuit::parse(text, how.grammar, "<circuit>");
  if (!phrase) return phrase.error();
  return ReadCircuit{*std::move(phrase), how};
}

}  // namespace
}  // namespace hoist::capi

using namespace hoist::capi;
using hoist::Status;

extern "C" {

hoist_status hoist_graph_canon(const char* circuit, const hoist_graph_circuit_options* options,
                               char** text) {
  return guarded([&]() -> Status {
    if (Status there = needed(text, "text"); !there) return there;
    *text = nullptr;
    const auto own = read(circuit, options);
    if (!own) return own.error();
    *text = text_of(hoist::graph::circuit::canonicalize(own->phrase, own->options).text);
    return {};
  });
}

hoist_status hoist_graph_eval(const char* circuit, const hoist_graph_circuit_options* options,
                              const hoist_graph_evaluation** evaluation) {
  return guarded([&]() -> Status {
    if (Status there = needed(evaluation, "evaluation"); !there) return there;
    *evaluation = nullptr;
    const auto own = read(circuit, options);
    if (!own) return own.error();
    auto made = std::make_unique<OwnEvaluation>();
    made->evaluation = hoist::graph::circuit::evaluate(own->phrase);
    for (const std::string& word : made->evaluation.words) made->word_list.push_back(word.c_str());
    made->bytes = made->evaluation.bytes.data();
    made->byte_count = made->evaluation.bytes.size();
    made->addresses = made->evaluation.addresses.data();
    made->address_count = made->evaluation.addresses.size();
    made->words = made->word_list.data();
    made->word_count = made->word_list.size();
    *evaluation = made.release();
    return {};
  });
}

void hoist_graph_evaluation_free(const hoist_graph_evaluation* evaluation) {
  delete static_cast<const OwnEvaluation*>(evaluation);
}

}  // extern "C"
