#include "takeover/gpu_hint.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

namespace {

class GpuHint : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"HOIST_GPU", "HOIST_SOCKET", "CUDA_VISIBLE_DEVICES"}) ::unsetenv(name);
  }
};

TEST_F(GpuHint, HiddenGpusAreNotAskedFor) {
  ::setenv("HOIST_SOCKET", "/somewhere", 1);
  EXPECT_FALSE(hoist_gpus_are_hidden());
  EXPECT_TRUE(hoist_gpu_may_serve());
  for (const char* none : {"", "-1", "NoDevFiles"}) {
    ::setenv("CUDA_VISIBLE_DEVICES", none, 1);
    EXPECT_TRUE(hoist_gpus_are_hidden()) << none;
    EXPECT_FALSE(hoist_gpu_may_serve()) << none;
  }
  for (const char* some : {"0", "1,0", "GPU-8932f937", "MIG-GPU-8932f937/1/2"}) {
    ::setenv("CUDA_VISIBLE_DEVICES", some, 1);
    EXPECT_FALSE(hoist_gpus_are_hidden()) << some;
    EXPECT_TRUE(hoist_gpu_may_serve()) << some;
  }
}

TEST_F(GpuHint, WhoAsksForOneGetsOneAllTheSame) {
  ::setenv("CUDA_VISIBLE_DEVICES", "", 1);
  for (const char* where : {"require", "inprocess"}) {
    ::setenv("HOIST_GPU", where, 1);
    EXPECT_TRUE(hoist_gpu_may_serve()) << where;
    EXPECT_EQ(hoist_gpus_are_hidden(), std::strcmp(where, "require") != 0);
  }
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  ::setenv("HOIST_SOCKET", "/somewhere", 1);
  ::setenv("HOIST_GPU", "off", 1);
  EXPECT_FALSE(hoist_gpu_may_serve());
}

}  // namespace
