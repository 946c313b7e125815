// What the tests of .holo files share: a folder of their own, models of every kind of tensor, and
// files damaged on purpose.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/test_seed.h"
#include "tensors/file/holotensor.h"
#include "tensors/model/model_testing.h"

namespace hoist::tensors {

struct Scratch {
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "hoist-tensors-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Scratch() { std::filesystem::remove_all(path); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string file(const std::string& name) const { return path + "/" + name; }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
  }
  std::string path;
};

inline std::string bytes_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline TensorView view_of(const TestTensor& tensor) {
  return {tensor.dtype, tensor.shape, container::as_bytes(tensor.bytes)};
}

// Every element type, and shapes that are easily got wrong.
inline std::vector<TestTensor> awkward_model(std::mt19937_64& random) {
  std::vector<TestTensor> tensors;
  const Shape shapes[] = {{},      {0}, {1}, {31}, {1, 257}, {3, 0, 5}, {2, 1, 3, 1, 2, 1, 2, 2},
                          {13, 17}};
  size_t next = 0;
  for (uint8_t number = 0; find_dtype(number) != nullptr; ++number) {
    const DTypeProperties& type = *find_dtype(number);
    for (int i = 0; i < 3; ++i) {
      Shape shape = shapes[next++ % std::size(shapes)];
      if (!byte_count(type.dtype, shape)) shape.push_back(type.packed);
      tensors.push_back(
          random_tensor(random, fmt::format("layers.{}.{}", i, type.name), type.dtype, shape));
    }
  }
  return tensors;
}

// Small next to large: some tensors share groups, some fill several shards.
inline std::vector<TestTensor> mixed_model(std::mt19937_64& random) {
  std::vector<TestTensor> tensors;
  for (int i = 0; i < 3; ++i) {
    const std::string layer = fmt::format("layers.{}.", i);
    tensors.push_back(gaussian_tensor(random, layer + "norm", DType::bf16, {127}));
    tensors.push_back(gaussian_tensor(random, layer + "attention.q", DType::bf16, {96, 131}));
    tensors.push_back(gaussian_tensor(random, layer + "mlp.up", DType::f32, {64, 300}));
    tensors.push_back(random_tensor(random, layer + "ids", DType::i64, {40}));
  }
  return tensors;
}

inline void expect_same(const LoadedTensor& loaded, const TestTensor& tensor) {
  EXPECT_EQ(loaded.name, tensor.name);
  EXPECT_EQ(loaded.dtype, tensor.dtype);
  EXPECT_EQ(loaded.shape, tensor.shape);
  ASSERT_EQ(loaded.bytes.size(), tensor.bytes.size());
  EXPECT_TRUE(std::equal(tensor.bytes.begin(), tensor.bytes.end(),
                         reinterpret_cast<const char*>(loaded.bytes.data())))
      << tensor.name;
}

inline void write_model(const std::string& path, const std::vector<TestTensor>& tensors,
                        HoloWriteOptions options = {}) {
  std::vector<NamedTensor> views;
  for (const TestTensor& tensor : tensors) views.push_back({tensor.name, view_of(tensor)});
  options.durable = false;
  const Status written = write_holotensor(path, views, options);
  ASSERT_TRUE(written) << written.error().message;
}

inline void expect_model(const std::string& path, const std::vector<TestTensor>& tensors) {
  const Result<std::vector<LoadedTensor>> loaded = read_holotensor(path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) expect_same((*loaded)[i], tensors[i]);
}

}  // namespace hoist::tensors
