#include "px/lower/lower.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/print.h"

namespace hoist::px {
namespace {

// The messages of a text, each as "LINE:COLUMN: WHAT".
std::string messages(const std::string& text) {
  const Source source("k.px", text);
  Diagnostics diagnostics;
  (void)read(source, diagnostics);
  std::string list;
  for (const Diagnostic& diagnostic : diagnostics.sorted()) {
    const Position at = source.position(diagnostic.span.begin);
    list +=
        std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + diagnostic.what + "\n";
  }
  return list;
}

// The IR of a text that has no errors.
std::string lowered(const std::string& text) {
  const Source source("k.px", text);
  Diagnostics diagnostics;
  const auto made = read(source, diagnostics);
  return made ? ir::text_of(made->module) : render(source, diagnostics);
}

std::string kernel(const std::string& parameters, const std::string& code) {
  return "GPU_KERNEL k\n" + parameters + "GPU_THREAD_CODE:\n" + code + "GPU_END\n";
}

constexpr char kVectorAdd[] =
    "GPU_KERNEL vector_add\n"
    "GPU_PARAM a float[]\n"
    "GPU_PARAM b float[]\n"
    "GPU_PARAM c float[]\n"
    "GPU_PARAM n int\n"
    "\n"
    "GPU_THREAD_CODE:\n"
    "    THREAD_ID → tid\n"
    "    COMPARE tid < n → in_bounds\n"
    "    IF in_bounds:\n"
    "        LOAD a[tid] → val_a\n"
    "        LOAD b[tid] → val_b\n"
    "        ADD val_a val_b → sum\n"
    "        STORE sum → c[tid]\n"
    "    ENDIF\n"
    "GPU_END\n"
    "\n"
    "GPU_LAUNCH vector_add BLOCKS 256 THREADS 256\n"
    "GPU_SYNC\n";

TEST(Lower, TheAncestorsFirstProgram) {
  EXPECT_EQ(lowered(kVectorAdd),
            "kernel vector_add(inout f32 a[], inout f32 b[], inout f32 c[], i32 n) {\n"
            "  let tid: i32 = thread_id.x\n"
            "  let in_bounds: bool = (tid < n)\n"
            "  if in_bounds {\n"
            "    let val_a: f32 = a[tid]\n"
            "    let val_b: f32 = b[tid]\n"
            "    let sum: f32 = (val_a + val_b)\n"
            "    c[tid] = sum\n"
            "  }\n"
            "}\n");
}

TEST(Lower, WordsInAnyCaseAndBothArrows) {
  EXPECT_EQ(lowered("gpu_kernel k\ngpu_param a u8*\ngpu_thread_code:\nlocal_id -> i\n"
                    "xor a[i] 0xff -> x\nstore x -> a[i]\ngpu_end\n"),
            "kernel k(inout u8 a[]) {\n"
            "  let i: i32 = local_id.x\n"
            "  let x: u8 = (a[i] ^ 255:u8)\n"
            "  a[i] = x\n"
            "}\n");
}

TEST(Lower, PrecedenceIsThatOfC) {
  const std::string text = lowered(kernel("GPU_PARAM a u32[]\n",
                                          "a[0] = a[1] | a[2] ^ a[3] & a[4] << 1 + a[5] * 2\n"
                                          "a[1] = select(a[1] + 1 < a[2] == true, 1, 0)\n"));
  EXPECT_NE(text.find("(a[1] | (a[2] ^ (a[3] & (a[4] << (1:u32 + (a[5] * 2:u32))))))"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("(((a[1] + 1:u32) < a[2]) == true)"), std::string::npos) << text;
}

TEST(Lower, SeveralErrorsInOneRun) {
  EXPECT_EQ(messages(kernel("GPU_PARAM a float[]\n",
                            "LOADD a[0] → x\n"
                            "ADD a[0] → y\n"
                            "IF y:\n"
                            "  SYNC_THREAD\n"
                            "ENDIF\n"
                            "STORE 1 → b[0]\n")),
            "4:1: no word LOADD\n"
            "5:10: → stands where a value belongs\n"
            "7:3: no word SYNC_THREAD\n");
}

TEST(Lower, ResultsDeclareOrSet) {
  EXPECT_EQ(lowered(kernel("GPU_PARAM a i32[]\n",
                           "LET sum i32 = 0\n"
                           "FOR i FROM 0 TO 4:\n"
                           "  MUL i i → square\n"
                           "  ADD sum square → sum\n"
                           "ENDFOR\n"
                           "STORE sum → a[0]\n")),
            "kernel k(inout i32 a[]) {\n"
            "  var sum: i32 = 0\n"
            "  for i: i32 from 0 to 4 step 1 {\n"
            "    let square: i32 = (i * i)\n"
            "    sum = (sum + square)\n"
            "  }\n"
            "  a[0] = sum\n"
            "}\n");
}

TEST(Lower, LiteralsTakeTheOtherSidesType) {
  const std::string text = lowered(kernel("GPU_PARAM a u64[]\nGPU_PARAM h f16[]\n",
                                          "a[0] = u64(1) << a[1] & ~0\n"
                                          "h[0] = h[1] * 2 + 0.5\n"
                                          "a[1] = select(h[0] > 1, 7, 8)\n"));
  EXPECT_EQ(text,
            "kernel k(inout u64 a[], inout f16 h[]) {\n"
            "  a[0] = ((1:u64 << a[1]) & 18446744073709551615:u64)\n"
            "  h[0] = ((h[1] * 2.0:f16) + 0.5:f16)\n"
            "  a[1] = ((h[0] > 1.0:f16) ? 7:u64 : 8:u64)\n"
            "}\n");
}

TEST(Lower, TheHostsPart) {
  const Source source(
      "k.px",
      kernel("GPU_PARAM a i32[]\nGPU_PARAM b i32[]\nGPU_PARAM n int\n", "b[0] = a[0] + n\n") +
          "GPU_TARGET gpu\nGPU_SELECT 1\nGPU_ALLOC d int n * 2\n"
          "FOR i FROM 0 TO 3:\nGPU_LAUNCH k n 32 WITH a = d, n = i\nENDFOR\n"
          "GPU_LAUNCH k BLOCKS 1, 2 THREADS n\n");
  Diagnostics diagnostics;
  const auto made = read(source, diagnostics);
  ASSERT_TRUE(made) << render(source, diagnostics);
  const HostProgram& host = made->host;
  EXPECT_EQ(host.target, HostTarget::gpu);
  EXPECT_EQ(host.device, 1);
  EXPECT_TRUE(host.has_launch());
  ASSERT_EQ(host.steps.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<HostLoop>(host.steps[1].action));
  EXPECT_TRUE(host.find_array("d")->is_allocated);
  EXPECT_FALSE(host.find_array("b")->is_read);
  EXPECT_TRUE(host.find_array("b")->is_written);
  EXPECT_TRUE(host.find_array("a")->is_read);
  EXPECT_EQ(host.find_scalar("i"), nullptr);
  EXPECT_NE(host.find_scalar("n"), nullptr);
}

}  // namespace
}  // namespace hoist::px
