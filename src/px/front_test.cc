#include <gtest/gtest.h>

#include <string>

#include "ir/print.h"
#include "px/format.h"
#include "px/lower.h"
#include "px/parser.h"

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

TEST(Front, TheAncestorsFirstProgram) {
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

TEST(Front, WordsInAnyCaseAndBothArrows) {
  EXPECT_EQ(lowered("gpu_kernel k\ngpu_param a u8*\ngpu_thread_code:\nlocal_id -> i\n"
                    "xor a[i] 0xff -> x\nstore x -> a[i]\ngpu_end\n"),
            "kernel k(inout u8 a[]) {\n"
            "  let i: i32 = local_id.x\n"
            "  let x: u8 = (a[i] ^ 255:u8)\n"
            "  a[i] = x\n"
            "}\n");
}

TEST(Front, PrecedenceIsThatOfC) {
  const std::string text = lowered(kernel("GPU_PARAM a u32[]\n",
                                          "a[0] = a[1] | a[2] ^ a[3] & a[4] << 1 + a[5] * 2\n"
                                          "a[1] = select(a[1] + 1 < a[2] == true, 1, 0)\n"));
  EXPECT_NE(text.find("(a[1] | (a[2] ^ (a[3] & (a[4] << (1:u32 + (a[5] * 2:u32))))))"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("(((a[1] + 1:u32) < a[2]) == true)"), std::string::npos) << text;
}

TEST(Front, SeveralErrorsInOneRun) {
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

TEST(Front, FormatIsItsOwnAndKeepsTheMeaning) {
  const std::string text =
      "# top\n\n\n\ngpu_kernel k # c\n gpu_param a in float*\ngpu_thread_code:\n"
      "thread_id->t\nif t<len( a ) and not (t==3):# why\nadd t -1->u\nlet v f32=a[ u ]+-1.5*\n"
      "(2-a[t])\nstore v->a[t]\nelse if t>4:\n#in\nelse:\nendif\ngpu_end\n\n"
      "const T u32[3]=1,# one\n2,\n3\n";
  const std::string once = format(Source("k.px", text));
  EXPECT_EQ(once,
            "# top\n"
            "\n"
            "GPU_KERNEL k  # c\n"
            "    GPU_PARAM a in float*\n"
            "    GPU_THREAD_CODE:\n"
            "        THREAD_ID → t\n"
            "        IF t < len(a) AND NOT (t == 3):  # why\n"
            "            ADD t -1 → u\n"
            "            LET v f32 = a[u] + -1.5 *\n"
            "                (2 - a[t])\n"
            "            STORE v → a[t]\n"
            "        ELSE IF t > 4:\n"
            "            #in\n"
            "        ELSE:\n"
            "        ENDIF\n"
            "GPU_END\n"
            "\n"
            "CONST T u32[3] = 1,  # one\n"
            "    2,\n"
            "    3\n");
  EXPECT_EQ(format(Source("k.px", once)), once);
}

}  // namespace
}  // namespace hoist::px
