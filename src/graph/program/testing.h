// Random graphs and inputs, and comparisons of what comes out.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/test_seed.h"
#include "graph/program/graph.h"
#include "graph/program/interpreter.h"
#include "graph/program/program.h"

namespace hoist::graph::program {

inline std::vector<float> special_floats() {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  return {0.0f,           -0.0f,    1.0f,  -1.0f,  infinity, -infinity, nan,    1e-45f, -1e-45f,
          1.1754942e-38f, 1.2e-38f, 3e38f, -3e38f, 0.5f,     2.0f,      -88.5f, 88.8f,  104.0f,
          -104.0f,        1e-5f,    3.0f,  1e20f,  -1e20f,   0.93f,     7.0f,   -0.25f};
}

// Equal bits, any NaN as any other.
inline bool same_float(float a, float b) {
  return std::memcmp(&a, &b, sizeof(float)) == 0 || (std::isnan(a) && std::isnan(b));
}

inline ::testing::AssertionResult same_values(const Values& found, const Values& expected) {
  if (found.size() != expected.size()) {
    return ::testing::AssertionFailure() << found.size() << " values, not " << expected.size();
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (!same_float(found[i], expected[i])) {
      return ::testing::AssertionFailure() << "at " << i << " of " << found.size() << ": "
                                           << found[i] << " instead of " << expected[i];
    }
  }
  return ::testing::AssertionSuccess();
}

// Runs a program on values, booleans as 0 and 1. `shared`: an output, and the input whose memory it
// takes.
inline std::vector<Values> run_values(const Program& program, std::vector<Values> inputs,
                                      std::optional<std::pair<size_t, size_t>> shared = {}) {
  std::vector<std::vector<uint8_t>> bytes(inputs.size() + program.outputs());
  std::vector<const void*> from;
  for (size_t i = 0; i < inputs.size(); ++i) {
    from.push_back(inputs[i].data());
    if (program.input(i).dtype != DType::boolean) continue;
    bytes[i].assign(inputs[i].begin(), inputs[i].end());
    from.back() = bytes[i].data();
  }
  std::vector<Values> results(program.outputs());
  std::vector<void*> to;
  for (size_t i = 0; i < results.size(); ++i) {
    const auto elements = static_cast<size_t>(program.output(i).elements());
    results[i].resize(elements);
    bytes[inputs.size() + i].resize(elements);
    const bool is_bytes = program.output(i).dtype == DType::boolean;
    to.push_back(is_bytes ? static_cast<void*>(bytes[inputs.size() + i].data())
                          : static_cast<void*>(results[i].data()));
  }
  if (shared) to[shared->first] = inputs[shared->second].data();
  const Status done = program.run(from, to);
  if (shared) results[shared->first] = inputs[shared->second];
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  for (size_t i = 0; i < results.size(); ++i) {
    if (program.output(i).dtype != DType::boolean) continue;
    const auto& from_bytes = bytes[inputs.size() + i];
    results[i].assign(from_bytes.begin(), from_bytes.end());
  }
  return results;
}

std::string text_of(const Graph& graph);

class RandomValues {
 public:
  explicit RandomValues(uint64_t seed) : engine_(seed) {}
  uint64_t operator()() { return engine_(); }
  size_t below(size_t count) { return engine_() % count; }
  Values values(const Node& node, bool with_special) {
    static const std::vector<float> special = special_floats();
    std::normal_distribution<float> normal(0.0f, 1.5f);
    Values values(static_cast<size_t>(node.elements()));
    for (float& value : values) {
      value = normal(engine_);
      if (with_special && engine_() % 8 == 0) value = special[engine_() % special.size()];
      if (node.dtype == DType::boolean) value = engine_() % 2 == 0 ? 1.0f : 0.0f;
    }
    return values;
  }

 private:
  std::mt19937_64 engine_;
};

// Fused, unfused, and without canonicalisation: all as the interpreter has it.
inline void check_all_ways(const Graph& graph, RandomValues& random, bool with_special) {
  std::vector<Values> inputs;
  for (const Id id : graph.inputs()) inputs.push_back(random.values(graph[id], with_special));
  const std::vector<Values> expected = interpret(graph, inputs).value();
  for (const bool canonicalises : {true, false}) {
    for (const bool fuses : {true, false}) {
      CompileOptions options;
      options.canonicalises = canonicalises;
      options.fuses = fuses;
      options.threads = 1;
      const auto program = Program::compile(graph, options).value();
      for (int call = 0; call < 2; ++call) {
        const std::vector<Values> found = run_values(*program, inputs);
        ASSERT_EQ(found.size(), expected.size());
        for (size_t i = 0; i < found.size(); ++i) {
          ASSERT_TRUE(same_values(found[i], expected[i]))
              << "output " << i << (fuses ? ", fused" : "") << (canonicalises ? ", canonical" : "")
              << "\n"
              << text_of(graph);
        }
      }
    }
  }
}

inline std::string text_of(const Graph& graph) {
  std::string text;
  const std::vector<bool> live = graph.live();
  for (Id id = 0; id < graph.size(); ++id) {
    if (!live[id]) continue;
    const Node& node = graph[id];
    text += "%" + std::to_string(id) + " = " + std::string(properties(node.op).name);
    for (const Id input : node.inputs) text += " %" + std::to_string(input);
    if (!node.numbers.empty()) text += " numbers " + text_of(node.numbers);
    if (node.is_number()) text += " " + std::to_string(node.number());
    text += " : " + text_of(node.shape) + (node.dtype == DType::boolean ? " bool" : "") + "\n";
  }
  for (const Id id : graph.outputs()) text += "output %" + std::to_string(id) + "\n";
  return text;
}

}  // namespace hoist::graph::program
