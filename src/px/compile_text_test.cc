#include "px/compile_text.h"

#include <gtest/gtest.h>

#include "device/stream.h"
#include "px/default_grid.h"

namespace hoist::px {
namespace {

constexpr const char* kText = R"(GPU_KERNEL add_to
    GPU_PARAM y inout i32[]
    GPU_PARAM a i32
    GPU_THREAD_CODE:
        THREAD_ID -> tid
        IF tid < i32(len(y)):
            STORE y[tid] + a -> y[tid]
        ENDIF
GPU_END
)";

TEST(CompileText, LaunchesWithTheDefaultGrid) {
  std::vector<Message> messages = {{}};
  const Result<Program> program =
      compile_text(kText, {.target = Target::interpreter}, "k.px", &messages);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_TRUE(messages.empty());
  const ir::Kernel& kernel = *program->find_kernel("add_to");
  std::vector<int32_t> y(1000, 1);
  const ir::Argument arguments[] = {ir::Argument::array(y.data(), y.size()),
                                    ir::Argument::scalar(41)};
  const Result<ir::Grid> grid = default_grid(program->module(), kernel, arguments);
  ASSERT_TRUE(grid);
  EXPECT_EQ(grid->blocks[0], 4U);
  EXPECT_EQ(grid->threads[0], 256U);
  device::Stream stream = device::Stream::create(program->device()).value();
  ASSERT_TRUE(program->launch(stream, kernel, *grid, arguments));
  EXPECT_FALSE(program->take_fault(stream).value());
  EXPECT_EQ(y, std::vector<int32_t>(1000, 42));
}

TEST(CompileText, ErrorsHaveTheirPlace) {
  std::string text = kText;
  text.replace(text.find("+ a"), 3, "+ b");
  std::vector<Message> messages;
  const Result<Program> program = compile_text(text, {}, "k.px", &messages);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, ErrorCode::invalid_argument);
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_TRUE(messages[0].is_error);
  EXPECT_EQ(messages[0].line, 7U);
  EXPECT_EQ(messages[0].column, 28U);
  EXPECT_TRUE(program.error().message.starts_with("k.px:7:28: error: " + messages[0].what));
  EXPECT_TRUE(program.error().message.ends_with("mend: " + messages[0].mend));
}

TEST(CompileText, LongTextsAreRefused) {
  const Result<Program> program = compile_text(std::string((16 << 20) + 1, '\n'));
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, ErrorCode::exhausted);
}

}  // namespace
}  // namespace hoist::px
