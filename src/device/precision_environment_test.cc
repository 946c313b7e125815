#include "device/precision_environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace hoist::device {
namespace {

TEST(PrecisionEnvironment, IsForgotten) {
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

}  // namespace
}  // namespace hoist::device
