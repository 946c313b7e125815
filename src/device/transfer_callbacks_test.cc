// Ends, placements and decoding of the caller's.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "device/transfer_testing.h"

namespace hoist::device {
namespace {

class TransferCallbacksTest : public TransferTest {};
INSTANTIATE_TEST_SUITE_P(On, TransferCallbacksTest, kTestDevices, device_name);

// Every other byte of memory, as an operation's own end.
class EveryOther : public HostReader, public HostWriter {
 public:
  explicit EveryOther(std::span<std::byte> bytes) : bytes_(bytes) {}
  bool is_random_access() const override { return true; }
  Status read(uint64_t at, std::span<std::byte> into) override {
    for (size_t i = 0; i < into.size(); ++i) into[i] = bytes_[2 * (at + i)];
    return {};
  }
  Status write(uint64_t at, std::span<const std::byte> from) override {
    for (size_t i = 0; i < from.size(); ++i) bytes_[2 * (at + i)] = from[i];
    return {};
  }

 private:
  std::span<std::byte> bytes_;
};

TEST_P(TransferCallbacksTest, AnEndOfTheCallers) {
  constexpr size_t kSize = 10 * kChunk + 3;
  std::vector<std::byte> sent = random_bytes(2 * kSize);
  std::vector<std::byte> received(2 * kSize, std::byte{0});
  EveryOther from(sent);
  EveryOther to(received);
  Buffer buffer = poisoned(kSize);
  ASSERT_TRUE(transfer_->upload(static_cast<HostReader*>(&from), buffer.view()));
  ASSERT_TRUE(transfer_->download(buffer.view(), static_cast<HostWriter*>(&to)));
  for (size_t i = 1; i < 2 * kSize; i += 2) sent[i] = std::byte{0};
  EXPECT_EQ(received, sent);
}

// One piece takes long, so that the others run ahead, and help.
class SlowInOnePlace : public HostReader {
 public:
  SlowInOnePlace(std::span<const std::byte> bytes, size_t slow_at)
      : bytes_(bytes), slow_at_(slow_at) {}
  Status read(uint64_t at, std::span<std::byte> into) override {
    if (at == slow_at_) std::this_thread::sleep_for(std::chrono::milliseconds(15));
    std::copy_n(bytes_.begin() + static_cast<long>(at), into.size(), into.begin());
    return {};
  }

 private:
  const std::span<const std::byte> bytes_;
  const size_t slow_at_;
};

TEST_P(TransferCallbacksTest, ChunksAreEnqueuedInOrderHoweverSlowAThreadIs) {
  const std::vector<std::byte> sent = random_bytes(60 * kChunk + 5);
  Buffer buffer = poisoned(sent.size());
  for (const size_t slow : {0, 3, 8, 59, 60}) {
    uint64_t next = 0;
    const auto note = [&](uint64_t offset, size_t size, Stream&) -> Status {
      EXPECT_EQ(offset, next);
      EXPECT_LE(size, kLargest);
      next += size;
      return {};
    };
    SlowInOnePlace reader(sent, slow * kChunk);
    ASSERT_TRUE(transfer_->upload(&reader, buffer.view(), {.enqueued = note}));
    EXPECT_EQ(next, sent.size());
    EXPECT_EQ(content_of(buffer), sent);
  }
}

// A ring of five chunks: each copy behind the one whose place it takes was looked at.
TEST_P(TransferCallbacksTest, PlacesMayBeUsedAgain) {
  constexpr size_t kRing = 5 * kChunk - 100;  // chunks lie across its end
  const std::vector<std::byte> sent = random_bytes(40 * kChunk + 17);
  const size_t skipped_from = 9 * kChunk + 5;
  const size_t skipped_to = 11 * kChunk + 50;
  Buffer ring = poisoned(kRing);
  Buffer kept = poisoned(sent.size());
  std::mutex mutex;
  std::vector<std::pair<size_t, size_t>> arrived;  // and enqueued to be kept
  size_t kept_until = 0;
  const Placement place = [&](uint64_t offset, size_t size,
                              Stream&) -> Result<std::optional<Span<std::byte>>> {
    if (offset >= skipped_from && offset < skipped_to) {
      return Span<std::byte>{nullptr, std::min(size, skipped_to - offset), &device()};
    }
    if (offset < skipped_from) size = std::min(size, skipped_from - offset);
    size = std::min(size, kRing - offset % kRing);
    const std::lock_guard lock(mutex);
    if (offset + size > kept_until + kRing) return std::nullopt;
    return ring.view().subspan(offset % kRing, size);
  };
  // All on one stream, so what is kept here is kept before it is overwritten.
  const auto keep = [&](uint64_t offset, size_t size, Stream& stream) -> Status {
    const std::lock_guard lock(mutex);
    arrived.emplace_back(offset, offset + size);
    std::sort(arrived.begin(), arrived.end());
    while (!arrived.empty() && arrived.front().first == kept_until) {
      for (size_t at = kept_until; at < arrived.front().second;) {
        const size_t size = std::min(arrived.front().second - at, kRing - at % kRing);
        Status copied = stream.copy(kept.view().data + at, ring.view().data + at % kRing, size);
        if (!copied) return copied;
        at += size;
      }
      kept_until = arrived.front().second;
      arrived.erase(arrived.begin());
    }
    return {};
  };
  const Status done = transfer_->upload_placed(std::span<const std::byte>(sent), sent.size(), place,
                                               {.enqueued = keep});
  ASSERT_TRUE(done) << done.error().message;
  const std::vector<std::byte> content = content_of(kept);
  for (size_t at = 0; at < sent.size(); ++at) {
    if (at >= skipped_from && at < skipped_to) continue;
    ASSERT_EQ(content[at], sent[at]) << at;
  }
}

TEST_P(TransferCallbacksTest, WhatAPlacementAnswersEndsIt) {
  const std::vector<std::byte> sent = random_bytes(100 * kChunk);
  Buffer buffer = poisoned(sent.size());
  const Placement failing = [&](uint64_t offset, size_t size,
                                Stream&) -> Result<std::optional<Span<std::byte>>> {
    if (offset == 3 * kChunk) return fail(ErrorCode::corrupt, "a bad place");
    return buffer.view().subspan(offset, std::min(size, 3 * kChunk - offset));
  };
  std::atomic<int> enqueued = 0;
  const auto count = [&](uint64_t, size_t, Stream&) -> Status {
    ++enqueued;
    return {};
  };
  const Status done = transfer_->upload_placed(std::span<const std::byte>(sent), sent.size(),
                                               failing, {.enqueued = count});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::corrupt);
  EXPECT_LE(enqueued, 3);  // never what was not placed

