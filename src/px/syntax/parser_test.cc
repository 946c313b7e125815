#include "px/syntax/parser.h"

#include <gtest/gtest.h>

#include <string>

namespace hoist::px {
namespace {

// The tree of a text, or what is wrong with it.
std::string parsed(const std::string& text) {
  const Source source("k.px", text);
  Diagnostics diagnostics;
  const syntax::File file = parse(source, diagnostics);
  return diagnostics.has_errors() ? render(source, diagnostics) : print(file);
}

std::string first_error(const std::string& text) {
  const std::string said = parsed(text);
  return said.substr(0, said.find('\n'));
}

TEST(Parser, ATree) {
  EXPECT_EQ(
      parsed("CONST N int = 4\n"
             "FUNC f(x f32) → f32:\nRETURN -x * 2\nENDFUNC\n"
             "gpu_kernel k\ngpu_param a in u8[]\ngpu_shared t f32 N + 1\ngpu_thread_code:\n"
             "if a[0] > 1 and not b:\nload f(1) -> y\nelse if c:\nbreak\nelse:\nx = a[1 BY 4]\n"
             "endif\ngpu_end\ngpu_launch k blocks 1, 2 threads 3\n"),
      "constant N int = 4\n"
      "function f(x f32) → f32\n"
      "  RETURN (-x * 2)\n"
      "kernel k\n"
      "  parameter a in u8[]\n"
      "  shared t f32 (N + 1)\n"
      "  IF ((a[0] > 1) & ~b)\n"
      "    LOAD f(1) → y\n"
      "  ELSE\n"
      "    IF c\n"
      "      BREAK\n"
      "    ELSE\n"
      "      assign x, a[1 BY 4]\n"
      "GPU_LAUNCH k 1, 2, 3\n");
}

TEST(Parser, Precedence) {
  EXPECT_EQ(parsed("GPU_KERNEL k\nx = a | b ^ c & d == e < f << g + h * -i\nGPU_END\n"),
            "kernel k\n  assign x, (a | (b ^ (c & (d == (e < (f << (g + (h * -i))))))))\n");
  EXPECT_EQ(parsed("GPU_KERNEL k\nx = a - b - c ROTL d SHR e\nGPU_END\n"),
            "kernel k\n  assign x, ((((a - b) - c) rotl d) >> e)\n");
}

TEST(Parser, TwoOperandsBesideOneAnother) {
  EXPECT_EQ(parsed("GPU_KERNEL k\nADD f(1) (2) → x\nADD a -1 → y\nSUB a (-b) → z\nGPU_END\n"),
            "kernel k\n  ADD f(1), 2 → x\n  ADD a, -1 → y\n  SUB a, -b → z\n");
}

TEST(Parser, WhatIsNestedTooDeeplyIsRefused) {
  const std::string deep = std::string(5000, '(') + "1" + std::string(5000, ')');
  EXPECT_EQ(first_error("GPU_KERNEL k\nx = " + deep + "\nGPU_END\n"),
            "k.px:2:261: error: the expression is nested more than 256 deep");
  std::string long_sum = "x = 1";
  for (int i = 0; i < 5000; ++i) long_sum += " + 1";
  EXPECT_NE(first_error("GPU_KERNEL k\n" + long_sum + "\nGPU_END\n").find("nested more than"),
            std::string::npos);
  std::string blocks;
  for (int i = 0; i < 500; ++i) blocks += "IF a:\n";
  EXPECT_NE(first_error("GPU_KERNEL k\n" + blocks + "GPU_END\n").find("k.px:"), std::string::npos);
}

TEST(Parser, OneErrorALine) {
  EXPECT_EQ(first_error("GPU_KERNEL k\nIF a && b || c:\nENDIF\nGPU_END\n"),
            "k.px:2:6: error: && means nothing here");
}

}  // namespace
}  // namespace hoist::px
