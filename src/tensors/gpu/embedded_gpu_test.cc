// The GPU's decoder of embedded tensors against the CPU's: every type, every prefix of layers,
// lengths around every border, and layers that are not an encoder's.
#include "tensors/gpu/embedded_gpu.h"

#include <gtest/gtest.h>

#include "base/test_seed.h"
#include "device/cuda_plugin.h"
#include "tensors/gpu/embedded_gpu_testing.h"

namespace hoist::tensors {
namespace {

constexpr size_t kGuard = 4096;
constexpr DType kTypes[] = {DType::bf16,    DType::f16,     DType::f32, DType::f64,
                            DType::f8_e4m3, DType::f8_e5m2, DType::i8};

class EmbeddedGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (Status available = device::cuda_available(); !available) {
      GTEST_SKIP() << available.error().message;
    }
    device_ = device::cuda_device().value();
    pool_ = std::make_unique<device::PinnedPool>(*device_);
    stream_ = std::make_unique<device::Stream>(device::Stream::create(*device_).value());
  }

  struct Decoded {
    bool corrupt = false;
    std::vector<std::byte> bytes;
  };

  // The first `layers` layers, between poisoned guards.
  Decoded decode(const EncodedTensor& tensor, size_t layers) {
    const EmbeddedLayout layout = EmbeddedLayout::parse(tensor.description).value();
    const LayersOnDevice on_device(*device_, tensor);
    const size_t size = layout.elements * layout.element_bytes();
    auto out = device::Buffer::allocate(*device_, size + 2 * kGuard).value();
    EXPECT_TRUE(out.fill(std::byte{0xa5}));
    EmbeddedGpu gpu = EmbeddedGpu::create(*pool_, {&layout}).value();
    const EmbeddedTask task = {0, on_device.first(layers), out.view().data + kGuard};
    const Status status = gpu.decode({&task, 1}, *stream_);
    EXPECT_TRUE(status) << status.error().message;
    Decoded decoded;
    EXPECT_TRUE(gpu.collect(*stream_) && stream_->synchronize());
    decoded.corrupt = gpu.is_corrupt(0);
    std::vector<std::byte> all(size + 2 * kGuard);
    EXPECT_TRUE(out.download(all));
    const auto poisoned = [](std::byte byte) { return byte == std::byte{0xa5}; };
    EXPECT_TRUE(std::all_of(all.begin(), all.begin() + kGuard, poisoned));
    EXPECT_TRUE(std::all_of(all.end() - kGuard, all.end(), poisoned));
    decoded.bytes.assign(all.begin() + kGuard, all.end() - kGuard);
    return decoded;
  }

  static std::vector<std::byte> on_cpu(const EncodedTensor& tensor, size_t layers, size_t size) {
    auto decoder = embedded_decoder(tensor.description).value();
    for (size_t i = 0; i < layers; ++i) EXPECT_TRUE(decoder->add(i, tensor.parts[i]));
    std::vector<std::byte> bytes(size);
    EXPECT_TRUE(decoder->reconstruct(bytes));
    return bytes;
  }

  device::Device* device_ = nullptr;
  std::unique_ptr<device::PinnedPool> pool_;
  std::unique_ptr<device::Stream> stream_;
  std::mt19937_64 random_{test_seed()};
};

std::string describe(DType dtype, size_t count, Content content, size_t layers) {
  return std::string(properties(dtype).name) + " x " + std::to_string(count) + ", content " +
         std::to_string(static_cast<int>(content)) + ", " + std::to_string(layers) + " layers";
}

TEST_F(EmbeddedGpuTest, EveryPrefixIsTheCpus) {
  size_t embedded = 0;
  for (const DType dtype : kTypes) {
    for (const size_t count : {1u, 7u, 127u, 129u, 1000u, 1024u, 8191u, 8193u, 65536u, 300007u}) {
      for (const Content content :
           {Content::weights, Content::bits, Content::zeros, Content::patterns}) {
        const std::vector<std::byte> bytes = random_elements(dtype, count, content, random_);
        const auto tensor = embedded_encode({dtype, {count}, bytes}).value();
        if (!tensor) continue;
        ++embedded;
        // All prefixes of short tensors; of long ones the first, the last and one between.
        const size_t all = tensor->parts.size();
        for (size_t layers = 1; layers <= all; ++layers) {
          if (count > 10000 && layers != 1 && layers != all && layers != all / 2) continue;
          const Decoded decoded = decode(*tensor, layers);
          ASSERT_FALSE(decoded.corrupt) << describe(dtype, count, content, layers);
          ASSERT_EQ(decoded.bytes, on_cpu(*tensor, layers, bytes.size()))
              << describe(dtype, count, content, layers);
        }
        ASSERT_EQ(decode(*tensor, all).bytes, bytes) << describe(dtype, count, content, all);
      }
    }
  }
  EXPECT_GE(embedded, 50u);
}