  std::stop_source stop;
  int calls = 0;
  const Placement never = [&](uint64_t, size_t, Stream&) -> Result<std::optional<Span<std::byte>>> {
    if (++calls > 100) stop.request_stop();
    return std::nullopt;
  };
  EXPECT_EQ(transfer_
                ->upload_placed(std::span<const std::byte>(sent), sent.size(), never,
                                {.stop = stop.get_token()})
                .error()
                .code,
            ErrorCode::cancelled);
  round_trip(*transfer_, 10 * kChunk);  // the workers are sound
}

TEST_P(TransferCallbacksTest, PlacesThatCannotBeAreRefused) {
  const std::vector<std::byte> sent = random_bytes(20 * kChunk);
  Buffer buffer = poisoned(2 * kChunk);
  const Span<std::byte> places[] = {buffer.view().subspan(0, 0),
                                    buffer.view().subspan(0, kChunk + 1),
                                    {buffer.view().data, kChunk, nullptr}};
  for (const Span<std::byte>& wrong : places) {
    const Placement place = [&](uint64_t, size_t, Stream&) { return std::optional(wrong); };
    EXPECT_EQ(
        transfer_->upload_placed(std::span<const std::byte>(sent), sent.size(), place).error().code,
        ErrorCode::invalid_argument);
  }
}

TEST_P(TransferCallbacksTest, ChunksAreDecoded) {
  // Doubles each byte: the chunk goes to two places.
  const std::vector<std::byte> sent = random_bytes(9 * 1000 + 17);
  for (const size_t chunk : {size_t{1000}, size_t{17}, kChunk, kLargest}) {
    Buffer buffer = poisoned(2 * sent.size());
    std::byte* const to = buffer.view().data;
    const auto decode = [&](Span<const std::byte> staged, uint64_t offset,
                            Stream& stream) -> Status {
      EXPECT_EQ(offset % chunk, 0u);
      EXPECT_EQ(staged.size, std::min(chunk, sent.size() - offset));
      if (Status one = stream.copy(to + offset, staged.data, staged.size); !one) return one;
      return stream.copy(to + sent.size() + offset, staged.data, staged.size);
    };
    const Status done =
        transfer_->upload_decoded(std::span<const std::byte>(sent), sent.size(), chunk, decode);
    ASSERT_TRUE(done) << done.error().message;
    std::vector<std::byte> expected = sent;
    expected.insert(expected.end(), sent.begin(), sent.end());
    EXPECT_EQ(content_of(buffer), expected);
  }
}

TEST_P(TransferCallbacksTest, WhatDecodingAnswersEndsIt) {
  const std::vector<std::byte> sent = random_bytes(100 * kChunk);
  std::atomic<int> calls = 0;
  const auto decode = [&](Span<const std::byte>, uint64_t, Stream&) -> Status {
    if (++calls == 5) return fail(ErrorCode::corrupt, "a bad block");
    return {};
  };
  const Status done =
      transfer_->upload_decoded(std::span<const std::byte>(sent), sent.size(), kChunk, decode);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::corrupt);
  EXPECT_LT(calls, 100);
  round_trip(*transfer_, 10 * kChunk);  // the workers are sound
}

