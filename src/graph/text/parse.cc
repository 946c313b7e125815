#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/file.h"
#include "base/nearest_word.h"
#include "graph/text/array_type.h"
#include "graph/text/constants.h"
#include "graph/text/line_reader.h"
#include "graph/text/names.h"
#include "graph/text/program_text.h"

namespace hoist::graph::text {
namespace {

using program::Extents;
using program::Id;
using program::Op;

std::string nearest_op(std::string_view word) {
  std::vector<std::string> names;
  for (size_t i = 0; i < program::kOps; ++i) {
    names.emplace_back(program::properties(static_cast<Op>(i)).name);
  }
  const std::string nearest = nearest_word(word, names);
  return nearest.empty() ? "docs/reference/graph-text.md lists them" : "is it " + nearest + "?";
}

class Parser {
 public:
  Parser(const px::Source& source, px::Diagnostics& diagnostics) : reader_(source, diagnostics) {}

  std::optional<NamedGraph> run() {
    header();
    while (!reader_.has_failed() && !has_returned_ && reader_.next_line()) line();
    if (!reader_.has_failed() && !has_returned_) {
      reader_.error_here("return", "the last line names the outputs: return %2");
    }
    if (!reader_.has_failed() && reader_.next_line()) {
      reader_.error_here("the end", "nothing stands behind return");
    }
    if (reader_.has_failed()) return std::nullopt;
    named_.graph.set_outputs(std::move(outputs_));
    return std::move(named_);
  }

 private:
  void header() {
    constexpr const char* kMend = "the first line is: hoist graph 1";
    const bool is_there = reader_.next_line();
    const bool is_graph = is_there && reader_.word() == "hoist" && reader_.word() == "graph";
    if (!is_graph) return reader_.error(reader_.last(), "this is no text of a graph", kMend);
    const std::optional<int64_t> version = reader_.integer("a version");
    if (!version) return;
    if (*version != 1) {
      return reader_.error(reader_.last(), fmt::format("a text of version {}", *version),
                           "this program reads version 1");
    }
    if (reader_.is_at_end()) return;
    named_.name = reader_.word();
    if (!is_name(named_.name)) return reader_.error_here("a name", "letters, digits, _ and .");
    reader_.expect_end();
  }

  void line() {
    if (reader_.now() == '%') return node();
    if (reader_.word() == "return") return outputs();
    reader_.error(reader_.last(), "a line that is neither a node nor return",
                  "a node begins with %: %2 = add %0, %1 : f32[2,3]");
  }

  // Empty where there is none, which has been said.
  std::string_view label() {
    if (!reader_.expect('%', "%", "arrays are named %0, %x")) return {};
    const std::string_view word = reader_.word();
    if (word.empty()) reader_.error_here("a name", "letters, digits, _ and .");
    return word;
  }

  std::optional<Id> operand() {
    const std::string_view name = label();
    if (name.empty()) return std::nullopt;
    const auto found = known_.find(name);
    if (found != known_.end()) return found->second;
    reader_.error(reader_.last(), fmt::format("no array %{} before this line", name),
                  "nodes come after those that they read");
    return std::nullopt;
  }

  void node() {
    const std::string_view name = label();
    const px::Span span = reader_.last();
    if (name.empty() || !reader_.expect('=', "=", "%2 = add %0, %1 : f32[2,3]")) return;
    const std::string_view word = reader_.word();
    const px::Span op_span = reader_.last();
    const std::optional<Op> op = find_op(word);
    if (!op) {
      if (word.empty()) return reader_.error_here("an operation", "such as add");
      return reader_.error(op_span, fmt::format("no operation {}", word.substr(0, 40)),
                           nearest_op(word));
    }
    const std::optional<Id> made = made_by(*op, op_span, name);
    if (!made || !reader_.expect_end()) return;
    if (!known_.emplace(name, *made).second) {
      reader_.error(span, fmt::format("%{} is there already", name), "give it another name");
    }
  }

  std::optional<Id> made_by(Op op, px::Span span, std::string_view name) {
    if (op == Op::input) return input(name);
    if (op == Op::constant) return constant();
    std::vector<Id> inputs;
    do {
      const std::optional<Id> one = operand();
      if (!one) return std::nullopt;
      inputs.push_back(*one);
    } while (reader_.take_if(','));
    const int wanted = program::properties(op).inputs;
    if (wanted >= 0 && inputs.size() != static_cast<size_t>(wanted)) {
      reader_.error(span,
                    fmt::format("{} takes {} array{}, not {}", program::properties(op).name, wanted,
                                wanted == 1 ? "" : "s", inputs.size()),
                    "commas part them");
      return std::nullopt;
    }
    const std::optional<Extents> numbers = read_attributes(reader_, op);
    const std::optional<ArrayType> type = numbers ? read_type(reader_) : std::nullopt;
    if (!type) return std::nullopt;
    const Result<Id> made = built(op, std::move(inputs), *numbers, *type);
    if (!made) {
      reader_.error(span, made.error().message, "the shapes and types stand behind the colons");
      return std::nullopt;
    }
    return as_said(*made, *type) ? std::optional(*made) : std::nullopt;
  }

