// Contexts on every device against the plain decoders: any fragments, in any order.
#include "tensors/gpu/holo_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <stop_token>

#include "base/test_seed.h"
#include "device/cpu_device.h"
#include "device/test_devices.h"
#include "tensors/gpu/alike_testing.h"
#include "tensors/gpu/holo_streaming.h"
#include "tensors/gpu/multi_gpu.h"

namespace hoist::tensors {
namespace {

constexpr HolographicEncoding kEncodings[] = {
    HolographicEncoding::lossless, HolographicEncoding::embedded, HolographicEncoding::spectral,
    HolographicEncoding::random_projection, HolographicEncoding::low_rank_distributed};

class HoloContextTest : public device::OnDevices {
 protected:
  void SetUp() override {
    OnDevices::SetUp();
    if (!IsSkipped()) context_ = GpuHoloContext::create(device()).value();
  }

  // Gaussian, with some elements that are not finite.
  std::vector<std::byte> elements(DType dtype, uint64_t count) {
    std::normal_distribution<float> gaussian(0, 0.02F);
    std::vector<float> values(count);
    for (float& value : values) value = gaussian(random_);
    if (dtype != DType::i8 && count > 100) {
      values[7] = std::numeric_limits<float>::infinity();
      values[count / 2] = std::numeric_limits<float>::quiet_NaN();
    }
    std::vector<std::byte> bytes(count * properties(dtype).bytes);
    EXPECT_TRUE(from_f32(values, dtype, bytes));
    return bytes;
  }

  EncodedTensor encoded(HolographicEncoding encoding, DType dtype, const Shape& shape) {
    const uint64_t count = element_count(shape).value();
    kept_ = elements(dtype, count);
    return encode({dtype, shape, kept_}, {.encoding = encoding, .fragments = 6}).value();
  }

  static std::vector<std::byte> download(const device::Buffer& buffer, uint64_t bytes) {
    std::vector<std::byte> content(bytes);
    EXPECT_TRUE(buffer.download(content));
    return content;
  }

  std::mt19937_64 random_{test_seed()};
  std::unique_ptr<GpuHoloContext> context_;
  std::vector<std::byte> kept_;
};

TEST_P(HoloContextTest, AnyFragmentsInAnyOrder) {
  const Shape shapes[] = {{64, 96},   {1, 640},  {105, 48}, {37, 41},
                          {3, 16384}, {8192, 3}, {7},       {256, 1024}};
  for (const HolographicEncoding encoding : kEncodings) {
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f8_e5m2}) {
      for (const Shape& shape : shapes) {
        const EncodedTensor tensor = encoded(encoding, dtype, shape);
        const std::string what = std::string(properties(dtype).name) + ", encoding " +
                                 std::to_string(static_cast<int>(encoding)) + ", " +
                                 std::to_string(shape[0]) + " rows";
        std::vector<size_t> order(tensor.parts.size());
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random_);
        auto accumulator = context_->create_accumulator(tensor.description);
        ASSERT_TRUE(accumulator) << accumulator.error().message;
        const auto decoder = make_decoder(tensor.description).value();
        auto out = device::Buffer::allocate(device(), kept_.size()).value();
        for (const size_t part : order) {
          ASSERT_TRUE(context_->accumulate_fragment(
              *accumulator, part, std::span<const std::byte>(tensor.parts[part])));
          ASSERT_TRUE(context_->accumulate_fragment(
              *accumulator, part, std::span<const std::byte>(tensor.parts[part])));
          ASSERT_TRUE(decoder->add(part, tensor.parts[part]));
          ASSERT_EQ(accumulator->can_reconstruct(), decoder->can_reconstruct()) << what;
          ASSERT_DOUBLE_EQ(accumulator->quality(), decoder->quality()) << what;
          const Status done =
              context_->finalize_reconstruction(*accumulator, out.view().subspan(0, kept_.size()));
          ASSERT_EQ(done.has_value(), decoder->can_reconstruct()) << what;
          if (!done) continue;
          std::vector<std::byte> expected(kept_.size());
          ASSERT_TRUE(decoder->reconstruct(expected));
          ASSERT_TRUE(
              are_alike(device(), tensor.description, download(out, kept_.size()), expected))
              << what;
        }
      }
    }
  }
}

