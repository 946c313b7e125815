#include "cli/graph/read_expression.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/file.h"
#include "cli/report.h"
#include "graph/circuit/parser.h"

namespace hoist::cli {
namespace {

namespace circuit = graph::circuit;

// One byte more than may be read, so that a longer file is noticed.
Result<px::Source> read_file(const std::string& path) {
  const bool is_standard_input = path == "-";
  Result<UniqueFd> fd = is_standard_input ? Result<UniqueFd>(UniqueFd(::dup(STDIN_FILENO)))
                                          : open_file(path, O_RDONLY);
  if (!fd) return fd.error();
  std::string text(circuit::kMostBytes + 1, '\0');
  const Result<size_t> size = read_full(fd->get(), text.data(), text.size(), path);
  if (!size) return size.error();
  text.resize(*size);
  return px::Source(is_standard_input ? "(standard input)" : path, std::move(text));
}

}  // namespace

ReadCircuit read_circuit(const CircuitSource& from) {
  ReadCircuit result;
  result.grammar = *circuit::find_grammar(from.grammar);
  if (from.expression.empty() == from.file.empty()) {
    result.status =
        report(fail(ErrorCode::invalid_argument,
                    "one circuit is needed (hoist graph): give EXPR, - or --file FILE"));
    return result;
  }
  const bool is_file = !from.file.empty() || from.expression == "-";
  Result<px::Source> source = px::Source("EXPR", from.expression);
  if (is_file) source = read_file(from.file.empty() ? "-" : from.file);
  if (!source) {
    result.status = report(source.error());
    return result;
  }
  px::Diagnostics diagnostics;
  result.phrase = circuit::parse(*source, result.grammar, diagnostics);
  if (!result.phrase) {
    print_error(px::render(*source, diagnostics));
    result.status = is_file ? kFailed : kUsage;
  }
  return result;
}

}  // namespace hoist::cli
