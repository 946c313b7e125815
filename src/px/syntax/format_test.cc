#include "px/syntax/format.h"

#include <gtest/gtest.h>

#include <string>

namespace hoist::px {
namespace {

std::string laid_out(const std::string& text) { return format(Source("k.px", text)); }

TEST(Format, IsItsOwnAndKeepsTheMeaning) {
  const std::string once = laid_out(
      "# top\n\n\n\ngpu_kernel k # c\n gpu_param a in float*\ngpu_thread_code:\n"
      "thread_id->t\nif t<len( a ) and not (t==3):# why\nadd t -1->u\nlet v f32=a[ u ]+-1.5*\n"
      "(2-a[t])\nstore v->a[t]\nelse if t>4:\n#in\nelse:\nendif\ngpu_end\n\n"
      "const T u32[3]=1,# one\n2,\n3\n");
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
  EXPECT_EQ(laid_out(once), once);
}

TEST(Format, WordsInsideOfStatements) {
  EXPECT_EQ(laid_out("for to from from to step step by:\n"), "FOR to FROM from TO step STEP by:\n");
  EXPECT_EQ(laid_out("gpu_launch k blocks blocks threads threads with a = with\n"),
            "GPU_LAUNCH k BLOCKS blocks THREADS threads WITH a = with\n");
  EXPECT_EQ(laid_out("gpu_launch k a threads\n"), "GPU_LAUNCH k a threads\n");
  EXPECT_EQ(laid_out("load a[by by 4] -> with\n"), "LOAD a[by BY 4] → with\n");
  EXPECT_EQ(laid_out("load=a\nadd[1]=b\n"), "load = a\nadd[1] = b\n");
}

TEST(Format, SignsAndCalls) {
  EXPECT_EQ(laid_out("x=a-1\nx=a - -1\nx=- -a\nx=-(b)\nx=f(1)+f (2)\nx=~a\nx=a*b\n"),
            "x = a - 1\nx = a - -1\nx = - -a\nx = -(b)\nx = f(1) + f (2)\nx = ~a\nx = a * b\n");
}

}  // namespace
}  // namespace hoist::px
