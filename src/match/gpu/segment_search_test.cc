// Who searches: the CPU at first, devices later where they are ahead; answers are always the same.
#include "match/gpu/segment_search.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "base/test_seed.h"
#include "device/test_devices.h"
#include "match/segment_builder.h"

namespace hoist::match {
namespace {

using std::chrono::seconds;

// The CPU device is slower than the CPU's own kernels.
constexpr double kFavour = 1e9;

class SegmentSearchTest : public device::OnDevices {
 protected:
  SegmentSearchTest() {
    make_segment();
    for (auto& query : queries_) {
      query.resize(10);
      for (uint32_t& symbol : query) symbol = static_cast<uint32_t>(random_() % 30);
    }
  }
  void make_segment() {
    std::vector<uint32_t> symbols(20'000);
    for (uint32_t& symbol : symbols) symbol = static_cast<uint32_t>(random_() % 30);
    std::vector<uint64_t> ends;
    for (uint64_t end = 10; end <= symbols.size(); end += 10) ends.push_back(end);
    segment_ = std::make_shared<Segment>(build_segment({symbols, ends, 30}).value());
  }

  SegmentSearch::Open open() {
    return [this]() -> Result<std::unique_ptr<GpuScan>> {
      ++opened_;
      device::Device* const devices[] = {&device()};
      auto scan = std::make_unique<GpuScan>(devices);
      scan_ = scan.get();
      return scan;
    };
  }
  std::vector<std::span<const uint32_t>> queries() const {
    return {std::begin(queries_), std::end(queries_)};
  }
  // Whether an answer is that of the CPU.
  bool is_right(SegmentSearch& searches) {
    const SearchOptions options = {.threshold = 0.3};
    const auto found = searches.search(segment_, segment_->view(), queries(), options);
    const auto expected = search(segment_->view(), queries(), options);
    return found && expected && *found == *expected;
  }
  static void wait_for_device(const SegmentSearch& searches) {
    while (searches.describe() == "cpu") std::this_thread::yield();
  }

  std::mt19937_64 random_{test_seed()};
  std::shared_ptr<Segment> segment_;
  std::vector<uint32_t> queries_[3];
  std::atomic<int> opened_ = 0;
  GpuScan* scan_ = nullptr;
};

TEST_P(SegmentSearchTest, ADeviceIsOpenedOnceItHasPaid) {
  SegmentSearch searches(open(), seconds(0), kFavour);
  EXPECT_EQ(searches.describe(), "cpu");
  EXPECT_TRUE(searches.held().empty());
  ASSERT_TRUE(is_right(searches));
  wait_for_device(searches);
  ASSERT_EQ(searches.held().size(), 1u);
  EXPECT_EQ(searches.held().front().device, device().properties().id());
  EXPECT_NE(searches.describe().find(device().properties().id() + " from "), std::string::npos);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(is_right(searches));
  EXPECT_EQ(opened_, 1);
  EXPECT_GT(scan_->held().front().bytes, 0u);
}

TEST_P(SegmentSearchTest, NotBefore) {
  SegmentSearch searches(open(), seconds(1000));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(is_right(searches));
  EXPECT_EQ(opened_, 0);
}

TEST_P(SegmentSearchTest, WithoutADeviceTheCpuGoesOn) {
  std::atomic<int> asked = 0;
  const auto none = [&]() -> Result<std::unique_ptr<GpuScan>> {
    ++asked;
    return fail(ErrorCode::unavailable, "none (test)");
  };
  SegmentSearch searches(none, seconds(0));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(is_right(searches));
  while (asked == 0) std::this_thread::yield();
  EXPECT_EQ(searches.describe(), "cpu");
  EXPECT_EQ(asked, 1);
}

TEST_P(SegmentSearchTest, ASlowDeviceIsGivenUp) {
  SegmentSearch searches(open(), seconds(0), 1 / kFavour);
  ASSERT_TRUE(is_right(searches));
  while (opened_ == 0) std::this_thread::yield();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(is_right(searches));
  EXPECT_EQ(searches.describe(), "cpu");
  EXPECT_EQ(opened_, 1);
}

TEST_P(SegmentSearchTest, ASegmentThatIsGoneIsFollowedByAnother) {
  SegmentSearch searches(open(), seconds(0), kFavour);
  ASSERT_TRUE(is_right(searches));
  make_segment();  // the first goes before, while or after the device takes it
  while (searches.describe() == "cpu") ASSERT_TRUE(is_right(searches));
  ASSERT_TRUE(is_right(searches));
  EXPECT_EQ(opened_, 1);
}

TEST_P(SegmentSearchTest, EmptyStatesAreNoExample) {
  SegmentSearch searches(open(), seconds(0), kFavour);
  const std::span<const uint32_t> none[1] = {};
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(searches.search(segment_, segment_->view(), none, {.threshold = 0.3}));
  }
  EXPECT_EQ(opened_, 0);
  ASSERT_TRUE(is_right(searches));
  wait_for_device(searches);
}

TEST_P(SegmentSearchTest, AChildSearchesByTheCpu) {
  if (device().properties().kind != device::DeviceKind::cpu) GTEST_SKIP() << "CUDA takes no fork";
  SegmentSearch searches(open()().value());
  ASSERT_TRUE(is_right(searches));
  ASSERT_EQ(scan_->statistics().on_devices, 1u);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool good = is_right(searches) && searches.describe() == "cpu";
    ::_exit(good && scan_->statistics().on_devices == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_P(SegmentSearchTest, ManyThreadsSearchMeanwhile) {
  SegmentSearch searches(open(), seconds(0), kFavour);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) wrong += is_right(searches) ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  wait_for_device(searches);
  EXPECT_EQ(opened_, 1);
}

TEST_P(SegmentSearchTest, ADeviceThatIsNamedSearchesAtOnce) {
  auto scan = open()().value();
  SegmentSearch searches(std::move(scan));
  EXPECT_EQ(searches.describe(), device().properties().id());
  searches.hold(segment_, segment_->view());
  EXPECT_GT(scan_->held().front().bytes, 0u);
  ASSERT_TRUE(is_right(searches));
  EXPECT_EQ(scan_->statistics().on_devices, 1u);
}

INSTANTIATE_TEST_SUITE_P(Match, SegmentSearchTest, device::kTestDevices, device::device_name);

TEST(SegmentSearch, NamesAreJudged) {
  EXPECT_EQ(SegmentSearch::create("cpu").value()->describe(), "cpu");
  EXPECT_EQ(SegmentSearch::create("auto").value()->describe(), "cpu");
  EXPECT_EQ(SegmentSearch::create("gpu").error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace hoist::match
