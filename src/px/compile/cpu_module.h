// Compiled kernels in this process: emitted C++ (px/emit/cpp.h) as a shared object.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/launch.h"
#include "px/compile/cpp_compiler.h"
#include "px/emit/cpp.h"
#include "px/program.h"

namespace hoist::px {

// As the emitted code has it (px::fault, px::launch).
struct CpuFault {
  uint32_t taken = 0;
  uint32_t site = 0;
  int64_t index = 0;
  uint64_t length = 0;
  uint32_t block[3] = {};
  uint32_t thread[3] = {};
};
struct CpuLaunch {
  uint32_t blocks[3];
  uint32_t threads[3];
  void* const* arrays;
  const uint64_t* lengths;
  const uint64_t* scalars;
  CpuFault* fault;
};
// Runs blocks [begin, end).
using CpuKernel = void(const CpuLaunch* launch, unsigned long long begin, unsigned long long end);

class CpuModule {
 public:
  // From the cache, or by the system's compiler. `unavailable` without one; `cancelled` at the
  // limits.
  static Result<std::shared_ptr<const CpuModule>> compile(const Code& code,
                                                          const CompileLimits& limits = {});
  ~CpuModule();
  CpuModule(const CpuModule&) = delete;
  CpuModule& operator=(const CpuModule&) = delete;

  // null: it has none of that name.
  CpuKernel* kernel(const std::string& entry) const;

 private:
  explicit CpuModule(void* library) : library_(library) {}
  static Result<std::shared_ptr<const CpuModule>> load(std::span<const std::byte> object);

  void* const library_;
};

// Runs all blocks of the grid on the process's threads; returns when they are done, or no further
// one begins.
void run_on_cpu(CpuKernel* kernel, const ir::Grid& grid, std::span<const ir::Argument> arguments,
                CpuFault* fault, const LaunchOptions& options = {});

}  // namespace hoist::px
