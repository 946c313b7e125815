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
#include "graph/program/element_casts.h"
#include "graph/program/graph.h"
#include "graph/program/interpreter.h"
#include "graph/program/move.h"
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

inline bool same_number(float a, float b) { return same_float(a, b); }
inline bool same_number(double a, double b) {
  return std::memcmp(&a, &b, sizeof(double)) == 0 || (std::isnan(a) && std::isnan(b));
}
inline bool same_number(int64_t a, int64_t b) { return a == b; }

template <typename T>
::testing::AssertionResult same_numbers(const std::vector<T>& found,
                                        const std::vector<T>& expected) {
  for (size_t i = 0; i < found.size(); ++i) {
    if (!same_number(found[i], expected[i])) {
      return ::testing::AssertionFailure() << "at " << i << " of " << found.size() << ": "
                                           << found[i] << " instead of " << expected[i];
    }
  }
  return ::testing::AssertionSuccess();
}

inline ::testing::AssertionResult same_values(const Values& found, const Values& expected) {
  if (found.size() != expected.size() || found.lane() != expected.lane()) {
    return ::testing::AssertionFailure() << found.size() << " values, not " << expected.size();
  }
  if (found.has(Lanes::f32)) return same_numbers(found.f32(), expected.f32());
  if (found.has(Lanes::f64)) return same_numbers(found.f64(), expected.f64());
  return same_numbers(found.i64(), expected.i64());
}

// Runs a program on values. `shared`: an output, and the input whose memory it takes.
inline std::vector<Values> run_values(const Program& program, std::vector<Values> inputs,
                                      std::optional<std::pair<size_t, size_t>> shared = {}) {
  std::vector<std::vector<std::byte>> memory;
  std::vector<const void*> from;
  std::vector<void*> to;
  memory.reserve(inputs.size() + program.outputs());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const DType dtype = program.input(i).dtype;
    memory.emplace_back(inputs[i].size() * bytes_of(dtype) + 1);
    narrow(dtype, inputs[i].bytes(), inputs[i].size(), memory.back().data());
    from.push_back(memory.back().data());
  }
  std::vector<Values> results;
  for (size_t i = 0; i < program.outputs(); ++i) {
    const Node& node = program.output(i);
    results.emplace_back(lanes_of(node.dtype), static_cast<size_t>(node.elements()));
    memory.emplace_back(results.back().size() * bytes_of(node.dtype) + 1);
    to.push_back(memory.back().data());
  }
  if (shared) to[shared->first] = memory[shared->second].data();
  const Status done = program.run(from, to);
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  for (size_t i = 0; i < results.size(); ++i) {
    widen(program.output(i).dtype, to[i], results[i].size(), results[i].bytes());
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
    Values values(lanes_of(node.dtype), static_cast<size_t>(node.elements()));
    for (size_t i = 0; i < values.size(); ++i) {
      switch (lanes_of(node.dtype)) {
        case Lanes::f32:
          values.f32()[i] = float_of(node.dtype, with_special);
          break;
        case Lanes::f64:
          values.f64()[i] = double_value(with_special);
          break;
        default:
          values.i64()[i] = integer(node.dtype, with_special);
      }
    }
    return values;
  }

 private:
  float float_of(DType dtype, bool with_special) {
    static const std::vector<float> special = special_floats();
    std::normal_distribution<float> normal(0.0f, 1.5f);
    float value = normal(engine_);
    if (with_special && engine_() % 8 == 0) value = special[engine_() % special.size()];
    if (dtype == DType::boolean) return engine_() % 2 == 0 ? 1.0f : 0.0f;
    if (dtype == DType::f16) return rounded_f16(value);
    return dtype == DType::bf16 ? rounded_bf16(value) : value;
  }
  double double_value(bool with_special) {
    static constexpr double kSpecial[] = {5e-324, -5e-324, 2.3e-308, 1e308, -1e308, 1e-200, 709.8};
    if (!with_special) return std::normal_distribution<double>(0, 1.5)(engine_);
    if (engine_() % 16 == 0) return kSpecial[engine_() % std::size(kSpecial)];
    return double{float_of(DType::f32, true)} * (engine_() % 2 == 0 ? 1 : 1.0 / 3);
  }
  // Most are small; some are any.
  int64_t integer(DType dtype, bool with_special) {
    const int64_t small = static_cast<int64_t>(engine_() % 21) - (is_unsigned(dtype) ? 0 : 10);
    const uint64_t any = engine_() >> engine_() % 64;
    const bool is_any = with_special && engine_() % 4 == 0;
    const auto value = is_any ? static_cast<int64_t>(engine_() % 2 == 0 ? any : 0 - any) : small;
    int64_t wrapped = 0;
    step_for(Op::cast, Lanes::i64, dtype, 0)(&value, nullptr, nullptr, &wrapped, 1);
    return wrapped;
  }

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
    text += " : " + text_of(node.shape) + " " +
            std::string(array::properties(node.dtype).framework) + "\n";
  }
  for (const Id id : graph.outputs()) text += "output %" + std::to_string(id) + "\n";
  return text;
}

}  // namespace hoist::graph::program
