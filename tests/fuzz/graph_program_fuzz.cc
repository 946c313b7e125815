// Fuzzes the text of tensor programs. An input is a text; it also chooses the nodes of a second
// one, most of which can be read. What was read is printed and read again, and small programs run
// as the interpreter has them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "graph/program/interpreter.h"
#include "graph/program/move.h"
#include "graph/program/program.h"
#include "graph/text/names.h"
#include "graph/text/program_text.h"

namespace {

using namespace hoist::graph;
using program::DType;
using program::Graph;
using program::Id;
using program::Lanes;
using program::Node;
using program::Op;
using program::Values;

constexpr int64_t kMostElements = 4096;  // of all arrays of a program that is run

void require(bool condition) {
  if (!condition) std::abort();
}

// Small numbers, by the place alone.
Values some_values(const Node& node) {
  Values values(program::lanes_of(node.dtype), static_cast<size_t>(node.elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    const int value = static_cast<int>(i * 7 % 5);
    if (node.dtype == DType::boolean)
      values.f32()[i] = static_cast<float>(value % 2);
    else if (values.has(Lanes::f32))
      values.f32()[i] = static_cast<float>(value) / 2;
    else if (values.has(Lanes::f64))
      values.f64()[i] = value / 2.0;
    else
      values.i64()[i] = value;
  }
  return values;
}

template <typename T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](T x, T y) {
    return std::memcmp(&x, &y, sizeof x) == 0 || (x != x && y != y);
  });
}

bool same(const Values& a, const Values& b) {
  if (a.has(Lanes::f32)) return same(a.f32(), b.f32());
  return a.has(Lanes::f64) ? same(a.f64(), b.f64()) : same(a.i64(), b.i64());
}

// Products of more terms may be summed in another order.
bool may_run(const Graph& graph) {
  int64_t elements = 0;
  for (Id id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    if (node.elements() > kMostElements - elements) return false;
    elements += node.elements();
    if (node.op == Op::matmul && graph[node.inputs[0]].shape.back() > 256) return false;
  }
  return graph.size() <= 100;
}

void run(const Graph& graph) {
  std::vector<Values> inputs;
  std::vector<std::vector<std::byte>> memory;
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const Id id : graph.inputs()) {
    const Node& node = graph[id];
    inputs.push_back(some_values(node));
    memory.emplace_back(inputs.back().size() * program::bytes_of(node.dtype) + 1);
    program::narrow(node.dtype, inputs.back().bytes(), inputs.back().size(), memory.back().data());
  }
  for (const Id id : graph.outputs()) {
    const auto elements = static_cast<size_t>(graph[id].elements());
    memory.emplace_back(elements * program::bytes_of(graph[id].dtype) + 1);
  }
  for (size_t i = 0; i < memory.size(); ++i) {
    if (i < inputs.size())
      from.push_back(memory[i].data());
    else
      to.push_back(memory[i].data());
  }
  const auto interpreted = program::interpret(graph, inputs);
  const auto compiled = program::Program::compile(graph, {.threads = 1}).value();
  // An index outside of its axis makes both fail, unless no result needs it.
  const bool has_run = static_cast<bool>(compiled->run(from, to));
  if (!interpreted) return;
  require(has_run);
  const std::vector<Values>& expected = *interpreted;
  for (size_t i = 0; i < to.size(); ++i) {
    const DType dtype = graph[graph.outputs()[i]].dtype;
    Values found(program::lanes_of(dtype), expected[i].size());
    program::widen(dtype, to[i], found.size(), found.bytes());
    require(same(found, expected[i]));
  }
}

void check(const std::string& text) {
  const hoist::px::Source source("t", text);
  hoist::px::Diagnostics diagnostics;
  const std::optional<text::NamedGraph> read = text::parse(source, diagnostics);
  require(read.has_value() != diagnostics.has_errors());
  require(hoist::px::render(source, diagnostics).empty() == read.has_value());
  if (!read) return;
  const std::string printed = text::print(*read);
  require(text::print(text::parse(printed, "t").value()) == printed);
  if (may_run(read->graph)) run(read->graph);
}

// Nodes that follow one another, each byte one choice.
class Writer {
 public:
  Writer(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  std::string text() {
    std::string text = "hoist graph 1\n";
    for (size_t i = 0; i < 2; ++i) add(text, "input", {}, "");
    while (at_ < size_ && types_.size() < 10) node(text);
    return text + "return %" + std::to_string(types_.size() - 1) + "\n";
  }

 private:
  size_t choice(size_t count) { return (at_ < size_ ? data_[at_++] : 0) % count; }

  void add(std::string& text, std::string_view op, const std::vector<size_t>& inputs,
           const std::string& numbers) {
    static constexpr const char* kTypes[] = {"f32", "f64", "i32", "i64", "u8", "f16", "bool"};
    static constexpr const char* kShapes[] = {"", "[3]", "[2,3]", "[1,3]", "[3,2]", "[2,1]", "[0]"};
    std::string line = "%" + std::to_string(types_.size()) + " = " + std::string(op);
    for (size_t i = 0; i < inputs.size(); ++i) {
      line += (i == 0 ? " %" : ", %") + std::to_string(inputs[i]);
    }
    line += numbers + " : ";
    // The type that the reader says, or else a chosen one.
    const std::string type = kTypes[choice(7)] + std::string(kShapes[choice(7)]);
    for (const std::string& said : {type, types_.empty() ? type : types_.back()}) {
      const std::string so_far = text + line + said + "\n";
      const auto read = text::parse(so_far + "return %" + std::to_string(types_.size()), "t");
      const std::string message = read ? "" : read.error().message;
      const size_t is = message.find("error: this is ");
      const bool is_wrong = !read && is == std::string::npos;
      if (is_wrong) continue;
      const std::string mended =
          read ? said : message.substr(is + 15, message.find('\n', is) - is - 15);
      text += line + mended + "\n";
      types_.push_back(mended);
      return;
    }
  }

  void node(std::string& text) {
    static constexpr const char* kNumbers[] = {"0", "1", "-2", "inf", "nan", "3", "true", "0.5"};
    const Op op = static_cast<Op>(choice(program::kOps));
    const auto& properties = program::properties(op);
    if (op == Op::constant) {
      return add(text, "constant", {}, std::string(" ") + kNumbers[choice(8)]);
    }
    std::vector<size_t> inputs;
    const size_t count =
        properties.inputs < 0 ? 1 + choice(3) : static_cast<size_t>(properties.inputs);
    for (size_t i = 0; i < count; ++i) {
      inputs.push_back(types_.size() - 1 - choice(std::min<size_t>(types_.size(), 4)));
    }
    const text::Attributes words = text::attributes_of(op);
    std::string numbers;
    for (const std::string_view word : {words.first, words.second}) {
      static constexpr const char* kLists[] = {"[0]", "[1]", "[0,1]", "[1,0]", "[]", "[1,-1]"};
      if (word.empty()) continue;
      numbers += " " + std::string(word) + " ";
      numbers += words.is_list ? kLists[choice(6)] : std::to_string(choice(3));
    }
    add(text, properties.name, inputs, numbers);
  }

  const uint8_t* data_;
  size_t size_;
  size_t at_ = 0;
  std::vector<std::string> types_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 20'000) return 0;
  check(std::string(reinterpret_cast<const char*>(data), size));
  check(Writer(data, std::min<size_t>(size, 200)).text());
  return 0;
}
