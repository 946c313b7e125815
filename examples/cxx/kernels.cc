#include <bit>
#include <hoist/px.hpp>
#include <iostream>
#include <vector>

#include "tour.h"

using namespace hoist::px;
using hoist::ir::Argument;

namespace {

constexpr const char* kText = R"(
GPU_KERNEL saxpy
    GPU_PARAM x in f32[]
    GPU_PARAM y inout f32[]
    GPU_PARAM a f32
    GPU_PARAM n i32
    GPU_THREAD_CODE:
        THREAD_ID -> tid
        IF tid < n:
            STORE a * x[tid] + y[tid] -> y[tid]
        ENDIF
GPU_END
)";

}  // namespace

hoist::Status tour_kernels() {
  const auto program = compile_text(kText);  // for the CPU: options name a GPU
  if (!program) return program.error();
  const hoist::ir::Kernel& saxpy = *program->find_kernel("saxpy");
  std::cout << "saxpy takes";
  for (const auto& argument : saxpy.arguments) std::cout << ' ' << argument.name();
  std::cout << '\n';

  const std::vector<float> x = {1, 2, 3};
  std::vector<float> y = {10, 20, 30};
  const Argument arguments[] = {
      Argument::array(const_cast<float*>(x.data()), x.size()), Argument::array(y.data(), y.size()),
      Argument::scalar(std::bit_cast<uint32_t>(0.5F)), Argument::scalar(x.size())};
  const auto grid = default_grid(program->module(), saxpy, arguments);
  if (!grid) return grid.error();
  auto stream = hoist::device::Stream::create(program->device());
  if (!stream) return stream.error();
  if (auto done = program->launch(*stream, saxpy, *grid, arguments); !done) return done;
  if (auto done = stream->synchronize(); !done) return done;
  std::cout << "0.5 x + y: " << y[0] << ' ' << y[1] << ' ' << y[2] << '\n';

  std::vector<Message> messages;
  const auto wrong =
      compile_text("GPU_KERNEL k\nGPU_THREAD_CODE:\nENDIF\nGPU_END\n", {}, "k.px", &messages);
  if (wrong || messages.empty()) {
    return hoist::fail(hoist::ErrorCode::internal, "a wrong kernel was compiled");
  }
  std::cout << "an error in line " << messages[0].line << '\n';
  return {};
}
