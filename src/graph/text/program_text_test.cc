#include "graph/text/program_text.h"

#include <gtest/gtest.h>

#include "graph/program/canonicalise.h"
#include "graph/program/random_graph.h"

namespace hoist::graph::text {
namespace {

using program::DType;
using program::Graph;
using program::Id;
using program::Node;
using program::RandomGraph;
using program::RandomValues;
using program::Values;

// Each node of one is a node of the other: of two texts that were read, or a graph and its text,
// once what no output needs is gone.
void expect_same(const Graph& a, const Graph& b) {
  std::vector<Id> number(a.size());
  const std::vector<bool> live = a.live();
  Id next = 0;
  for (Id id = 0; id < a.size(); ++id) {
    if (!live[id] && a[id].op != program::Op::input) continue;
    ASSERT_LT(next, b.size());
    number[id] = next;
    Node node = a[id];
    for (Id& input : node.inputs) input = number[input];
    ASSERT_TRUE(program::same(node, b[next])) << "node " << next;
    ++next;
  }
  ASSERT_EQ(next, b.size());
  std::vector<Id> outputs = a.outputs();
  for (Id& output : outputs) output = number[output];
  EXPECT_EQ(outputs, b.outputs());
}

std::string canonical(const std::string& text) { return print(parse(text, "t").value()); }

constexpr const char* kLayer =
    "hoist graph 1 layer\n"
    "%x = input : f32[2,3]\n"
    "%w = input : f32[3,4]\n"
    "%2 = matmul %x, %w : f32[2,4]\n"
    "%3 = constant 0 : f32\n"
    "%4 = maximum %2, %3 : f32[2,4]\n"
    "%5 = max %4 over [1] : f32[2,1]\n"
    "%6 = permute_dims %4 by [1,0] : f32[4,2]\n"
    "%7 = slice %4 from [1,0] step [-1,2] : f32[2,2]\n"
    "%8 = concat %7, %7 along 0 : f32[4,2]\n"
    "%9 = constant [1.5, -0, nan, inf, -inf] : f16[5]\n"
    "%10 = astype %9 : i8[5]\n"
    "return y = %4, %5, %6, %8, %10\n";

TEST(ProgramTextTest, WhatIsPrintedIsRead) {
  const NamedGraph graph = parse(kLayer, "layer").value();
  EXPECT_EQ(graph.name, "layer");
  EXPECT_EQ(graph.inputs, (std::vector<std::string>{"x", "w"}));
  EXPECT_EQ(graph.outputs, (std::vector<std::string>{"y", "", "", "", ""}));
  EXPECT_EQ(print(graph), kLayer);
}

TEST(ProgramTextTest, OneLayoutAndOneOrder) {
  EXPECT_EQ(canonical("  # a comment\n"
                      "hoist graph 1\r\n"
                      "\n"
                      "%a = input:f32 [ 2 ]  # another one\n"
                      "%b=input : f32[2]\n"
                      "%unused = exp %a : f32[2]\n"
                      "%sum = add %b , %a : f32[2]\n"
                      "%again = add %a, %b : f32[2]\n"
                      "return %again, %sum"),
            "hoist graph 1\n"
            "%a = input : f32[2]\n"
            "%b = input : f32[2]\n"
            "%2 = add %a, %b : f32[2]\n"
            "return %2, %2\n");
}

// Arithmetic of narrow types is that of wider ones between casts.
TEST(ProgramTextTest, NarrowTypes) {
  const std::string text =
      canonical("hoist graph 1\n%0 = input : i8[2]\n%1 = add %0, %0 : i8[2]\nreturn %1\n");
  EXPECT_NE(text.find(": i8[2]\nreturn"), std::string::npos) << text;
  EXPECT_EQ(canonical(text), text);
}

TEST(ProgramTextTest, ConstantsKeepTheirBits) {
  const auto nan = std::bit_cast<float>(0xffc12345u);
  const std::vector<std::pair<DType, Values>> constants = {
      {DType::f32, Values{1e-45f, 0.1f, -0.0f, nan, 3.4028235e38f}},
      {DType::f64, Values(Values::F64{5e-324, 0.1, -0.0, 1e308})},
      {DType::i64, Values(Values::I64{INT64_MIN, -1, INT64_MAX})},
      {DType::u64, Values(Values::I64{-1, 0})},
      {DType::i8, Values(Values::I64{-128, 127})},
      {DType::u32, Values(Values::I64{0, 4294967295})},
      {DType::boolean, Values{1.0f, 0.0f, 1.0f}},
      {DType::bf16, Values{1.0f, -0.0f, 3.0f}},
      {DType::f32, Values(size_t{0})},
      {DType::f64, Values(Values::F64(40, 0.3))},
      {DType::i16, Values(Values::I64(40, -2))},
      {DType::f16, Values(Values::F32(40, 0.25f))},
      {DType::boolean, Values(Values::F32(40, 1.0f))},
  };
  for (const auto& [dtype, values] : constants) {
    NamedGraph graph;
    const Id id = graph.graph
                      .constant(dtype, {static_cast<int64_t>(values.size())},
                                std::make_shared<const Values>(values))
                      .value();
    graph.graph.set_outputs({id});
    const std::string text = print(graph);
    SCOPED_TRACE(text);
    expect_same(graph.graph, parse(text, "t").value().graph);
  }
}

// What a type of 16 bits lacks is rounded away, and signalling NaNs are quiet ones: none is
// infinity.
TEST(ProgramTextTest, NansOfNarrowTypes) {
  for (const std::string type : {"f16", "bf16"}) {
    for (const char* const nan : {"nan.7f800001", "nan.ff800001", "nan.7fc00001", "nan.7fa00000"}) {
      for (const size_t count : {size_t{2}, size_t{20}}) {
        std::string list = nan;
        for (size_t i = 1; i < count; ++i) list += std::string(", ") + nan;
        const NamedGraph first = parse("hoist graph 1\n%0 = constant [" + list + "] : " + type +
                                           "[" + std::to_string(count) + "]\nreturn %0\n",
                                       "t")
                                     .value();
        const std::string text = print(first);
        SCOPED_TRACE(text);
        expect_same(first.graph, parse(text, "t").value().graph);
        const auto program = program::Program::compile(first.graph).value();
        std::vector<uint16_t> found(count);
        void* const to = found.data();
        ASSERT_TRUE(program->run(std::span<const void* const>(), {&to, 1}));
        for (const uint16_t bits : found) {
          EXPECT_GT(bits & 0x7fff, type == "f16" ? 0x7c00 : 0x7f80) << std::hex << bits;
        }
      }
    }
  }
}

TEST(ProgramTextTest, NamesThatCannotBeWrittenAreLeftOut) {
  NamedGraph graph = parse(kLayer, "layer").value();
  graph.name = "a b";
  graph.inputs = {"x", "x"};
  graph.outputs = {"1st", "", "é", "a.b_1"};
  const NamedGraph read = parse(print(graph), "t").value();
  EXPECT_EQ(read.name, "");
  EXPECT_EQ(read.inputs, (std::vector<std::string>{"x", ""}));
  EXPECT_EQ(read.outputs, (std::vector<std::string>{"", "", "", "a.b_1", ""}));
}

// What takes more than a few steps for each output would not end.
TEST(ProgramTextTest, ManyOutputs) {
  constexpr size_t kOutputs = 50'000;
  std::string text = "hoist graph 1\n%x = input : f32[2]\n";
  std::string last = "return ";
  for (size_t i = 0; i < kOutputs; ++i) {
    const std::string number = std::to_string(i);
    text += "%n" + number + " = " + (i % 2 == 0 ? "exp" : "negative") + " %" +
            (i == 0 ? "x" : "n" + std::to_string(i - 1)) + " : f32[2]\n";
    last += (i == 0 ? "y" : ", y") + number + " = %n" + number;
  }
  const Result<NamedGraph> read = parse(text + last + "\n", "t");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->outputs.size(), kOutputs);
  const auto program = program::Program::compile(read->graph).value();
  EXPECT_EQ(program->outputs(), kOutputs);
  const Result<NamedGraph> twice = parse(text + last + ", y0 = %n1\n", "t");
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("output y0 is there already"), std::string::npos);
}

