#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "graph/text/constants.h"
#include "graph/text/names.h"
#include "graph/text/program_text.h"

namespace hoist::graph::text {
namespace {

using program::Extents;
using program::Graph;
using program::Id;
using program::Node;
using program::Op;

// Those of `names` that can be written, each once; the others become empty.
std::vector<std::string> usable(std::vector<std::string> names, size_t count) {
  names.resize(count);
  std::set<std::string> seen;
  for (std::string& name : names) {
    if (!is_name(name) || !seen.insert(name).second) name.clear();
  }
  return names;
}

std::string attributes_text(const Node& node) {
  const Attributes words = attributes_of(node.op);
  if (words.first.empty()) return "";
  if (!words.is_list) return fmt::format(" {} {}", words.first, node.numbers[0]);
  if (words.second.empty()) return fmt::format(" {} {}", words.first, list_text(node.numbers));
  Extents first;
  Extents second;
  for (size_t i = 0; i < node.numbers.size(); ++i) {
    (i % 2 == 0 ? first : second).push_back(node.numbers[i]);
  }
  return fmt::format(" {} {} {} {}", words.first, list_text(first), words.second,
                     list_text(second));
}

std::string operands_text(const Node& node, const std::vector<std::string>& labels) {
  std::string text;
  for (const Id input : node.inputs) text += (text.empty() ? " %" : ", %") + labels[input];
  return text;
}

}  // namespace

std::string print(const NamedGraph& named) {
  const Graph& graph = named.graph;
  const std::vector<std::string> inputs = usable(named.inputs, graph.inputs().size());
  const std::vector<std::string> outputs = usable(named.outputs, graph.outputs().size());
  const std::vector<bool> live = graph.live();
  std::string text = "hoist graph 1";
  if (is_name(named.name)) text += " " + named.name;
  text += "\n";
  std::vector<std::string> labels(graph.size());
  size_t next = 0;
  for (Id id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    const bool is_input = node.op == Op::input;
    if (!live[id] && !is_input) continue;
    labels[id] = std::to_string(next++);
    if (is_input && !inputs[static_cast<size_t>(node.numbers[0])].empty()) {
      labels[id] = inputs[static_cast<size_t>(node.numbers[0])];
    }
    text += fmt::format("%{} = {}", labels[id], program::properties(node.op).name);
    text += node.op == Op::constant ? " " + constant_text(node) : operands_text(node, labels);
    text += attributes_text(node) + " : " + type_text(node.dtype, node.shape) + "\n";
  }
  text += "return";
  for (size_t i = 0; i < outputs.size(); ++i) {
    text += i == 0 ? " " : ", ";
    if (!outputs[i].empty()) text += outputs[i] + " = ";
    text += "%" + labels[graph.outputs()[i]];
  }
  return text + "\n";
}

Status write(const NamedGraph& graph, const std::string& path, const OutputRule& rule) {
  Result<OutputFile> file = OutputFile::create(path, rule);
  if (!file) return file.error();
  const std::string text = print(graph);
  if (Status done = write_full(file->fd(), text.data(), text.size(), path); !done) return done;
  return file->publish();
}

}  // namespace hoist::graph::text
