// A .holo file of many kinds of tensors.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tensors/file/holotensor.h"

namespace hoist::tensors {

class HoloFileTest {
 public:
  explicit HoloFileTest(std::mt19937_64& random) : random_(random) {
    static int number = 0;
    path_ = testing::TempDir() + "load-" + std::to_string(::getpid()) + "-" +
            std::to_string(number++) + ".holo";
  }
  ~HoloFileTest() { std::filesystem::remove(path_); }
  HoloFileTest(const HoloFileTest&) = delete;
  HoloFileTest& operator=(const HoloFileTest&) = delete;

  const std::string& path() const { return path_; }
  const std::vector<std::vector<std::byte>>& contents() const { return contents_; }

  // Gaussian values, on request some that are not finite; integers are any bytes.
  void add(DType dtype, Shape shape, bool with_infinite = false) {
    const uint64_t count = element_count(shape).value();
    std::vector<std::byte> bytes(count * properties(dtype).bytes);
    if (properties(dtype).is_float) {
      std::normal_distribution<float> gaussian(0, 0.02F);
      std::vector<float> values(count);
      for (float& value : values) value = gaussian(random_);
      for (size_t i = 0; with_infinite && i < count; i += 1 + random_() % 999) {
        values[i] = i % 2 == 0 ? std::numeric_limits<float>::quiet_NaN()
                               : -std::numeric_limits<float>::infinity();
      }
      EXPECT_TRUE(from_f32(values, dtype, bytes));
    } else {
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random_() % 7);
    }
    contents_.push_back(std::move(bytes));
    views_.push_back({"tensor." + std::to_string(views_.size()), {dtype, std::move(shape), {}}});
  }

  // Large ones and small ones, with and without a kernel, and none at all.
  void add_mixture() {
    add(DType::bf16, {512, 1031});
    add(DType::bf16, {33});
    add(DType::i64, {40, 3});
    add(DType::f32, {300, 301});
    add(DType::bf16, {0, 5});
    add(DType::f16, {70001});
    add(DType::f8_e4m3, {129, 257});
    add(DType::i32, {123457});
    add(DType::bf16, {900, 700});
    add(DType::f64, {1000});
    add(DType::boolean, {});
  }

  void write(HoloWriteOptions options) {
    for (size_t i = 0; i < views_.size(); ++i) views_[i].view.bytes = contents_[i];
    options.durable = false;
    const Status written = write_holotensor(path_, views_, options);
    ASSERT_TRUE(written) << written.error().message;
  }

  void flip_byte(uint64_t offset) const {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const int before = file.get();
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(static_cast<char>(before ^ 0x41));
  }

 private:
  std::mt19937_64& random_;
  std::string path_;
  std::vector<std::vector<std::byte>> contents_;
  std::vector<NamedTensor> views_;
};

}  // namespace hoist::tensors