TEST_P(HoloContextTest, RefusesWhatCannotBe) {
  const EncodedTensor tensor = encoded(HolographicEncoding::spectral, DType::f32, {64, 64});
  auto accumulator = context_->create_accumulator(tensor.description).value();
  auto out = device::Buffer::allocate(device(), kept_.size()).value();
  EXPECT_EQ(context_->finalize_reconstruction(accumulator, out.view()).error().code,
            ErrorCode::invalid_argument);
  const auto half = std::span<const std::byte>(tensor.parts[0]).first(tensor.parts[0].size() / 2);
  EXPECT_EQ(context_->accumulate_fragment(accumulator, 0, half).error().code, ErrorCode::corrupt);
  EXPECT_EQ(context_->accumulate_fragment(accumulator, 99, half).error().code,
            ErrorCode::invalid_argument);
  TensorDescription broken = tensor.description;
  broken.parameters.resize(5);
  EXPECT_EQ(context_->create_accumulator(broken).error().code, ErrorCode::corrupt);
}

TEST_P(HoloContextTest, ConvertsAndDequantises) {
  for (const DType from : {DType::i8, DType::u8, DType::f8_e4m3, DType::f8_e5m2, DType::f16,
                           DType::bf16, DType::f32}) {
    for (const DType to : {DType::f16, DType::bf16, DType::f32}) {
      for (const uint64_t block : {0u, 1u, 32u, 129u}) {
        const uint64_t count = 5000 + random_() % 1000;
        std::vector<std::byte> in(count * properties(from).bytes);
        for (std::byte& byte : in) byte = static_cast<std::byte>(random_());
        std::vector<float> values(count);
        ASSERT_TRUE(to_f32(from, in, values));
        std::vector<float> scales(count / std::max<uint64_t>(block, 1) + 1);
        std::vector<float> zeros(scales.size());
        for (float& scale : scales) scale = static_cast<float>(random_() % 1000) / 37;
        for (float& zero : zeros) zero = static_cast<float>(random_() % 9);
        for (uint64_t i = 0; block != 0 && i < count; ++i) {
          values[i] = (values[i] - zeros[i / block]) * scales[i / block];
        }
        std::vector<std::byte> expected(count * properties(to).bytes);
        ASSERT_TRUE(from_f32(values, to, expected));
        const auto on_device = device::Buffer::copy_of(device(), in).value();
        const auto as_bytes = [](const std::vector<float>& v) {
          return std::as_bytes(std::span(v));
        };
        const auto scales_there = device::Buffer::copy_of(device(), as_bytes(scales)).value();
        const auto zeros_there = device::Buffer::copy_of(device(), as_bytes(zeros)).value();
        auto out = device::Buffer::allocate(device(), expected.size()).value();
        const Quantisation quantisation = {block, static_cast<const float*>(scales_there.data()),
                                           static_cast<const float*>(zeros_there.data())};
        const Status done =
            context_->convert(on_device.view<const std::byte>().subspan(0, in.size()), from,
                              out.view().subspan(0, expected.size()), to, quantisation);
        ASSERT_TRUE(done) << done.error().message;
        // Every bit of what is a number.
        const std::vector<std::byte> actual = download(out, expected.size());
        const size_t width = properties(to).bytes;
        for (uint64_t i = 0; i < count; ++i) {
          if (std::isnan(values[i])) continue;
          ASSERT_TRUE(std::equal(actual.begin() + static_cast<ptrdiff_t>(i * width),
                                 actual.begin() + static_cast<ptrdiff_t>((i + 1) * width),
                                 expected.begin() + static_cast<ptrdiff_t>(i * width)))
              << properties(from).name << " to " << properties(to).name << ", " << i << ": "
              << values[i];
        }
      }
    }
  }
}

