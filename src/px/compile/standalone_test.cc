#include "px/emit/standalone.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "base/file.h"
#include "ir/testing.h"
#include "px/compile/cpp_compiler.h"
#include "px/random/kernels.h"

namespace hoist::px {
namespace {

using ir::Direction;
using ir::Id;
using ir::Scalar;
using ir::Term;
using ir::TestKernel;

ir::Module saxpy() {
  ir::Module module("saxpy.px");
  TestKernel k(module, "saxpy");
  const ir::Array* x = k.array("x", Scalar::f32, Direction::in);
  const ir::Array* y = k.array("y", Scalar::f32, Direction::inout);
  const Term a = k.scalar("a", Scalar::f32);
  const Term n = k.scalar("n", Scalar::i32);
  const Term tid = k.let("tid", k.id(Id::thread));
  k.when(tid < n);
  k.put(y, tid, a * k.load(x, tid) + k.load(y, tid));
  k.finish();
  return module;
}

// The files of a module in a folder that is gone with the object.
class Files {
 public:
  Files(const ir::Module& module, const std::string& name) {
    folder_ = testing::TempDir() + "hoist-px-test-XXXXXX";
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    const Standalone made = emit_standalone(module, name);
    for (const auto& [ending, text] : {std::pair(".h", &made.header), std::pair(".cc", &made.cpp),
                                       std::pair(".cu", &made.cuda)}) {
      EXPECT_TRUE(write_file_atomically(path(name + ending), *text));
    }
  }
  ~Files() { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  bool run(const std::string& command) const {
    return std::system(fmt::format("cd {} && {} >log 2>&1", folder_, command).c_str()) == 0;
  }
  std::string log() const { return read_file(path("log"), 1 << 20).value_or(""); }

 private:
  std::string folder_;
};

TEST(Standalone, ALibraryOfTheCppLaunchesKernels) {
  const Files files(saxpy(), "saxpy");
  ASSERT_TRUE(
      files.run("c++ -std=c++20 -O2 -fPIC -shared -Wall -Wextra -Werror -ffp-contract=off "
                "-o libsaxpy.so saxpy.cc"))
      << files.log();
  void* const library = ::dlopen(files.path("libsaxpy.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  using Launch = int(const float*, size_t, float*, size_t, float, int32_t);
  auto* const launch = reinterpret_cast<Launch*>(::dlsym(library, "saxpy_saxpy_cpu"));
  ASSERT_NE(launch, nullptr);
  std::vector<float> x(1000000), y(1000000, 1);
  std::iota(x.begin(), x.end(), 0.0F);
  EXPECT_EQ(launch(x.data(), x.size(), y.data(), y.size(), 2, 999999), 0);
  for (size_t i = 0; i < 999999; ++i) ASSERT_EQ(y[i], 2 * x[i] + 1);
  EXPECT_EQ(y.back(), 1);
  using LaunchGrid =
      int(const float*, size_t, float*, size_t, float, int32_t, const long long*, const long long*);
  auto* const by_grid = reinterpret_cast<LaunchGrid*>(::dlsym(library, "saxpy_saxpy_cpu_grid"));
  ASSERT_NE(by_grid, nullptr);
  const long long one[] = {1, 1, 1};
  const long long many[] = {2048, 1, 1};
  EXPECT_EQ(by_grid(x.data(), 1, y.data(), 1, 1, 1, one, many), 1);
  EXPECT_EQ(by_grid(x.data(), 1, y.data(), 1, 1, 1, one, one), 0);
  EXPECT_EQ(y[0], 1);
  ::dlclose(library);
}

TEST(Standalone, TheHeaderIsPlainC) {
  const Files files(random_module(7, {.kernels = 3}), "many-kernels");
  EXPECT_TRUE(
      files.run("cc -std=c11 -Wall -Wextra -Werror -pedantic -fsyntax-only -include "
                "./many-kernels.h -x c /dev/null"))
      << files.log();
}

TEST(Standalone, AnyModuleCompilesWithoutAWarning) {
  const Files files(random_module(8, {.kernels = 3}), "many");
  EXPECT_TRUE(files.run("c++ -std=c++20 -O1 -fsyntax-only -Wall many.cc")) << files.log();
}

TEST(Standalone, CudaCompiles) {
  if (std::system("nvcc --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no nvcc";
  const Files files(random_module(9, {.kernels = 3}), "many");
  EXPECT_TRUE(files.run("nvcc -std=c++17 --fmad=false -arch=sm_90 -c -o many.o many.cu"))
      << files.log();
  EXPECT_EQ(files.log().find("warning"), std::string::npos) << files.log();
}

TEST(Standalone, AFilesOwnLaunchMakesTheGrid) {
  ir::Module module = saxpy();
  const ir::Kernel* kernel = module.find_kernel("saxpy");
  const Term n = {&module.expressions(),
                  module.expressions().parameter(kernel->arguments[3].scalar)};
  module.add(ir::Launch{kernel, {}, {(n + 127) / 128, nullptr, nullptr}, {n.number(128)}});
  const Standalone made = emit_standalone(module, "saxpy");
  EXPECT_NE(made.cpp.find("blocks[3] = {(((long long)v_n + 127ll) / 128ll), 1, 1}"),
            std::string::npos);
  EXPECT_NE(made.cpp.find("threads[3] = {128ll, 1, 1}"), std::string::npos);
}

}  // namespace
}  // namespace hoist::px
