// A load whose chunks arrive in the worst orders, on the CPU device.
#include "tensors/gpu/load_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <thread>

#include "base/test_seed.h"
#include "device/transfer.h"
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
  DeviceModel model;
  std::vector<device::Buffer> memory;
  for (size_t i = 0; i < steps.size(); ++i) {
    memory.push_back(device::Buffer::allocate(cpu, test.contents()[i].size()).value());
    model.tensors.push_back({file.header().tensors[i].name,
                             DType::bf16,
                             {},
                             memory.back().view().subspan(0, test.contents()[i].size()),
                             1,
                             1});
  }
  std::map<std::string, std::vector<size_t>> told;
  LoadOptions options;
  options.on_tensor = [&](const DeviceTensor& tensor) {
    told[tensor.name].push_back(tensor.parts);
  };
  auto arena = device::Buffer::allocate(cpu, plan.arena_bytes()).value();
  ASSERT_TRUE(arena.fill(std::byte{0xa5}));
  auto stream = device::Stream::create(cpu).value();
  PackedReader reader(plan, file.container().source());
  LoadRun run(file, options, plan, arena.view().subspan(0, plan.arena_bytes()), model);
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
    const device::Span<std::byte>& data = model.tensors[i].data;
    EXPECT_TRUE(std::equal(data.data, data.data + data.size, test.contents()[i].begin())) << i;
    EXPECT_TRUE(
        std::is_sorted(told[model.tensors[i].name].begin(), told[model.tensors[i].name].end()));
    EXPECT_EQ(told[model.tensors[i].name].back(), steps[i].back());
  }
}

// Copies that wait for decoding, which is slow, or never comes.
TEST(LoadRunInARing, WaitsForASlowDecoderAndEndsWithABrokenOne) {
  std::mt19937_64 random(test_seed());
  HoloFileTest test(random);
  for (int i = 0; i < 20; ++i) test.add(DType::bf16, {100, 1000});
  test.write({.encode = {}, .order = FileOrder::tensor});
  const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
  StepParts steps;
  std::vector<size_t> all;
  for (const HoloTensor& tensor : file.header().tensors) {
    all.push_back(all.size());
    steps.push_back({tensor.parts.size()});
  }
  constexpr size_t kChunkBytes = size_t{64} << 10;
  const auto plan =
      PackedPlan::make(*file.index(), shard_offsets(file), steps,
                       {.region_bytes = 100000, .chunk_bytes = kChunkBytes, .ahead_bytes = 0})
          .value();
  ASSERT_LT(plan.ring_bytes(), plan.arena_bytes() / 2);

  device::Device& cpu = device::cpu_device();
  device::PinnedPool pool(cpu);
  device::Transfer transfer(pool, {.threads = 4, .largest_chunk = kChunkBytes});
  DeviceModel model;
  std::vector<device::Buffer> memory;
  for (const HoloTensor& tensor : file.header().tensors) {
    memory.push_back(device::Buffer::allocate(cpu, tensor.bytes()).value());
    model.tensors.push_back({tensor.name, DType::bf16, {}, memory.back().view(), 1, 1});
  }
  const auto ring = device::Buffer::allocate(cpu, plan.ring_bytes()).value();
  const auto load = [&](const LoadRun::MakeDecoder& make_decoder) -> Result<std::vector<size_t>> {
    PackedReader reader(plan, file.container().source());
    const LoadOptions options;
    LoadRun run(file, options, plan, ring.view(), model);
    EXPECT_TRUE(run.start(make_decoder));
    const device::TransferRequest request = {
        .enqueued = [&](uint64_t offset, size_t size, device::Stream& stream) {
          return run.take(offset, size, stream);
        }};
    Status sent = transfer.upload_placed(
        &reader, plan.arena_bytes(),
        [&](uint64_t offset, size_t size, device::Stream& stream) {
          return run.place(offset, size, stream);
        },
        request);
    if (!sent) return sent.error();
    return run.finish();
  };
  const auto broken = load([]() -> Result<std::unique_ptr<PartDecoder>> {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return fail(ErrorCode::exhausted, "no memory for tables");
  });
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::exhausted) << broken.error().message;
  const auto slow = load([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return make_part_decoder(pool, file.header(), all);
  });
  ASSERT_TRUE(slow) << slow.error().message;
  EXPECT_TRUE(slow->empty());
  for (size_t i = 0; i < all.size(); ++i) {
    const device::Span<std::byte>& data = model.tensors[i].data;
    ASSERT_TRUE(std::equal(data.data, data.data + data.size, test.contents()[i].begin(),
                           test.contents()[i].end()))
        << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, LoadRunTest,
                         testing::Values(Order::forwards, Order::backwards, Order::shuffled));

}  // namespace
}  // namespace hoist::tensors