TEST_P(HoloContextTest, ProgressiveLoadersKnowTheirQuality) {
  const EncodedTensor tensor = encoded(HolographicEncoding::embedded, DType::bf16, {200, 300});
  ProgressiveHoloLoader loader(*context_, context_->create_accumulator(tensor.description).value());
  EXPECT_FALSE(loader.can_reconstruct());
  double before = 0;
  for (size_t part = 0; part < tensor.parts.size(); ++part) {
    const Result<double> quality = loader.feed(part, tensor.parts[part]);
    ASSERT_TRUE(quality);
    EXPECT_GT(*quality, before);
    EXPECT_EQ(loader.is_sufficient(0.99), *quality >= 0.99);
    before = *quality;
  }
  EXPECT_EQ(before, 1);
  const auto out = device::Buffer::allocate(device(), kept_.size()).value();
  ASSERT_TRUE(loader.finalize(out.view().subspan(0, kept_.size())));
  EXPECT_EQ(download(out, kept_.size()), kept_);
}

TEST_P(HoloContextTest, StreamsStopWhenTheyAreGoodEnough) {
  const EncodedTensor tensor = encoded(HolographicEncoding::embedded, DType::bf16, {200, 300});
  StreamingHoloContext streaming(*context_, 1 + random_() % 3);
  const FetchPart fetch = [&](size_t part) -> Result<std::vector<std::byte>> {
    return tensor.parts[part];
  };
  for (const double quality : {0.9, 0.99, 1.0}) {
    size_t told = 0;
    StreamOptions options;
    options.min_quality = quality;
    options.on_fragment = [&](size_t, double) { return ++told > 0; };
    const auto streamed = streaming.stream(tensor.description, fetch, options);
    ASSERT_TRUE(streamed) << streamed.error().message;
    EXPECT_GE(streamed->quality, quality);
    EXPECT_EQ(streamed->fragments, told);
    EXPECT_EQ(streamed->fragments, tensor.description.curve.parts_for(quality));
  }
  StreamOptions as_f32;
  as_f32.dtype = DType::f32;
  const auto wide = streaming.stream(tensor.description, fetch, as_f32);
  ASSERT_TRUE(wide) << wide.error().message;
  std::vector<float> values(kept_.size() / 2);
  ASSERT_TRUE(to_f32(DType::bf16, kept_, values));
  const std::vector<std::byte> content = download(wide->elements, 2 * kept_.size());
  for (size_t i = 0; i < values.size(); ++i) {
    float value;
    std::memcpy(&value, content.data() + 4 * i, 4);
    ASSERT_TRUE(value == values[i] || std::isnan(values[i])) << i;
  }

  StreamOptions few;
  few.order = std::vector<size_t>{0, 1};
  EXPECT_EQ(streaming.stream(tensor.description, fetch, few).error().code, ErrorCode::corrupt);
  StreamOptions enough;
  enough.on_fragment = [](size_t part, double) { return part < 1; };
  EXPECT_EQ(streaming.stream(tensor.description, fetch, enough).value().fragments, 2u);
  StreamOptions none;
  none.order.emplace();
  EXPECT_EQ(streaming.stream(tensor.description, fetch, none).error().code, ErrorCode::corrupt);
  size_t fetches = 0;
  const FetchPart lost = [&](size_t part) -> Result<std::vector<std::byte>> {
    ++fetches;
    if (part == 0) return tensor.parts[part];
    return fail(ErrorCode::unavailable, "lost " + std::to_string(part));
  };
  EXPECT_EQ(StreamingHoloContext(*context_, 9).stream(tensor.description, lost).error().message,
            "lost 1");
  EXPECT_EQ(fetches, 2u);  // nothing after the first error
  EXPECT_EQ(StreamingHoloContext(*context_, 0).stream(tensor.description, fetch).error().code,
            ErrorCode::invalid_argument);
}