  // Whether the node has the type that the line says.
  bool as_said(Id id, const ArrayType& type) {
    const program::Node& node = named_.graph[id];
    if (node.dtype == type.dtype && node.shape == type.shape) return true;
    const std::string is = type_text(node.dtype, node.shape);
    reader_.error(type.span, fmt::format("this is {}", is), fmt::format("write {}", is));
    return false;
  }

  Result<Id> built(Op op, std::vector<Id> inputs, const Extents& numbers, const ArrayType& type) {
    program::Graph& graph = named_.graph;
    if (program::is_reduction(op)) return graph.reduce(op, inputs[0], numbers, true);
    switch (op) {
      case Op::cast:
        return graph.cast(inputs[0], type.dtype);
      case Op::reshape:
        return graph.reshape(inputs[0], type.shape);
      case Op::permute:
        return graph.permute(inputs[0], numbers);
      case Op::broadcast:
        return graph.broadcast(inputs[0], type.shape);
      case Op::concatenate:
        return graph.concatenate(std::move(inputs), numbers[0]);
      case Op::cumulative_sum:
        return graph.cumulative_sum(inputs[0], numbers[0]);
      case Op::take_along:
        return graph.take_along(inputs[0], inputs[1], numbers[0]);
      case Op::slice: {
        const auto half = static_cast<long>(numbers.size() / 2);
        return graph.slice(inputs[0], {numbers.begin(), numbers.begin() + half}, type.shape,
                           {numbers.begin() + half, numbers.end()});
      }
      default:
        return graph.add_node(op, std::move(inputs));
    }
  }

  std::optional<Id> input(std::string_view name) {
    const std::optional<ArrayType> type = read_type(reader_);
    if (!type) return std::nullopt;
    const Result<Id> made = named_.graph.input(type->dtype, type->shape);
    if (!made) return refused(type->span, made.error());
    named_.inputs.emplace_back(is_name(name) ? name : "");
    return *made;
  }

  // The type stands behind the values, and says how they are read.
  std::optional<Id> constant() {
    const uint32_t values_place = reader_.place();
    reader_.go_to(reader_.find(':'));
    const std::optional<ArrayType> type = read_type(reader_);
    if (!type) return std::nullopt;
    const uint32_t end = reader_.place();
    // Checks the shape before its elements are counted.
    if (const Result<Id> checked = program::Graph().input(type->dtype, type->shape); !checked) {
      return refused(type->span, checked.error());
    }
    reader_.go_to(values_place);
    auto values = read_constant(reader_, type->dtype, type->shape);
    if (!values || !reader_.expect(':', ":", "the type stands behind the values")) {
      return std::nullopt;
    }
    reader_.go_to(end);
    const Result<Id> made = named_.graph.constant(type->dtype, type->shape, std::move(values));
    return made ? std::optional(*made) : refused(type->span, made.error());
  }

  std::optional<Id> refused(px::Span span, const Error& error) {
    reader_.error(span, error.message, "docs/reference/graph-text.md says what there is");
    return std::nullopt;
  }

  void outputs() {
    has_returned_ = true;
    do {
      std::string name;
      if (reader_.now() != '%') {
        name = reader_.word();
        const px::Span span = reader_.last();
        if (!is_name(name)) return reader_.error_here("an output", "return %2, or return y = %2");
        if (!output_names_.insert(name).second) {
          return reader_.error(span, fmt::format("output {} is there already", name),
                               "give it another name");
        }
        if (!reader_.expect('=', "=", "return y = %2")) return;
      }
      const std::optional<Id> one = operand();
      if (!one) return;
      outputs_.push_back(*one);
      named_.outputs.push_back(std::move(name));
    } while (reader_.take_if(','));
    reader_.expect_end();
  }

  LineReader reader_;
  NamedGraph named_;
  std::vector<Id> outputs_;
  std::unordered_map<std::string_view, Id> known_;
  std::unordered_set<std::string> output_names_;
  bool has_returned_ = false;
};

}  // namespace

std::optional<NamedGraph> parse(const px::Source& source, px::Diagnostics& diagnostics) {
  return Parser(source, diagnostics).run();
}

Result<NamedGraph> parse(std::string text, const std::string& name) {
  if (text.size() > kMostBytes) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("{} is longer than {} bytes: give large arrays as inputs", name, kMostBytes));
  }
  const px::Source source(name, std::move(text), kMostBytes);
  px::Diagnostics diagnostics;
  std::optional<NamedGraph> graph = parse(source, diagnostics);
  if (graph) return *std::move(graph);
  std::string message = px::render(source, diagnostics);
  message.pop_back();  // the end of its last line
  return fail(ErrorCode::invalid_argument, std::move(message));
}

Result<NamedGraph> read(const std::string& path) {
  Result<std::string> text = hoist::read_file(path, kMostBytes);
  if (!text) return text.error();
  return parse(*std::move(text), path);
}

}  // namespace hoist::graph::text