TEST(ProgramTextTest, RandomGraphsSurvive) {
  RandomValues seeds(test_seed());
  for (int i = 0; i < 1000; ++i) {
    const uint64_t seed = seeds();
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    NamedGraph graph{RandomGraph(random).make(1 + random.below(20)), "", {}, {}};
    if (random.below(3) == 0) graph.graph = program::canonicalise(graph.graph, {}).graph;
    const std::string text = print(graph);
    const Result<NamedGraph> read = parse(text, "t");
    ASSERT_TRUE(read) << read.error().message << text;
    ASSERT_NO_FATAL_FAILURE(expect_same(graph.graph, read->graph)) << text;
    ASSERT_EQ(print(*read), text);
  }
}

// A slice of a slice becomes one, written as if it had been asked for: also of nothing, and of one.
TEST(ProgramTextTest, EmptySlicesOfSlicesSurvive) {
  const NamedGraph read = parse(
                              "hoist graph 1\n"
                              "%0 = input : f32[9,9]\n"
                              "%1 = slice %0 from [8,6] step [-2,1] : f32[4,3]\n"
                              "%2 = slice %1 from [0,2] step [1,1] : f32[0,1]\n"
                              "return %2\n",
                              "t")
                              .value();
  NamedGraph graph{program::canonicalise(read.graph, {}).graph, "", {}, {}};
  const std::string text = print(graph);
  EXPECT_NE(text.find("slice %0 from [0,8] step [1,1] : f32[0,1]"), std::string::npos) << text;
  expect_same(graph.graph, parse(text, "t").value().graph);
}

