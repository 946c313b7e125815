// Tensors of every kind that the encoding knows, and their layers on a GPU.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "device/cuda_memory.h"
#include "tensors/embedded/embedded.h"
#include "tensors/gpu/embedded_gpu.h"

namespace hoist::tensors {

enum class Content { weights, bits, zeros, patterns };

// `weights`: Gaussian; `patterns`: any bits, but few exponents, so that they are embedded.
inline std::vector<std::byte> random_elements(DType dtype, size_t count, Content content,
                                              std::mt19937_64& random) {
  const size_t width = properties(dtype).bytes;
  std::vector<std::byte> bytes(count * width);
  if (content == Content::zeros) return bytes;
  if (content == Content::weights) {
    std::normal_distribution<float> gaussian(0, dtype == DType::i8 ? 20.0F : 0.02F);
    std::vector<float> values(count);
    for (float& value : values) value = gaussian(random);
    EXPECT_TRUE(from_f32(values, dtype, bytes));
    return bytes;
  }
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  if (content == Content::patterns) {
    for (size_t i = 0; i < count; ++i) {
      bytes[i * width + width - 1] &= std::byte{0x83};  // sign and two bits of the exponent
    }
  }
  return bytes;
}

// The layers in the device's memory, each followed by bytes that no decoder may care for.
class LayersOnDevice {
 public:
  LayersOnDevice(device::Device& device, const EncodedTensor& tensor) {
    for (const std::vector<std::byte>& part : tensor.parts) {
      std::vector<std::byte> padded(part);
      padded.resize(part.size() + kEmbeddedMargin, std::byte{0xff});
      buffers_.push_back(device::Buffer::copy_of(device, padded).value());
    }
  }
  std::vector<const std::byte*> first(size_t layers) const {
    std::vector<const std::byte*> pointers;
    for (size_t i = 0; i < layers; ++i) {
      pointers.push_back(static_cast<const std::byte*>(buffers_[i].data()));
    }
    return pointers;
  }

 private:
  std::vector<device::Buffer> buffers_;
};

}  // namespace hoist::tensors
