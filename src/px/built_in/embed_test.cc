#include "px/built_in/embed.h"

#include <gtest/gtest.h>

#include <string>

#include "px/lower/lower.h"

namespace hoist::px {
namespace {

Result<Embedded> embedded(const std::string& text) {
  const Source source("k.px", text);
  Diagnostics diagnostics;
  const std::optional<Lowered> lowered = read(source, diagnostics);
  if (!lowered) return fail(ErrorCode::invalid_argument, render(source, diagnostics));
  return embed(*lowered, "ops/k/k.px.h");
}

constexpr const char* kScale = R"(GPU_KERNEL scale
    GPU_PARAM x in f32[]
    GPU_PARAM out out f32[]
    GPU_PARAM counts inout u64[]
    GPU_PARAM by f32
    GPU_PARAM on bool
    GPU_THREAD_CODE:
        THREAD_ID → i
        IF i64(i) < len(x) AND on:
            STORE x[i] * by → out[i]
            ATOMIC_ADD counts[0] 1
        ENDIF
GPU_END
)";

TEST(Embed, DeclaresALaunchFunctionForEachKernel) {
  const Result<Embedded> made = embedded(kScale);
  ASSERT_TRUE(made) << made.error().message;
  const std::string declared =
      "Status scale(const device::StreamView& stream, const ir::Grid& grid, "
      "std::span<const float> x, std::span<float> out, std::span<uint64_t> counts, float by, "
      "bool on)";
  EXPECT_NE(made->header.find(declared + ";"), std::string::npos) << made->header;
  EXPECT_NE(made->cpp.find(declared + " {"), std::string::npos);
  EXPECT_NE(made->cpp.find("#include \"ops/k/k.px.h\""), std::string::npos);
  // The first three arguments are arrays.
  EXPECT_NE(made->cpp.find("\"hoist_cuda_px_scale\", \"scale\", run_scale, 0x7"),
            std::string::npos);
  EXPECT_NE(made->cuda.find("int hoist_cuda_px_scale(int device, void* stream"), std::string::npos);
}

TEST(Embed, MakesRoomForTheLargestBlockThatTheFileLaunches) {
  const auto most_threads = [](const std::string& launch) {
    const Result<Embedded> made = embedded(kScale + launch);
    EXPECT_TRUE(made) << made.error().message;
    const size_t at = made->cuda.find("#define PX_MOST_THREADS ");
    return std::stoi(made->cuda.substr(at + 24));
  };
  EXPECT_EQ(most_threads(""), 256);
  EXPECT_EQ(most_threads("GPU_LAUNCH scale BLOCKS 1 THREADS 64\n"), 64);
  EXPECT_EQ(most_threads("GPU_LAUNCH scale BLOCKS 1 THREADS 32, 8\n"
                         "GPU_LAUNCH scale BLOCKS 1 THREADS 16\n"),
            256);
}

TEST(Embed, RefusesTypesThatCppHasNot) {
  const Result<Embedded> made = embedded(
      "GPU_KERNEL k\n    GPU_PARAM x inout f16[]\n    GPU_THREAD_CODE:\n        x[0] = 1\n"
      "GPU_END\n");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::unsupported);
  EXPECT_EQ(made.error().message, "x of k is f16: C++ has no such type");
}

}  // namespace
}  // namespace hoist::px
