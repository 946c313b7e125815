// Loaded models against the reader's own decoding, on every device.
#include "tensors/gpu/model_loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/test_seed.h"
#include "device/device.h"
#include "device/test_devices.h"
#include "tensors/gpu/alike_testing.h"
#include "tensors/gpu/load_testing.h"
#include "tensors/transform/format.h"

namespace hoist::tensors {
namespace {

constexpr HolographicEncoding kEncodings[] = {
    HolographicEncoding::embedded, HolographicEncoding::spectral,
    HolographicEncoding::random_projection, HolographicEncoding::low_rank_distributed};
constexpr auto kTransforms = std::span(kEncodings).subspan<1>();

class ModelLoaderTest : public device::OnDevices {
 protected:
  static std::vector<std::byte> content(const DeviceTensor& tensor) {
    std::vector<std::byte> bytes(tensor.data.size);
    if (!bytes.empty()) {
      EXPECT_TRUE(tensor.data.device->copy(bytes.data(), tensor.data.data, bytes.size(), {}));
    }
    return bytes;
  }

  // HoloFileTest numbers its tensors.
  static size_t number(const DeviceTensor& tensor) {
    return std::stoul(tensor.name.substr(tensor.name.find('.') + 1));
  }

  static void expect_exact(const DeviceModel& model, const HoloFileTest& test) {
    ASSERT_EQ(model.tensors.size(), test.contents().size());
    for (size_t i = 0; i < model.tensors.size(); ++i) {
      ASSERT_EQ(content(model.tensors[i]), test.contents()[i]) << model.tensors[i].name;
      EXPECT_EQ(model.tensors[i].quality, 1) << model.tensors[i].name;
    }
  }

  // Against the reader, as far as the device's arithmetic is the CPU's (alike_testing.h).
  void expect_readers(const DeviceModel& model, const HoloTensorReader& file, double target) {
    for (size_t i = 0; i < model.tensors.size(); ++i) {
      const LoadedTensor expected = file.decode(i, {.target = target}).value();
      const std::vector<std::byte> bytes(expected.bytes.data(),
                                         expected.bytes.data() + expected.bytes.size());
      ASSERT_TRUE(are_alike(device(), file.header().tensors[i].description,
                            content(model.tensors[i]), bytes))
          << model.tensors[i].name << ", target " << target;
      EXPECT_EQ(model.tensors[i].parts, expected.parts);
      EXPECT_EQ(model.tensors[i].quality, expected.quality);
    }
  }

  // What a GPU without cuBLAS leaves to the CPU.
  bool needs_blas(HolographicEncoding encoding) const {
    return encoding == HolographicEncoding::low_rank_distributed &&
           device().properties().kind != device::DeviceKind::cpu;
  }

