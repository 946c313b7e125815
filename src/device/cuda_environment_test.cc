#include "device/cuda_environment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace hoist::device {
namespace {

TEST(CudaEnvironment, PrecisionIsForgotten) {
  const char* const lowering[] = {"NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION",
                                  "CUBLAS_EMULATION_STRATEGY"};
  const char* const others[] = {"CUBLAS_WORKSPACE_CONFIG", "NVIDIA_VISIBLE_DEVICES",
                                "MY_NVIDIA_TF32_OVERRIDE"};
  for (const char* name : lowering) ::setenv(name, "1", 1);
  for (const char* name : others) ::setenv(name, "1", 1);
  forget_precision_variables();
  for (const char* name : lowering) EXPECT_EQ(std::getenv(name), nullptr) << name;
  for (const char* name : others) EXPECT_STREQ(std::getenv(name), "1") << name;
  forget_precision_variables();  // there are none
}

TEST(CudaEnvironment, OnlyTheFirstGpuStaysVisible) {
  EXPECT_EQ(without_other_gpus(nullptr), "0");
  EXPECT_EQ(without_other_gpus("1,0"), "1");
  EXPECT_EQ(without_other_gpus("GPU-74d2,3,4"), "GPU-74d2");
  EXPECT_EQ(without_other_gpus("MIG-1,MIG-2"), "MIG-1");
  EXPECT_EQ(without_other_gpus("-1,0"), "-1");  // which hides all
  for (const char* const one : {"", ",0", "0", "3", "-1", "NoDevFiles"}) {
    EXPECT_EQ(without_other_gpus(one), std::nullopt) << one;
  }
}

// Folders as of a machine, or a container, with GPUs.
class HideOtherGpus : public testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    folder_ = testing::TempDir() + "gpusXXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override {
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    std::filesystem::remove_all(folder_);
  }
  void add(const std::string& file) {
    const std::filesystem::path path = folder_ + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "";
  }
  std::string visible_after_hiding() {
    hide_other_gpus(folder_);
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return visible != nullptr ? visible : "unset";
  }

 private:
  std::string folder_;
};

TEST_F(HideOtherGpus, OneIsLeftAlone) {
  EXPECT_EQ(visible_after_hiding(), "unset");
  for (const char* const other : {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia2"}) add(other);
  EXPECT_EQ(visible_after_hiding(), "unset");
  EXPECT_EQ(users_visible_gpus(), nullptr);
}

TEST_F(HideOtherGpus, OfSeveralTheFirstStays) {
  add("/dev/nvidia2");
  add("/dev/nvidia5");
  EXPECT_EQ(visible_after_hiding(), "0");
  EXPECT_EQ(users_visible_gpus(), nullptr);
  ::setenv("CUDA_VISIBLE_DEVICES", "1,0", 1);
  EXPECT_EQ(visible_after_hiding(), "1");
  EXPECT_STREQ(users_visible_gpus(), "1,0");
}

TEST_F(HideOtherGpus, NotWhereOneIsCutIntoSlices) {
  for (const char* const file :
       {"/dev/nvidia0", "/dev/nvidia1", "/proc/driver/nvidia/capabilities/gpu0/mig/config"}) {
    add(file);
  }
  EXPECT_EQ(visible_after_hiding(), "0");
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  add("/proc/driver/nvidia/capabilities/gpu0/mig/gi1/access");
  EXPECT_EQ(visible_after_hiding(), "unset");
}

}  // namespace
}  // namespace hoist::device
