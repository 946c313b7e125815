// Models of other formats, loaded onto every device.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "base/test_seed.h"
#include "device/test_devices.h"
#include "tensors/gpu/model_loader.h"
#include "tensors/model/model_testing.h"

namespace hoist::tensors {
namespace {

class SourceLoaderTest : public device::OnDevices {
 protected:
  void SetUp() override {
    device::OnDevices::SetUp();
    std::string name = (std::filesystem::temp_directory_path() / "hoist-load-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~SourceLoaderTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::vector<TestTensor>& tensors) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << safetensors_bytes(tensors);
    return path;
  }
  static std::string content(const DeviceTensor& tensor) {
    std::string bytes(tensor.data.size, '\0');
    if (!bytes.empty()) {
      EXPECT_TRUE(tensor.data.device->copy(bytes.data(), tensor.data.data, bytes.size(), {}));
    }
    return bytes;
  }

  std::mt19937_64 random_{test_seed()};
  std::string folder_;
};

TEST_P(SourceLoaderTest, TensorsOfSeveralFilesComeWhole) {
  std::vector<TestTensor> first;
  std::vector<TestTensor> second;
  for (int i = 0; i < 40; ++i) {
    const Shape shape = i % 7 == 0 ? Shape{0, 3} : Shape{1 + random_() % 5000};
    const DType dtype = i % 2 == 0 ? DType::bf16 : DType::u8;
    (i < 25 ? first : second)
        .push_back(random_tensor(random_, fmt::format("t{:02}", i), dtype, shape));
  }
  // Larger than a chunk of a transfer, between small ones.
  first[10] = random_tensor(random_, "t10", DType::u8, {(uint64_t{9} << 20) + 5});
  const auto source =
      ModelSource::open({write("a.safetensors", first), write("b.safetensors", second)});
  ASSERT_TRUE(source) << source.error().message;
  std::vector<std::string> told;
  const auto model = ModelLoader(device()).load(
      *source, {.on_tensor = [&](const DeviceTensor& tensor) { told.push_back(tensor.name); }});
  ASSERT_TRUE(model) << model.error().message;
  std::vector<TestTensor> all = first;
  all.insert(all.end(), second.begin(), second.end());
  ASSERT_EQ(model->tensors.size(), all.size());
  for (const TestTensor& expected : all) {
    const auto found =
        std::find_if(model->tensors.begin(), model->tensors.end(),
                     [&](const DeviceTensor& tensor) { return tensor.name == expected.name; });
    ASSERT_NE(found, model->tensors.end()) << expected.name;
    EXPECT_EQ(found->shape, expected.shape) << expected.name;
    EXPECT_EQ(found->dtype, expected.dtype) << expected.name;
    ASSERT_EQ(content(*found), expected.bytes) << expected.name;
    EXPECT_EQ(std::count(told.begin(), told.end(), expected.name), 1) << expected.name;
  }
}

TEST_P(SourceLoaderTest, SomeTensorsOfAModel) {
  std::vector<TestTensor> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(random_tensor(random_, fmt::format("t{:02}", i), DType::u8,
                                {i % 5 == 0 ? 0 : 1 + random_() % 5000}));
  }
  const auto source = ModelSource::open({write("some.safetensors", all)});
  ASSERT_TRUE(source) << source.error().message;
  ModelLoader loader(device());
  const std::vector<TensorTarget> only = {{17}, {0}, {3}, {12}};
  const auto model = loader.load(*source, {.only = only});
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ(model->tensors.size(), only.size());
  for (size_t i = 0; i < only.size(); ++i) {
    const std::string& name = source->tensors()[only[i].tensor].name;
    EXPECT_EQ(model->tensors[i].name, name);
    const auto expected = std::find_if(all.begin(), all.end(),
                                       [&](const TestTensor& one) { return one.name == name; });
    EXPECT_EQ(content(model->tensors[i]), expected->bytes);
  }
  EXPECT_EQ(loader.load(*source, {.only = {{20}}}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(loader.load(*source, {.only = {{3}, {3}}}).error().code, ErrorCode::invalid_argument);
}

TEST_P(SourceLoaderTest, AnEmptyModelLoads) {
  const auto source = ModelSource::open({write("empty.safetensors", {})});
  ASSERT_TRUE(source) << source.error().message;
  const auto model = ModelLoader(device()).load(*source);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_TRUE(model->tensors.empty());
}

TEST_P(SourceLoaderTest, AFileCutMeanwhileIsAnError) {
  const std::string path =
      write("cut.safetensors", {random_tensor(random_, "t", DType::u8, {uint64_t{8} << 20})});
  const auto source = ModelSource::open({path});
  ASSERT_TRUE(source) << source.error().message;
  std::filesystem::resize_file(path, 1 << 20);
  const auto model = ModelLoader(device()).load(*source);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::corrupt) << model.error().message;
}

TEST_P(SourceLoaderTest, AStopEndsIt) {
  const auto source = ModelSource::open(
      {write("stop.safetensors", {random_tensor(random_, "t", DType::u8, {uint64_t{8} << 20})})});
  ASSERT_TRUE(source) << source.error().message;
  std::stop_source stop;
  stop.request_stop();
  const auto model = ModelLoader(device()).load(*source, {.stop = stop.get_token()});
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::cancelled) << model.error().message;
}

INSTANTIATE_TEST_SUITE_P(Devices, SourceLoaderTest, device::kTestDevices, device::device_name);

}  // namespace
}  // namespace hoist::tensors