// A loop that frees its memory as its bytes arrive.
TEST_P(TransferCallbacksTest, APlacementMayWaitForWhatHasArrived) {
  const std::vector<std::byte> sent = random_bytes(60 * kChunk + 5);
  Buffer buffer = poisoned(sent.size());
  std::atomic<uint64_t> progress = 0;
  bool has_waited = false;
  std::atomic<bool> go_on = false;
  const Placement place = [&](uint64_t offset, size_t size,
                              Stream& stream) -> Result<std::optional<Span<std::byte>>> {
    // Nothing arrives before it has been answered "not yet" once.
    if (offset == 0 && !stream.call([&] { go_on.wait(false); })) ADD_FAILURE();
    if (offset > progress + kLargest) {
      has_waited = true;
      go_on = true;
      go_on.notify_all();
      return std::nullopt;
    }
    return buffer.view().subspan(offset, std::min(size, kChunk));
  };
  const Status done = transfer_->upload_placed(std::span<const std::byte>(sent), sent.size(), place,
                                               {.progress = &progress});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(has_waited);
  EXPECT_EQ(progress, sent.size());
  EXPECT_EQ(content_of(buffer), sent);
}

// Fails, or throws, at one place.
class Troubled : public HostReader, public HostWriter {
 public:
  Troubled(size_t at, bool throws) : at_(at), throws_(throws) {}
  bool is_random_access() const override { return true; }
  Status read(uint64_t at, std::span<std::byte> into) override { return meet(at, into.size()); }
  Status write(uint64_t at, std::span<const std::byte> from) override {
    return meet(at, from.size());
  }

 private:
  Status meet(uint64_t at, size_t size) const {
    if (at_ < at || at_ >= at + size) return {};
    if (throws_) throw std::runtime_error("a bad end");
    return fail(ErrorCode::corrupt, "a bad end");
  }

  const size_t at_;
  const bool throws_;
};

TEST_P(TransferCallbacksTest, WhatAnEndAnswersOrThrowsEndsIt) {
  Transfer by_kernel(*pool_, [] {
    TransferTuning tuning = tuning_of(4, 0, 0);
    tuning.copy_kernel_limit = UINT64_MAX;
    return tuning;
  }());
  Buffer buffer = poisoned((size_t{1} << 20) + 4 * kChunk);  // enough for a copy kernel
  for (Transfer* const transfer : {transfer_.get(), &by_kernel}) {
    for (const size_t at : {size_t{0}, 20 * kChunk, buffer.size() - 1}) {
      for (const bool throws : {false, true}) {
        Troubled end(at, throws);
        const Status up = transfer->upload(static_cast<HostReader*>(&end), buffer.view());
        const Status down = transfer->download(buffer.view(), static_cast<HostWriter*>(&end));
        for (const Status& done : {up, down}) {
          ASSERT_FALSE(done);
          EXPECT_EQ(done.error().code, throws ? ErrorCode::internal : ErrorCode::corrupt);
          EXPECT_EQ(done.error().message.rfind("a bad end", 0), 0u);
        }
      }
    }
    round_trip(*transfer, 50 * kChunk);
  }
}

TEST_P(TransferCallbacksTest, WhatAPlacementThrowsEndsIt) {
  const std::vector<std::byte> sent = random_bytes(100 * kChunk);
  const Placement place = [&](uint64_t offset, size_t size,
                              Stream&) -> Result<std::optional<Span<std::byte>>> {
    if (offset >= 30 * kChunk) throw std::bad_alloc();
    return Span<std::byte>{nullptr, size, &device()};
  };
  const Status done =
      transfer_->upload_placed(std::span<const std::byte>(sent), sent.size(), place);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::exhausted);
  round_trip(*transfer_, 50 * kChunk);
}

}  // namespace
}  // namespace hoist::device