TEST_F(EmbeddedGpuTest, ManyTensorsInOneCall) {
  std::vector<EncodedTensor> tensors;
  std::vector<std::vector<std::byte>> inputs;
  for (size_t i = 0; i < 40; ++i) {
    const DType dtype = kTypes[random_() % std::size(kTypes)];
    inputs.push_back(random_elements(dtype, 5000 + random_() % 200000, Content::weights, random_));
    const uint64_t count = inputs.back().size() / properties(dtype).bytes;
    auto tensor = embedded_encode({dtype, {count}, inputs.back()}).value();
    if (tensor) {
      tensors.push_back(*std::move(tensor));
    } else {
      inputs.pop_back();
    }
  }
  ASSERT_GE(tensors.size(), 20u);
  std::vector<EmbeddedLayout> layouts;
  for (const EncodedTensor& tensor : tensors) {
    layouts.push_back(EmbeddedLayout::parse(tensor.description).value());
  }
  std::vector<const EmbeddedLayout*> pointers;
  std::vector<LayersOnDevice> layers;
  std::vector<device::Buffer> outs;
  std::vector<EmbeddedTask> tasks;
  for (size_t i = 0; i < tensors.size(); ++i) {
    pointers.push_back(&layouts[i]);
    layers.emplace_back(*device_, tensors[i]);
    outs.push_back(device::Buffer::allocate(*device_, inputs[i].size()).value());
    tasks.push_back({i, layers[i].first(tensors[i].parts.size()), outs[i].data()});
  }
  EmbeddedGpu gpu = EmbeddedGpu::create(*pool_, pointers).value();
  ASSERT_TRUE(gpu.decode(tasks, *stream_));
  ASSERT_TRUE(gpu.collect(*stream_) && stream_->synchronize());
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::vector<std::byte> out(inputs[i].size());
    ASSERT_TRUE(outs[i].download(out));
    ASSERT_FALSE(gpu.is_corrupt(i));
    ASSERT_EQ(out, inputs[i]) << "tensor " << i;
  }
}

// Whatever layer 0 is: nothing outside the output is written, and where the CPU decodes it, the
// GPU's elements are the same.
TEST_F(EmbeddedGpuTest, BadLayersAreBounded) {
  size_t refused = 0;
  for (int round = 0; round < 200; ++round) {
    const DType dtype = kTypes[round % std::size(kTypes)];
    const std::vector<std::byte> bytes =
        random_elements(dtype, 1 + random_() % 100000, Content::weights, random_);
    const uint64_t count = bytes.size() / properties(dtype).bytes;
    auto tensor = embedded_encode({dtype, {count}, bytes}).value();
    if (!tensor) continue;
    std::vector<std::byte>& layer = tensor->parts[0];
    for (int change = 0; change <= round % 5; ++change) {
      const size_t where = round % 3 == 0 ? random_() % std::min<size_t>(layer.size(), 64)
                                          : random_() % layer.size();
      layer[where] ^= static_cast<std::byte>(1 + random_() % 255);
    }
    const Decoded decoded = decode(*tensor, tensor->parts.size());
    refused += decoded.corrupt;
    auto decoder = embedded_decoder(tensor->description).value();
    std::vector<std::byte> expected(bytes.size());
    bool added = true;
    for (size_t i = 0; added && i < tensor->parts.size(); ++i) {
      added = decoder->add(i, tensor->parts[i]).has_value();
    }
    if (!added || !decoder->reconstruct(expected)) continue;
    ASSERT_FALSE(decoded.corrupt);
    ASSERT_EQ(decoded.bytes, expected);
  }
  EXPECT_GE(refused, 20u);
}

TEST_F(EmbeddedGpuTest, RefusesWhatDoesNotFit) {
  const std::vector<std::byte> bytes =
      random_elements(DType::bf16, 10000, Content::weights, random_);
  const auto tensor = embedded_encode({DType::bf16, {10000}, bytes}).value();
  ASSERT_TRUE(tensor);
  const EmbeddedLayout layout = EmbeddedLayout::parse(tensor->description).value();
  const LayersOnDevice layers(*device_, *tensor);
  const auto out = device::Buffer::allocate(*device_, bytes.size() + 16).value();
  EmbeddedGpu gpu = EmbeddedGpu::create(*pool_, {&layout}).value();
  const EmbeddedTask misaligned = {0, layers.first(2), out.view().data + 1};
  EXPECT_EQ(gpu.decode({&misaligned, 1}, *stream_).error().code, ErrorCode::invalid_argument);
  const EmbeddedTask none = {0, {}, out.data()};
  EXPECT_EQ(gpu.decode({&none, 1}, *stream_).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace hoist::tensors
