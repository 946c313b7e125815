#include "device/cuda_environment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
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
  EXPECT_EQ(without_other_gpus(",0"), "");
  for (const char* const one : {"", "0", "3", "-1", "NoDevFiles"}) {
    EXPECT_EQ(without_other_gpus(one), std::nullopt) << one;
  }
}

// The machine of a test may have no GPU, one or several.
TEST(CudaEnvironment, WhatIsVisibleIsOneAtMostWhereThereAreSeveral) {
  ::setenv("CUDA_VISIBLE_DEVICES", "0,1", 1);
  hide_other_gpus();
  int gpus = 0;
  for (const auto& file : std::filesystem::directory_iterator("/dev")) {
    const std::string name = file.path().filename();
    gpus += name.starts_with("nvidia") && name.find_first_not_of("0123456789", 6) == name.npos &&
            name.size() > 6;
  }
  EXPECT_STREQ(std::getenv("CUDA_VISIBLE_DEVICES"), gpus > 1 ? "0" : "0,1");
}

}  // namespace
}  // namespace hoist::device