TEST(ProgramTextTest, WhatIsWrongIsSaidWithItsPlace) {
  const auto refused = [](const std::string& lines, const std::string& part) {
    const Result<NamedGraph> read =
        parse("hoist graph 1\n%x = input : f32[2,3]\n" + lines + "\n", "t");
    ASSERT_FALSE(read) << lines;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(read.error().message.find(part), std::string::npos) << read.error().message;
  };
  refused("", "t:4:1: error: the end of the line where return belongs");
  refused("return", "t:3:7: error: the end of the line where an output belongs");
  refused("return %x\nreturn %x", "t:4:1: error: return where the end belongs");
  refused("return %y", "t:3:9: error: no array %y before this line");
  refused("return a = %x, a = %x", "t:3:16: error: output a is there already");
  refused("%x = exp %x : f32[2,3]", "t:3:2: error: %x is there already");
  refused("%1 = epx %x : f32[2,3]", "t:3:6: error: no operation epx");
  refused("%1 = epx %x : f32[2,3]", "mend: is it exp?");
  refused("%1 = exp %2 : f32[2,3]", "t:3:11: error: no array %2");
  refused("%1 = exp %x, %x : f32[2,3]", "t:3:6: error: exp takes 1 array, not 2");
  refused("%1 = exp %x", "t:3:12: error: the end of the line where : belongs");
  refused("%1 = exp %x : f31", "t:3:15: error: no type f31");
  refused("%1 = exp %x : f32[3,2]", "t:3:15: error: this is f32[2,3]");
  refused("%1 = exp %x : f32[2,3] 4", "t:3:24: error: 4 where the end of the line belongs");
  refused("%1 = exp %x : f32[2,-3]", "a negative extent");
  refused("%1 = sum %x : f32[1,1]", "t:3:13: error: : where over belongs");
  refused("%1 = sum %x over [2] : f32[2,3]", "t:3:6: error: sum over axis 2");
  refused("%1 = matmul %x, %x : f32[2,3]", "t:3:6: error: matmul of (2, 3) and (2, 3)");
  refused("%1 = slice %x from [0,0] step [1] : f32[2,3]", "t:3:26: error: lists of two lengths");
  refused("%1 = constant [1, 2] : f32[3]", "t:3:20: error: ] where , belongs");
  refused("%1 = constant 1 2 : f32", "t:3:17: error: 2 where : belongs");
  refused("%1 = constant 128 : i8", "t:3:15: error: no value of i8");
  refused("%1 = constant 2 : bool", "t:3:15: error: no value of bool");
  refused("%1 = constant nan.7f800000 : f32", "no value of f32");
  refused("%1 = constant [] : f32[400000000]", "fewer values than 400000000");
  refused("%1 = constant hex 00 : f32[2]", "t:3:19: error: 2 hexadecimal digits for 8 bytes");
  refused("%1 = constant hex 0g : u8", "t:3:20: error: this is no hexadecimal digit");
  refused("%1 = constant hex 02 : bool", "neither 00 nor 01");
  refused("%1 = input : f32[1099511627776]", "2^40");
  refused("%1 = input : f8_e4m3", "float8_e4m3fn");
  refused("%1 = input : f32[99999999999999999999]", "where a number belongs");
  refused("x = exp %x : f32", "a line that is neither a node nor return");
  refused("%\xc3\xa9 = exp %x : f32", "where a name belongs");
  for (const char* text : {"", "hoist", "graph 1\n", "hoist graph\n", "hoist graph 2\n",
                           "hoist graph 1 2nd\n", "\xff\xfe"}) {
    const Result<NamedGraph> read = parse(text, "t");
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().message.substr(0, 4), "t:1:") << read.error().message;
  }
}

}  // namespace
}  // namespace hoist::graph::text
