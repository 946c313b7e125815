#include "ops/gemm/first_products.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "device/test_devices.h"

namespace hoist::gemm {
namespace {

std::atomic<bool> may_end;
std::atomic<int> begun;

Status wait(device::Device&) {
  ++begun;
  while (!may_end) std::this_thread::yield();
  return {};
}
Status find_no_library(device::Device&) { return fail(ErrorCode::unavailable, "none (test)"); }
Status have_no_memory(device::Device&) { return fail(ErrorCode::exhausted, "none (test)"); }

// What it says in the end.
Status outcome(FirstProducts& products) {
  while (true) {
    Status asked = products.ask(device::cpu_device());
    if (asked || asked.error().message != "cuBLAS is being loaded") return asked;
    std::this_thread::yield();
  }
}

TEST(FirstProducts, ManyAskWhileOneWorks) {
  may_end = false;
  begun = 0;
  FirstProducts products(wait);
  std::vector<std::thread> threads;
  std::atomic<int> refused = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const Status asked = products.ask(device::cpu_device());
      refused += !asked && asked.error().code == ErrorCode::unavailable;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, 4);
  may_end = true;
  EXPECT_TRUE(outcome(products));
  EXPECT_EQ(begun, 1);
}

TEST(FirstProducts, TheEndWaitsForThem) {
  may_end = false;
  {
    FirstProducts products(wait);
    EXPECT_FALSE(products.ask(device::cpu_device()));
    may_end = true;
  }
  FirstProducts never_asked(wait);
}

TEST(FirstProducts, OnlyWhatWillNeverBeIsRemembered) {
  FirstProducts without_library(find_no_library);
  EXPECT_EQ(outcome(without_library).error().message, "none (test)");
  EXPECT_FALSE(without_library.ask(device::cpu_device()));
  FirstProducts without_memory(have_no_memory);
  EXPECT_TRUE(outcome(without_memory));
}

class FirstProductsTest : public device::OnDevices {};
INSTANTIATE_TEST_SUITE_P(On, FirstProductsTest, device::kTestDevices, device::device_name);

TEST_P(FirstProductsTest, AreProducts) {
  if (device().properties().kind == device::DeviceKind::cpu) {
    GTEST_SKIP() << "four products of 1024 rows by the reference implementation take seconds";
  }
  const Status done = run_first_products(device());
  EXPECT_TRUE(done) << done.error().message;
}

}  // namespace
}  // namespace hoist::gemm