TEST_P(HoloContextTest, StreamsStopDuringAFetch) {
  const EncodedTensor tensor = encoded(HolographicEncoding::embedded, DType::bf16, {200, 300});
  std::stop_source source;
  size_t fetches = 0;
  const FetchPart slow = [&](size_t part) -> Result<std::vector<std::byte>> {
    if (++fetches == 3) source.request_stop();
    return tensor.parts[part];
  };
  StreamOptions options;
  size_t told = 0;
  options.on_fragment = [&](size_t, double) { return ++told > 0; };
  options.stop = source.get_token();
  const auto streamed =
      StreamingHoloContext(*context_, 1).stream(tensor.description, slow, options);
  EXPECT_EQ(streamed.error().code, ErrorCode::cancelled);
  EXPECT_LE(told, 2u);  // what was fetched meanwhile is not used
}

// Layers count from the first one on: the last one alone gives nothing.
TEST_P(HoloContextTest, EnoughBeforeAnythingCanBeRebuilt) {
  const EncodedTensor tensor = encoded(HolographicEncoding::embedded, DType::bf16, {200, 300});
  const FetchPart fetch = [&](size_t part) -> Result<std::vector<std::byte>> {
    return tensor.parts[part];
  };
  StreamOptions options;
  options.order = std::vector<size_t>{2, 1, 0};
  options.on_fragment = [](size_t, double) { return false; };
  const auto streamed = StreamingHoloContext(*context_).stream(tensor.description, fetch, options);
  EXPECT_EQ(streamed.error().code, ErrorCode::invalid_argument);
}

TEST_P(HoloContextTest, AccumulatorsKnowTheirContext) {
  const EncodedTensor tensor = encoded(HolographicEncoding::embedded, DType::bf16, {20, 30});
  const auto other = GpuHoloContext::create(device()).value();
  GpuAccumulator accumulator = context_->create_accumulator(tensor.description).value();
  const std::span<const std::byte> part = tensor.parts[0];
  EXPECT_EQ(other->accumulate_fragment(accumulator, 0, part).error().code,
            ErrorCode::invalid_argument);
  ASSERT_TRUE(context_->accumulate_fragment(accumulator, 0, part));
  const auto out = device::Buffer::allocate(device(), kept_.size()).value();
  const auto whole = out.view().subspan(0, kept_.size());
  EXPECT_EQ(other->finalize_reconstruction(accumulator, whole).error().code,
            ErrorCode::invalid_argument);
  EXPECT_TRUE(context_->finalize_reconstruction(accumulator, whole));
  EXPECT_EQ(GpuHoloContext::create(device(), 0).error().code, ErrorCode::invalid_argument);
}

TEST_P(HoloContextTest, SeveralDevicesGatherFragments) {
  device::CpuDevice second;
  std::vector<device::Device*> devices = {&device()};
  if (device().properties().kind == device::DeviceKind::cpu) {
    devices.push_back(&second);
  } else {
    for (int i = 1; device::cuda_device(i); ++i) devices.push_back(*device::cuda_device(i));
  }
  const auto context = MultiGpuHoloContext::create(devices).value();
  for (const HolographicEncoding encoding : kEncodings) {
    const EncodedTensor tensor = encoded(encoding, DType::bf16, {128, 192});
    std::vector<NumberedPart> parts;
    for (size_t part = 0; part < tensor.parts.size(); ++part) {
      parts.push_back({part, tensor.parts[part]});
    }
    std::shuffle(parts.begin(), parts.end(), random_);
    const auto gathered = context->reconstruct(tensor.description, parts);
    ASSERT_TRUE(gathered) << gathered.error().message;
    const auto decoder = make_decoder(tensor.description).value();
    for (size_t i = 0; i < tensor.parts.size(); ++i) ASSERT_TRUE(decoder->add(i, tensor.parts[i]));
    std::vector<std::byte> expected(kept_.size());
    ASSERT_TRUE(decoder->reconstruct(expected));
    ASSERT_TRUE(
        are_alike(device(), tensor.description, download(*gathered, kept_.size()), expected));
  }
  EXPECT_EQ(MultiGpuHoloContext::create({}).error().code, ErrorCode::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(On, HoloContextTest, device::kTestDevices, device::device_name);

}  // namespace
}  // namespace hoist::tensors
