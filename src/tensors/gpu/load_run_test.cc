// A load whose chunks arrive in the worst orders, on the CPU device.
#include "tensors/gpu/load_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "base/test_seed.h"
#include "tensors/gpu/load_testing.h"
#include "tensors/gpu/packed_reader.h"

namespace hoist::tensors {
namespace {

enum class Order { forwards, backwards, shuffled };

class LoadRunTest : public testing::TestWithParam<Order> {
 protected:
  std::vector<uint64_t> chunks(uint64_t bytes) {
    std::vector<uint64_t> offsets;
    for (uint64_t at = 0; at < bytes; at += kChunk) offsets.push_back(at);
    if (GetParam() == Order::backwards) std::reverse(offsets.begin(), offsets.end());
    if (GetParam() == Order::shuffled) std::shuffle(offsets.begin(), offsets.end(), random_);
    return offsets;
  }

  static constexpr uint64_t kChunk = 30000;
  std::mt19937_64 random_{test_seed()};
};

TEST_P(LoadRunTest, DecodesNothingBeforeAllOfItIsThere) {
  HoloFileTest test(random_);
  test.add(DType::bf16, {512, 300});
  test.add(DType::f32, {200, 100});
  test.add(DType::bf16, {100, 700});
  test.write({});
  const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
  std::vector<uint64_t> offsets;
  for (const FragmentIndexEntry& entry : file.fragment_index()) offsets.push_back(entry.offset);
  StepParts steps;
  for (const HoloTensor& tensor : file.header().tensors) steps.push_back({1, tensor.parts.size()});
  const auto plan =
      PackedPlan::make(*file.index(), offsets, steps, {.region_bytes = 50000}).value();

  device::Device& cpu = device::cpu_device();
  device::PinnedPool pool(cpu);
  GpuModel model;
  std::vector<device::Buffer> memory;
  for (size_t i = 0; i < steps.size(); ++i) {
    memory.push_back(device::Buffer::allocate(cpu, test.contents()[i].size()).value());
    model.tensors.push_back({file.header().tensors[i].name,
                             DType::bf16,
                             {},
                             memory.back().view().subview(0, test.contents()[i].size()),
                             1,
                             1});
  }
  std::map<std::string, std::vector<size_t>> told;
  GpuLoadOptions options;
  options.on_tensor = [&](const GpuTensor& tensor) { told[tensor.name].push_back(tensor.parts); };
  auto arena = device::Buffer::allocate(cpu, plan.arena_bytes()).value();
  ASSERT_TRUE(arena.fill(std::byte{0xa5}));
  auto stream = device::Stream::create(cpu).value();
  PackedReader reader(plan, file.container().source());
  LoadRun run(file, options, plan, arena.view().subview(0, plan.arena_bytes()), model);
  ASSERT_TRUE(run.start([&] { return make_part_decoder(pool, file.header(), {0, 1, 2}); }));
  for (const uint64_t offset : chunks(plan.arena_bytes())) {
    const uint64_t size = std::min(kChunk, plan.arena_bytes() - offset);
    ASSERT_TRUE(stream.call([&, offset, size] {
      EXPECT_TRUE(reader.read(offset, {arena.view().data + offset, size}));
    }));
    ASSERT_TRUE(run.take(offset, size, stream));
  }
  const auto damaged = run.finish();
  ASSERT_TRUE(damaged) << damaged.error().message;
  EXPECT_TRUE(damaged->empty());
  for (size_t i = 0; i < steps.size(); ++i) {
    const device::View<std::byte>& data = model.tensors[i].data;
    EXPECT_TRUE(std::equal(data.data, data.data + data.size, test.contents()[i].begin())) << i;
    EXPECT_TRUE(
        std::is_sorted(told[model.tensors[i].name].begin(), told[model.tensors[i].name].end()));
    EXPECT_EQ(told[model.tensors[i].name].back(), steps[i].back());
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, LoadRunTest,
                         testing::Values(Order::forwards, Order::backwards, Order::shuffled));

}  // namespace
}  // namespace hoist::tensors
