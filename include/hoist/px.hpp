// Kernels of px, Hoist's kernel language (docs/reference/px.md), on the CPU's cores or a GPU. Part
// of Hoist's C++ library (hoist/array.hpp says how to link it, and how errors come).
//
//   Result<Program> program = compile_text(text, {.target = Target::cpu}, "saxpy.px");
//   if (!program) return program.error();  // its message has each error's line, caret and mend
//   const ir::Kernel* saxpy = program->find_kernel("saxpy");
//   if (!saxpy) return fail(ErrorCode::not_found, "no saxpy");
//
//   const ir::Argument arguments[] = {
//       ir::Argument::array(x.data(), x.size()), ir::Argument::array(y.data(), y.size()),
//       ir::Argument::scalar(std::bit_cast<uint32_t>(2.0F)), ir::Argument::scalar(n)};
//   Result<ir::Grid> grid = default_grid(program->module(), *saxpy, arguments);
//   if (!grid) return grid.error();
//   Result<device::Stream> stream = device::Stream::create(program->device());
//   if (!stream) return stream.error();
//   Status launched = program->launch(*stream, *saxpy, *grid, arguments);
//   if (launched) launched = stream->synchronize();
//
// A launch is enqueued. Arrays lie in the memory of the program's device: any of the process's for
// the CPU, device::Buffer for a GPU. They must stay until the stream has come past the launch.
// Scalars are given as the bits of their type, which ir::find_scalar() and saxpy->arguments tell:
//
//   for (const ir::Kernel::Argument& argument : saxpy->arguments) {
//     if (argument.array) use(argument.name(), argument.array->element, argument.array->direction);
//     else use(argument.name(), argument.scalar->type);
//   }
//
// Names. In namespace hoist::px where none is said:
//
//   compile_text(), Message                   px/compile_text.h
//   Program, ProgramOptions, Target           px/program.h: launches, faults of checked builds
//   wait_or_stop()                            px/wait.h: waits for a launch, or stops it
//   default_grid(), grid_of_blocks(),         px/default_grid.h
//   longest_array()
//   choose_device(), run_on_host_arrays()     px/place/choose.h, px/place/host_arrays.h: arrays of
//                                             host memory where they are computed soonest
//   ir::Argument, ir::Grid, ir::Fault,        ir/launch.h
//   ir::describe()
//   ir::Module, ir::Kernel                    ir/module.h
//   ir::KernelBuilder, ir::FunctionBuilder    ir/builder.h: kernels that a program makes itself,
//                                             without a text; Program::build() compiles them
//   device::Stream, Device, Buffer            device/stream.h, device/device.h, device/buffer.h
//
// Errors are values. What is wrong in a text comes as one `invalid_argument`, whose message is what
// `hoist px check` prints, and as Messages with line, column and mend. An access beyond an array's
// end, which builds with check_bounds find, is an ir::Fault with its place, from take_fault().
//
// Thread safety: any number of threads may launch kernels of one program, on streams of their own.
//
// Compilers: the CPU's kernels are compiled by the system's C++ compiler (c++, g++ or clang++ in
// PATH), those of GPUs by NVRTC; what they make is kept on the disk. Without a C++ compiler,
// Target::automatic interprets, slowly, and Program::note() says why.
#pragma once

#include "device/buffer.h"
#include "device/device.h"
#include "device/stream.h"
#include "ir/builder.h"
#include "ir/launch.h"
#include "ir/module.h"
#include "px/compile_text.h"
#include "px/default_grid.h"
#include "px/place/choose.h"
#include "px/place/host_arrays.h"
#include "px/program.h"
#include "px/wait.h"
