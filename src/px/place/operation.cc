#include "px/place/operation.h"

#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "base/file.h"
#include "device/buffer.h"
#include "placement/program_operation.h"
#include "placement/room.h"
#include "px/compile_text.h"
#include "px/default_grid.h"
#include "px/place/host_arrays.h"

namespace hoist::px {

const char* const kStreamText = R"(
GPU_KERNEL stream
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

// Four numbers that do not wait for each other, as most kernels have some.
const char* const kComputeText = R"(
GPU_KERNEL compute
    GPU_PARAM x inout f32[]
    GPU_PARAM n i32
    GPU_THREAD_CODE:
        THREAD_ID -> tid
        IF tid < n:
            LET a f32 = x[tid]
            LET b f32 = a + 1.0
            LET c f32 = a + 2.0
            LET d f32 = a + 3.0
            FOR i FROM 0 TO 229:
                a = a * 0.999 + 0.5
                b = b * 0.998 + 0.5
                c = c * 0.997 + 0.5
                d = d * 0.996 + 0.5
            ENDFOR
            STORE a + b + c + d -> x[tid]
        ENDIF
GPU_END
GPU_LAUNCH compute BLOCKS (n + 255) / 256 THREADS 256
)";

namespace {

enum : size_t { kOnCpu, kOnGpu };
constexpr unsigned kMemoryShare = 8;

// A kernel on one device.
struct There {
  Program program;
  device::Stream stream;

  static Result<There> make(const char* text, Target target) {
    const Result<Program> program = compile_text(text, {.target = target}, "hoist tune");
    if (!program) return program.error();
    // The interpreter is no measure of what a CPU does.
    if (program->target() != target) return fail(ErrorCode::unavailable, program->note());
    Result<device::Stream> stream = device::Stream::create(program->device());
    if (!stream) return stream.error();
    return There{*program, *std::move(stream)};
  }

  const ir::Kernel& kernel() const { return *program.module().kernels().front(); }

  // On arrays of host memory, or of the device's.
  Status run(std::span<const ir::Argument> arguments, bool on_host_arrays) {
    const Result<ir::Grid> grid = default_grid(program.module(), kernel(), arguments);
    if (!grid) return grid.error();
    std::stop_source stop;
    if (on_host_arrays) {
      return run_on_host_arrays(program, stream, kernel(), *grid, arguments, stop);
    }
    if (Status done = program.launch(stream, kernel(), *grid, arguments); !done) return done;
    return stream.synchronize();
  }
};

struct Both {
  There cpu;
  There gpu;
  std::vector<float> x{};
  std::vector<float> y{};
  device::Buffer x_on_gpu{};

  There& of(size_t implementation) { return implementation == kOnCpu ? cpu : gpu; }
};

Result<std::shared_ptr<Both>> both_of(const char* text) {
  Result<There> gpu = There::make(text, Target::cuda);
  if (!gpu) return gpu.error();
  Result<There> cpu = There::make(text, Target::cpu);
  if (!cpu) return cpu.error();
  return std::make_shared<Both>(Both{*std::move(cpu), *std::move(gpu)});
}

Result<placement::Run> prepare_stream(uint64_t bytes) {
  const Result<std::shared_ptr<Both>> made = both_of(kStreamText);
  if (!made) return made.error();
  const std::shared_ptr<Both>& both = *made;
  both->x.assign(bytes / 2 / sizeof(float), 1);
  both->y = both->x;
  return [both](size_t implementation) -> Status {
    const ir::Argument arguments[] = {ir::Argument::array(both->x.data(), both->x.size()),
                                      ir::Argument::array(both->y.data(), both->y.size()),
                                      ir::Argument::scalar(std::bit_cast<uint32_t>(0.5F)),
                                      ir::Argument::scalar(both->x.size())};
    return both->of(implementation).run(arguments, true);
  };
}

Result<placement::Run> prepare_compute(uint64_t bytes) {
  const Result<std::shared_ptr<Both>> made = both_of(kComputeText);
  if (!made) return made.error();
  const std::shared_ptr<Both>& both = *made;
  both->x.assign(bytes / sizeof(float), 1);
  Result<device::Buffer> there =
      device::Buffer::copy_of(both->gpu.program.device(), std::as_bytes(std::span(both->x)));
  if (!there) return there.error();
  both->x_on_gpu = *std::move(there);
  return [both](size_t implementation) -> Status {
    void* const x = implementation == kOnCpu ? both->x.data() : both->x_on_gpu.data();
    const ir::Argument arguments[] = {ir::Argument::array(x, both->x.size()),
                                      ir::Argument::scalar(both->x.size())};
    return both->of(implementation).run(arguments, false);
  };
}

Result<placement::Run> prepare_start(const std::string& program, uint64_t bytes,
                                     const std::string& directory) {
  if (const auto gpu = device::cuda_device(); !gpu) return gpu.error();
  const std::string file = directory + "/start.px";
  if (Status done = write_file_atomically(file, kComputeText); !done) return done.error();
  const std::string elements = std::to_string(bytes / sizeof(float));
  return [=](size_t implementation) {
    return placement::run_program(
        {.file = program,
         .words = {program, "run", file, "--no-check-bounds", "--len", "x=" + elements, "--set",
                   "n=0", "--target", implementation == kOnCpu ? "cpu" : "cuda"},
         .environment = {}});
  };
}

}  // namespace

placement::Operation operation(const std::string& program) {
  placement::Operation operation;
  operation.name = "px";
  operation.variants = {{.name = kStream}, {.name = kCompute}, {.name = kStart}};
  operation.implementations = {{.name = "cpu-all", .threads = 0}, {.name = "cuda"}};
  operation.prepare = [program](size_t variant, const placement::Shape& shape,
                                const std::string& directory) -> Result<placement::Run> {
    if (Status room = placement::check_memory(shape.bytes, kMemoryShare); !room) {
      return room.error();
    }
    if (variant == 0) return prepare_stream(shape.bytes);
    if (variant == 1) return prepare_compute(shape.bytes);
    return prepare_start(program, shape.bytes, directory);
  };
  return operation;
}

}  // namespace hoist::px
