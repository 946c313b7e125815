#include "px/compile/cpu_module.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <optional>

#include "base/blake3.h"
#include "base/file.h"
#include "base/fork.h"
#include "base/per_process.h"
#include "base/stopwatch.h"
#include "base/threads.h"
#include "device/module_cache.h"

namespace hoist::px {
namespace {

// Less is not worth another thread's while.
constexpr uint64_t kThreadsOfAPart = 16384;
// For each thread of the pool, so that uneven ones balance.
constexpr uint64_t kPartsOfAThread = 4;

// What -march=native depends on.
struct ThisCpu {
  ThisCpu() {
    std::ifstream info("/proc/cpuinfo");
    std::string line;
    while (std::getline(info, line) && !line.empty()) {
      if (line.starts_with("model") || line.starts_with("flags") || line.starts_with("vendor") ||
          line.starts_with("Features") || line.starts_with("CPU ")) {
        text += line + '\n';
      }
    }
  }
  std::string text;
};
// Another thread may make it while a process forks.
constinit PerProcess<ThisCpu> this_cpu;

device::ModuleCache::Key key_of(const Code& code, const CppCompiler& compiler) {
  std::vector<std::string> options = kernel_options();
  options.push_back(compiler.path);
  options.push_back(compiler.version);
  return device::ModuleCache::key({code.text, this_cpu.get().text, options});
}

// The file by a name that no other load has had: dlopen() takes a library that was loaded by a name
// for the one that is asked for by it, and numbers of descriptors come again.
std::string own_path(const UniqueFd& file) {
  static std::atomic<uint64_t> loads = 0;
  std::string path = "/proc/self/fd";
  for (uint64_t number = ++loads; number > 0; number >>= 1) path += (number & 1) ? "/." : "//";
  return fmt::format("{}/{}", path, file.get());
}

// Runs blocks [begin, end), where they may be stopped in pieces of some milliseconds.
void run_blocks(CpuKernel* kernel, const CpuLaunch& launch, uint64_t begin, uint64_t end,
                const std::stop_token& stop) {
  if (!stop.stop_possible()) return kernel(&launch, begin, end);
  constexpr double kShort = 1;
  constexpr double kLong = 10;
  uint64_t piece = 1;
  while (begin < end && !stop.stop_requested()) {
    const uint64_t behind = begin + std::min(piece, end - begin);
    const Stopwatch watch;
    kernel(&launch, begin, behind);
    begin = behind;
    const double milliseconds = watch.milliseconds();
    if (milliseconds < kShort) piece = std::min(8 * piece, end);
    if (milliseconds > kLong) piece = std::max<uint64_t>(1, piece / 2);
  }
}

}  // namespace

// The loader's lock would stay locked in a child of a fork() that falls into one of its calls.
CpuModule::~CpuModule() {
  const ForkBarrier barrier;
  ::dlclose(library_);
}

Result<std::shared_ptr<const CpuModule>> CpuModule::load(std::span<const std::byte> object) {
  // A file without a name: nobody else can change it, and nothing is left behind.
  const UniqueFd file(::memfd_create("hoist-px", MFD_CLOEXEC));
  if (!file.valid()) return fail(ErrorCode::io, "cannot make a file in memory", errno);
  if (Status written = write_full(file.get(), object.data(), object.size()); !written) {
    return written.error();
  }
  const std::string path = own_path(file);
  const ForkBarrier barrier;
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    return fail(ErrorCode::corrupt, fmt::format("cannot load compiled kernels: {}", ::dlerror()));
  }
  return std::shared_ptr<const CpuModule>(new CpuModule(library));
}

Result<std::shared_ptr<const CpuModule>> CpuModule::compile(const Code& code,
                                                            const CompileLimits& limits) {
  const Result<CppCompiler> compiler = find_cpp_compiler();
  if (!compiler) return compiler.error();
  const Result<device::ModuleCache> cache = device::ModuleCache::open();
  const device::ModuleCache::Key key = key_of(code, *compiler);
  if (cache) {
    if (const Result<std::vector<std::byte>> kept = cache->find(key)) {
      if (auto loaded = load(*kept)) return loaded;
    }
  }
  const Result<std::vector<std::byte>> object =
      compile_shared(*compiler, code.text, kernel_options(), limits);
  if (!object) return object.error();
  if (cache) (void)cache->put(key, *object);
  return load(*object);
}

CpuKernel* CpuModule::kernel(const std::string& entry) const {
  const ForkBarrier barrier;
  return reinterpret_cast<CpuKernel*>(::dlsym(library_, entry.c_str()));
}

void run_on_cpu(CpuKernel* kernel, const ir::Grid& grid, std::span<const ir::Argument> arguments,
                CpuFault* fault, const LaunchOptions& options) {
  std::vector<void*> arrays;
  std::vector<uint64_t> lengths, scalars;
  for (const ir::Argument& argument : arguments) {
    arrays.push_back(argument.data);
    lengths.push_back(argument.length);
    scalars.push_back(argument.bits);
  }
  CpuLaunch launch = {{grid.blocks[0], grid.blocks[1], grid.blocks[2]},
                      {grid.threads[0], grid.threads[1], grid.threads[2]},
                      arrays.data(),
                      lengths.data(),
                      scalars.data(),
                      fault};
  const uint64_t blocks = grid.block_count();
  std::optional<ThreadPool> own;
  if (options.threads > 0 && options.threads < ThreadPool::process().size()) {
    own.emplace(options.threads);
  }
  ThreadPool& pool = own ? *own : ThreadPool::process();
  const auto most = static_cast<uint64_t>(pool.size()) * kPartsOfAThread;
  const uint64_t worth = blocks * grid.block_threads() / kThreadsOfAPart;
  const uint64_t parts =
      pool.size() == 1
          ? 1
          : std::clamp<uint64_t>(worth, 1, std::min(most, std::max(blocks, uint64_t{1})));
  if (parts == 1) return run_blocks(kernel, launch, 0, blocks, options.stop);
  pool.parallel_for(parts, [&](size_t part) {
    run_blocks(kernel, launch, blocks * part / parts, blocks * (part + 1) / parts, options.stop);
  });
}

}  // namespace hoist::px
