// What a file asks of the host: GPU_LAUNCH and the like, in their order.
//
// Names of arrays and scalars are those of the kernels' parameters: a launch gives a kernel the
// array or scalar of each parameter's name, unless WITH says otherwise. Arrays that GPU_ALLOC makes
// live on the device; all others are the caller's, and are copied where a kernel needs them.
#pragma once

#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/module.h"
#include "px/text/source.h"

namespace hoist::px {

// An array that the host knows.
struct HostArray {
  ir::Array array;            // its name and element type; expressions take its length
  bool is_allocated = false;  // by GPU_ALLOC
  bool is_read = false;       // by a kernel or copy before one wrote it
  bool is_written = false;
};

// A number that the host knows: a kernel's scalar parameter, or a loop's counter.
struct HostScalar {
  ir::Parameter parameter;
  bool is_counter = false;
  bool is_used = false;  // else it needs no value
};

struct HostStep;

enum class HostTarget : uint8_t { automatic, cpu, gpu };

struct HostAllocate {
  const HostArray* array;
  const ir::Expression* count;
};
struct HostFree {
  const HostArray* array;
};
struct HostCopy {
  const HostArray* from;
  const HostArray* to;
  const ir::Expression* count;
};
struct HostLaunch {
  // What a parameter of the kernel is given: an array or a number.
  struct Argument {
    const HostArray* array = nullptr;
    const ir::Expression* scalar = nullptr;
  };
  const ir::Kernel* kernel = nullptr;
  std::array<const ir::Expression*, 3> blocks{};  // null: 1
  std::array<const ir::Expression*, 3> threads{};
  std::vector<Argument> arguments;  // in the order of the kernel's
};
struct HostSynchronize {};
struct HostLoop {
  const HostScalar* counter;
  const ir::Expression* from;
  const ir::Expression* to;
  const ir::Expression* step;  // may be null: 1
  std::vector<HostStep> body;
};

struct HostStep {
  Span span;
  std::variant<HostAllocate, HostFree, HostCopy, HostLaunch, HostSynchronize, HostLoop> action;
};

struct HostProgram {
  HostTarget target = HostTarget::automatic;  // GPU_TARGET
  int device = 0;                             // GPU_SELECT: which GPU
  std::deque<HostArray> arrays;
  std::deque<HostScalar> scalars;
  std::vector<HostStep> steps;

  const HostArray* find_array(std::string_view name) const;
  HostArray* find_array(std::string_view name);
  const HostScalar* find_scalar(std::string_view name) const;  // no counter
  HostScalar* find_scalar(std::string_view name);
  bool has_launch() const;
};

}  // namespace hoist::px
