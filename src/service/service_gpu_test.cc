// The service where a GPU searches.
#include <fmt/core.h>

#include "device/device.h"
#include "match/index/tier_search.h"
#include "service/service_testing.h"

namespace hoist::service {
namespace {

class ServiceGpuTest : public ServiceTest {};

TEST_F(ServiceGpuTest, TellsOfTheMemoryOfTheGpusThatItUses) {
  if (const auto gpu = device::find_device("cuda:0"); !gpu) GTEST_SKIP() << gpu.error().message;
  start(false, 256, "cuda:0");
  observe_all(session(), {{"a"}});
  const auto node = service_->nodes().get("node").value();
  const auto learn = [&](uint32_t number) {
    PatternRecord record;
    record.events = {
        {"a"}, {fmt::format("{}", number % 1000)}, {fmt::format("x{}", number / 1000)}};
    ASSERT_TRUE(node->learn(record));
  };
  learn(0);
  // A named GPU without a large segment has no context yet, and the metrics make none.
  EXPECT_EQ(json("GET", "/live")["gpus"], Json::array());
  EXPECT_EQ(json("GET", "/live")["nodes"][0]["device_memory_bytes"], Json({{"cuda:0", 0}}));
  constexpr uint32_t kPatterns = match::kLargeSegment + 1000;
  ASSERT_TRUE(node->index()->begin_bulk());  // one segment
  for (uint32_t i = 1; i < kPatterns; ++i) learn(i);
  ASSERT_TRUE(node->index()->end_bulk());
  observe_all(session(), {{"a"}});
  const Json live = json("GET", "/live");
  ASSERT_EQ(live["gpus"].size(), 1U);
  const Json& gpu = live["gpus"][0];
  const uint64_t held = live["nodes"][0]["device_memory_bytes"]["cuda:0"];
  EXPECT_GE(held, uint64_t{match::kLargeSegment} * 3 * sizeof(uint16_t));
  EXPECT_EQ(gpu["device"], "cuda:0");
  EXPECT_NE(gpu["name"], "");
  EXPECT_GT(gpu["memory_used_bytes"], held);
  EXPECT_GT(gpu["memory_total_bytes"], gpu["memory_used_bytes"]);
  const std::string metrics = ask("GET", "/metrics/prometheus").body;
  EXPECT_NE(metrics.find("\nkato_gpu_memory_bytes{device=\"cuda:0\",name=\""), metrics.npos);
  EXPECT_NE(metrics.find("\nhoist_gpu_memory_total_bytes{device=\"cuda:0\",name=\""), metrics.npos);
  EXPECT_NE(metrics.find(fmt::format(
                "\nhoist_index_device_memory_bytes{{node=\"node\",device=\"cuda:0\"}} {}\n", held)),
            metrics.npos);
}

}  // namespace
}  // namespace hoist::service