  std::mt19937_64 random_{test_seed()};
};

TEST_P(ModelLoaderTest, AllLayersGiveTheTensors) {
  for (const FileOrder order : {FileOrder::layer, FileOrder::tensor}) {
    HoloFileTest test(random_);
    test.add_mixture();
    test.write({.encode = {}, .order = order});
    const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
    ModelLoader loader(device());
    for (const uint64_t region_bytes : {uint64_t{1}, uint64_t{100000}, uint64_t{64} << 20}) {
      const auto model = loader.load(file, {.region_bytes = region_bytes});
      ASSERT_TRUE(model) << model.error().message;
      expect_exact(*model, test);
      EXPECT_EQ(model->mended, 0u);
    }
  }
}

TEST_P(ModelLoaderTest, SomeTensorsEachAsGoodAsAskedFor) {
  HoloFileTest test(random_);
  test.add_mixture();
  for (int i = 0; i < 10; ++i) test.add(DType::bf16, {1 + random_() % 3000});
  test.write({});
  const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
  const size_t count = test.contents().size();
  ModelLoader loader(device());
  std::vector<size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (int round = 0; round < 10; ++round) {
    std::shuffle(numbers.begin(), numbers.end(), random_);
    LoadOptions options;
    const size_t wanted = 1 + (round == 0 ? 0 : random_() % count);
    for (size_t i = 0; i < wanted; ++i) {
      options.only.push_back({numbers[i], i % 3 == 0 ? 1 : i % 3 == 1 ? 0.96 : 0.5});
    }
    if (round % 2 == 1) options.targets = {0.5, 1};
    const auto model = loader.load(file, options);
    ASSERT_TRUE(model) << model.error().message;
    ASSERT_EQ(model->tensors.size(), options.only.size());
    for (size_t i = 0; i < options.only.size(); ++i) {
      const auto [number, target] = options.only[i];
      const DeviceTensor& tensor = model->tensors[i];
      EXPECT_EQ(tensor.name, file.header().tensors[number].name);
      const LoadedTensor expected = file.decode(number, {.target = target}).value();
      EXPECT_EQ(content(tensor),
                std::vector<std::byte>(expected.bytes.data(),
                                       expected.bytes.data() + expected.bytes.size()));
      EXPECT_EQ(tensor.quality, expected.quality);
      EXPECT_EQ(tensor.parts, expected.parts);
    }
  }
  EXPECT_EQ(loader.load(file, {.only = {{count}}}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(loader.load(file, {.only = {{1}, {0}, {1}}}).error().code, ErrorCode::invalid_argument);
}

// Parts of a few tensors at a time are on the device.
TEST_P(ModelLoaderTest, ARingTurnsManyTimes) {
  for (const FileOrder order : {FileOrder::layer, FileOrder::tensor}) {
    HoloFileTest test(random_);
    test.add_mixture();
    for (int i = 0; i < 25; ++i) {
      test.add(i % 3 == 0 ? DType::f32 : DType::bf16, {100 + random_() % 300, 1000});
      if (i % 4 == 0) test.add(DType::bf16, {1 + random_() % 5000});  // these share shards
    }
    test.write({.encode = {}, .order = order, .parity = 1});
    const std::vector<FragmentIndexEntry> entries =
        HoloTensorReader::open(test.path()).value().fragment_index();
    for (const bool damaged : {false, true}) {
      for (const FragmentIndexEntry& entry : entries) {
        if (damaged && !entry.is_parity && entry.index % 40 == 7) {
          test.flip_byte(entry.offset + entry.bytes / 2);
        }
      }
      const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
      const size_t chunk = size_t{64} << 10;
      for (const device::TransferTuning& tuning : std::vector<device::TransferTuning>{
               {.threads = 4, .piece = chunk, .largest_chunk = 2 * chunk},
               {.threads = 3, .largest_chunk = 30000, .ring = 100000},
               {.threads = 1, .largest_chunk = chunk}}) {
        ModelLoader loader(device(), tuning);
        for (const uint64_t ahead_bytes : {0, 300000}) {
          std::map<std::string, size_t> told;
          LoadOptions options;
          options.region_bytes = 200000;
          options.ahead_bytes = ahead_bytes;
          options.validate_checksums = damaged || ahead_bytes != 0;
          options.on_tensor = [&](const DeviceTensor& tensor) {
            ++told[tensor.name];
            EXPECT_EQ(content(tensor), test.contents()[number(tensor)]) << tensor.name;
          };
          const auto model = loader.load(file, options);
          ASSERT_TRUE(model) << model.error().message;
          expect_exact(*model, test);
          EXPECT_EQ(model->mended > 0, damaged);
          EXPECT_EQ(told.size(), model->tensors.size());
          // In layer order a shard has pieces of many of these small tensors.
          const uint64_t most = model->packed_bytes / (order == FileOrder::tensor ? 2 : 1);
          EXPECT_LT(model->packed_memory, most);
        }
      }
    }
  }
}

// Told to stop at any tensor, with copies that wait for decoding: what was told is right, and the
// loader can be used again.
TEST_P(ModelLoaderTest, ARingStopsAtAnyTensor) {
  HoloFileTest test(random_);
  for (int i = 0; i < 40; ++i) test.add(DType::bf16, {200, 1000});
  test.write({.encode = {}, .order = FileOrder::tensor});
  const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
  ModelLoader loader(device(), {.threads = 4, .largest_chunk = size_t{64} << 10});
  int cancelled = 0;
  for (size_t moment = 1; moment <= 40; moment += 3) {
    std::stop_source stop;
    size_t told = 0;
    LoadOptions options;
    options.region_bytes = 200000;
    options.ahead_bytes = 0;
    options.stop = stop.get_token();
    options.validate_checksums = false;
    options.on_tensor = [&](const DeviceTensor& tensor) {
      EXPECT_EQ(content(tensor), test.contents()[number(tensor)]) << tensor.name;
      if (++told == moment) stop.request_stop();
    };
    const auto model = loader.load(file, options);
    EXPECT_TRUE(model || model.error().code == ErrorCode::cancelled);
    EXPECT_GE(told, moment);
    EXPECT_TRUE(!model || told == 40);  // what is told last may come when all is there
    cancelled += model ? 0 : 1;
  }
  EXPECT_GT(cancelled, 0);
  const auto model = loader.load(file, {.region_bytes = 200000, .ahead_bytes = 0});
  ASSERT_TRUE(model) << model.error().message;
  expect_exact(*model, test);
}

TEST_P(ModelLoaderTest, TargetsAreReachedOneAfterTheOther) {
  HoloFileTest test(random_);
  test.add_mixture();
  test.write({});
  const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
  ModelLoader loader(device());
  std::map<std::string, std::vector<DeviceTensor>> told;
  LoadOptions options;
  options.targets = {0.96, 0.999, 1};
  options.region_bytes = 100000;
  options.on_tensor = [&](const DeviceTensor& tensor) { told[tensor.name].push_back(tensor); };
  const auto model = loader.load(file, options);
  ASSERT_TRUE(model) << model.error().message;
  expect_exact(*model, test);
  ASSERT_EQ(told.size(), model->tensors.size());
  for (const auto& [name, stages] : told) {
    for (size_t i = 0; i < stages.size(); ++i) {
      EXPECT_GE(stages[i].quality, 0.96) << name;
      if (i > 0) {
        EXPECT_GT(stages[i].parts, stages[i - 1].parts) << name;
      }
    }
    EXPECT_EQ(stages.back().quality, 1) << name;
  }
  EXPECT_GE(told["tensor.0"].size(), 2u);
}

TEST_P(ModelLoaderTest, ApproximationsAreTheReaders) {
  for (const HolographicEncoding encoding : kEncodings) {
    HoloFileTest test(random_);
    test.add(DType::bf16, {300, 500});
    test.add(DType::f32, {64, 100});
    test.add(DType::f16, {105, 96}, true);
    test.add(DType::f32, {37, 41}, true);      // on a GPU no kernel if spectral
    test.add(DType::f8_e5m2, {64, 64}, true);  // and none if transformed
    test.write({.encode = {.encoding = encoding}});
    const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
    ModelLoader loader(device());
    for (const double target : {0.3, 0.97, 0.9999}) {
      const auto model = loader.load(file, {.targets = {target}});
      ASSERT_TRUE(model) << model.error().message;
      expect_readers(*model, file, target);
      if (!needs_blas(encoding)) {
        EXPECT_EQ(model->mended, 0u);
      }
    }
  }
}

TEST_P(ModelLoaderTest, TransformsAreDecodedBehindTheCopies) {
  for (const HolographicEncoding encoding : kTransforms) {
    HoloFileTest test(random_);
    for (int i = 0; i < 5; ++i) test.add(DType::f32, {128, 96}, i % 2 == 0);
    test.add(DType::bf16, {140, 60}, true);
    test.write({.encode = {.encoding = encoding, .fragments = 5}});
    const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
    uint64_t stored = 0;
    for (const HoloTensor& tensor : file.header().tensors) {
      for (const StoredStream& part : tensor.parts) stored += part.bytes;
    }
    ModelLoader loader(device());
    LoadOptions options;
    options.targets = {0.2, 0.6, 1};
    options.region_bytes = 10000;
    std::map<std::string, size_t> told;
    options.on_tensor = [&](const DeviceTensor& tensor) { ++told[tensor.name]; };
    const auto model = loader.load(file, options);
    ASSERT_TRUE(model) << model.error().message;
    expect_readers(*model, file, 1);
    if (!needs_blas(encoding)) {
      EXPECT_EQ(model->mended, 0u);
    }
    EXPECT_GE(model->packed_bytes, stored);  // what the CPU decodes is not copied packed
    EXPECT_GE(told["tensor.0"], 2u);
  }
}

TEST_P(ModelLoaderTest, DamagedTransformsAreMended) {
  for (const HolographicEncoding encoding : kTransforms) {
    HoloFileTest test(random_);
    for (int i = 0; i < 4; ++i) test.add(DType::f32, {256, 160}, true);
    test.write({.encode = {.encoding = encoding}, .parity = 2});
    const HoloTensorReader clean = HoloTensorReader::open(test.path()).value();
    ModelLoader loader(device());
    const auto expected = loader.load(clean);
    ASSERT_TRUE(expected) << expected.error().message;
    for (const FragmentIndexEntry& entry : clean.fragment_index()) {
      if (!entry.is_parity && entry.index % 9 == 4) test.flip_byte(entry.offset + entry.bytes / 2);
    }
    const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
    const auto model = loader.load(file);
    ASSERT_TRUE(model) << model.error().message;
    expect_readers(*model, file, 1);
    EXPECT_GT(model->mended, 0u);
  }
}

// A fragment that is not what it should be, though nobody looks at checksums.
TEST_P(ModelLoaderTest, WrongFragmentsAreSeen) {
  for (const HolographicEncoding encoding : kTransforms) {
    for (const bool in_padding : {false, true}) {
      HoloFileTest test(random_);
      test.add(DType::f32, {63, 75});
      test.add(DType::f32, {63, 75});
      test.write({.encode = {.encoding = encoding}, .parity = 1});
      const HoloTensorReader clean = HoloTensorReader::open(test.path()).value();
      const TensorDescription& description = clean.header().tensors[1].description;
      const TransformLayout layout = transform_layout(description).value();
      uint64_t at = random_() % sizeof(FragmentHeader);
      if (in_padding) {
        const auto ends = section_ends(layout, 2);
        const auto padded = std::find_if(ends.begin(), ends.end(),
                                         [](uint64_t end) { return end % kSectionAlignment != 0; });
        if (padded == ends.end()) continue;
        at = *padded;
      }
      bool flipped = false;
      const Layout& shards = clean.layout();
      for (const StreamPiece& piece : shards.pieces(shards.part_stream(1, 2))) {
        if (at < piece.bytes) {
          test.flip_byte(clean.container().find(piece.shard)->payload_offset() +
                         piece.shard_offset + at);
          flipped = true;
          break;
        }
        at -= piece.bytes;
      }
      ASSERT_TRUE(flipped);
      const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
      ModelLoader loader(device());
      const auto model = loader.load(file, {.validate_checksums = false});
      ASSERT_TRUE(model) << model.error().message;
      expect_readers(*model, file, 1);
      EXPECT_GE(model->mended, 1u) << static_cast<int>(encoding) << in_padding;
      if (!needs_blas(encoding)) {
        EXPECT_EQ(model->mended, 1u);
      }
    }
  }
}

TEST_P(ModelLoaderTest, APolicyRulesTheLastTarget) {
  HoloFileTest test(random_);
  test.add(DType::bf16, {300, 500});
  test.add(DType::bf16, {300, 500});
  test.write({});
  const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
  QualityPolicy policy(0.95);
  policy.add({"tensor.1", 1});
  ModelLoader loader(device());
  const auto model = loader.load(file, {.policy = &policy});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_LT(model->tensors[0].quality, 1);
  EXPECT_GE(model->tensors[0].quality, 0.95);
  EXPECT_EQ(content(model->tensors[1]), test.contents()[1]);
}

TEST_P(ModelLoaderTest, DamageIsMendedThroughParity) {
  HoloFileTest test(random_);
  test.add_mixture();
  test.write({.encode = {}, .parity = 2});
  const std::vector<FragmentIndexEntry> entries =
      HoloTensorReader::open(test.path()).value().fragment_index();
  for (const FragmentIndexEntry& entry : entries) {
    if (!entry.is_parity && entry.index % 9 == 4) test.flip_byte(entry.offset + entry.bytes / 2);
  }
  const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
  std::map<std::string, size_t> finished;
  LoadOptions options;
  options.on_tensor = [&](const DeviceTensor& tensor) { ++finished[tensor.name]; };
  ModelLoader loader(device());
  const auto model = loader.load(file, options);
  ASSERT_TRUE(model) << model.error().message;
  expect_exact(*model, test);
  EXPECT_GT(model->mended, 0u);
  for (const DeviceTensor& tensor : model->tensors) EXPECT_EQ(finished[tensor.name], 1u);
}

TEST_P(ModelLoaderTest, DamageBeyondParityIsAnError) {
  HoloFileTest test(random_);
  test.add(DType::bf16, {512, 1024});
  test.write({});
  const HoloTensorReader clean = HoloTensorReader::open(test.path()).value();
  test.flip_byte(clean.fragment_index()[3].offset + 100);
  const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
  ModelLoader loader(device());
  const auto model = loader.load(file);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::corrupt);
}

TEST_P(ModelLoaderTest, StopsWhenItIsTold) {
  HoloFileTest test(random_);
  test.add_mixture();
  test.write({});
  const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
  ModelLoader loader(device());
  std::stop_source stop;
  stop.request_stop();
  LoadOptions options;
  options.stop = stop.get_token();
  EXPECT_EQ(loader.load(file, options).error().code, ErrorCode::cancelled);
  options.stop = {};
  EXPECT_TRUE(loader.load(file, options));
  options.targets = {0.9, 0.5};
  EXPECT_EQ(loader.load(file, options).error().code, ErrorCode::invalid_argument);
}

// Through a ring, with copies that wait for the decoding of what they overwrite.
TEST(ModelLoaderOnALostDevice, AnswersOrLoadsExactly) {
  std::mt19937_64 random(test_seed());
  HoloFileTest test(random);
  for (int i = 0; i < 16; ++i) test.add(DType::bf16, {300, 1000});
  test.add(DType::i64, {40, 3});  // the CPU's
  test.write({.encode = {}, .order = FileOrder::tensor});
  const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
  const size_t chunk = size_t{64} << 10;
  bool has_loaded = false;
  int failures = 0;
  for (int operations = 0; !has_loaded; operations += 1 + operations / 20) {
    device::FailingDevice device(operations);
    ModelLoader loader(device, {.threads = 3, .largest_chunk = chunk});
    const auto model = loader.load(file, {.region_bytes = 200000, .ahead_bytes = 0});
    has_loaded = model.has_value();
    if (has_loaded) {
      ASSERT_EQ(model->tensors.size(), test.contents().size());
      for (size_t i = 0; i < model->tensors.size(); ++i) {
        const device::Span<std::byte>& data = model->tensors[i].data;
        ASSERT_TRUE(std::ranges::equal(std::span(data.data, data.size), test.contents()[i]));
      }
      EXPECT_LT(model->packed_memory, model->packed_bytes / 2);
    } else {
      ++failures;
      EXPECT_EQ(model.error().code, ErrorCode::unavailable) << model.error().message;
    }
    ASSERT_LT(operations, 100000);
  }
  EXPECT_GT(failures, 20);
}

INSTANTIATE_TEST_SUITE_P(On, ModelLoaderTest, device::kTestDevices, device::device_name);

}  // namespace
}  // namespace hoist::tensors
