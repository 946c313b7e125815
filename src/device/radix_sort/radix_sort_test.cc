// Radix sort on every device, against the comparison of the elements' own type.
#include "device/radix_sort/radix_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "base/test_seed.h"
#include "device/buffer.h"
#include "device/radix_sort/served_radix_sort.h"
#include "device/radix_sort/there_and_back.h"
#include "device/test_devices.h"

namespace hoist::device::radix_sort {
namespace {

using Bytes = std::vector<std::byte>;

constexpr Kind kAll[] = {Kind::u32, Kind::i32, Kind::f32,  Kind::u64,
                         Kind::i64, Kind::f64, Kind::entry};

template <typename T>
void sort_as(bool descending, Bytes& bytes) {
  if (bytes.empty()) return;
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  std::stable_sort(values.begin(), values.end(), [=](T a, T b) {
    return descending ? std::strong_order(b, a) < 0 : std::strong_order(a, b) < 0;
  });
  std::memcpy(bytes.data(), values.data(), bytes.size());
}

// The oracle.
Bytes sorted(Kind kind, bool descending, Bytes bytes) {
  switch (kind) {
    case Kind::u32:
      sort_as<uint32_t>(descending, bytes);
      break;
    case Kind::i32:
      sort_as<int32_t>(descending, bytes);
      break;
    case Kind::f32:
      sort_as<float>(descending, bytes);
      break;
    case Kind::u64:
      sort_as<uint64_t>(descending, bytes);
      break;
    case Kind::i64:
      sort_as<int64_t>(descending, bytes);
      break;
    case Kind::f64:
      sort_as<double>(descending, bytes);
      break;
    case Kind::entry: {
      auto* const entries = reinterpret_cast<Entry*>(bytes.data());
      std::stable_sort(entries, entries + bytes.size() / sizeof(Entry),
                       [=](const Entry& a, const Entry& b) {
                         return descending ? b.key < a.key : a.key < b.key;
                       });
      break;
    }
  }
  return bytes;
}

enum class Content { random, few_keys, all_equal, ascending, high_bits, low_bits, special };
constexpr Content kContents[] = {Content::random,    Content::few_keys,  Content::all_equal,
                                 Content::ascending, Content::high_bits, Content::low_bits,
                                 Content::special};

// Elements whose keys are as said; payloads of entries tell their place.
template <typename Word>
Word key(Content content, Kind kind, uint64_t random, uint64_t index) {
  constexpr int kBits = 8 * sizeof(Word);
  switch (content) {
    case Content::few_keys:
      return static_cast<Word>(random % 3);
    case Content::all_equal:
      return static_cast<Word>(0x8080808080808080);
    case Content::ascending:
      return static_cast<Word>(index);
    case Content::high_bits:
      return static_cast<Word>(static_cast<Word>(random) << (kBits - 5));
    case Content::low_bits:
      return static_cast<Word>(random & 0x1f);
    case Content::special: {  // zeros, infinities and NaNs of both signs, where they are floats
      const Word exponent =
          kind == Kind::f64 ? static_cast<Word>(0x7ff0000000000000) : static_cast<Word>(0x7f800000);
      const Word values[] = {0, exponent, static_cast<Word>(exponent + 1), static_cast<Word>(~0)};
      return values[random % 4] | static_cast<Word>((random >> 8 & 1) << (kBits - 1));
    }
    case Content::random:
      break;
  }
  return static_cast<Word>(random);
}

Bytes elements(Kind kind, Content content, uint64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(count * element_size(kind));
  for (uint64_t i = 0; i < count; ++i) {
    std::byte* const at = bytes.data() + i * element_size(kind);
    if (element_size(kind) == 4) {
      const auto word = key<uint32_t>(content, kind, random(), i);
      std::memcpy(at, &word, sizeof word);
    } else if (kind == Kind::entry) {
      const Entry entry = {i << 20 | 7, key<uint64_t>(content, kind, random(), i)};
      std::memcpy(at, &entry, sizeof entry);
    } else {
      const auto word = key<uint64_t>(content, kind, random(), i);
      std::memcpy(at, &word, sizeof word);
    }
  }
  return bytes;
}

class RadixSort : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(Device, RadixSort, kTestDevices, device_name);

TEST_P(RadixSort, EqualsTheOrderOfTheType) {
  const uint64_t seed = test_seed();
  const Result<Stream> stream = Stream::create(device());
  ASSERT_TRUE(stream) << stream.error().message;
  for (const uint64_t count : {1, 2, 3, 31, 255, 256, 257, 4095, 9217, 70001}) {
    for (const Kind kind : kAll) {
      for (const Content content : kContents) {
        for (const bool descending : {false, true}) {
          SCOPED_TRACE(testing::Message() << "seed " << seed << " count " << count << " kind "
                                          << static_cast<int>(kind) << " content "
                                          << static_cast<int>(content) << descending);
          Bytes bytes = elements(kind, content, count, seed + count);
          auto data = Buffer::copy_of(device(), bytes);
          auto scratch = Buffer::allocate(device(), bytes.size());
          ASSERT_TRUE(data && scratch && scratch->fill(std::byte{0xa5}));
          const Status done =
              enqueue(*stream, {kind, descending, static_cast<std::byte*>(data->data()),
                                static_cast<std::byte*>(scratch->data()), count});
          ASSERT_TRUE(done) << done.error().message;
          ASSERT_TRUE(device().synchronize(stream->handle()));
          const Bytes expected = sorted(kind, descending, bytes);
          ASSERT_TRUE(data->download(bytes));
          ASSERT_EQ(bytes, expected);
        }
      }
    }
  }
}

TEST_P(RadixSort, GoesThereAndBack) {
  const uint64_t seed = test_seed();
  PinnedPool pool(device());
  Transfer transfer(pool);
  for (const uint64_t count : {0, 1, 1000, 700'001}) {  // the last in several chunks
    for (const Kind kind : kAll) {
      SCOPED_TRACE(testing::Message()
                   << "seed " << seed << " count " << count << " kind " << static_cast<int>(kind));
      const Bytes bytes = elements(kind, Content::random, count, seed);
      Bytes result(bytes.size(), std::byte{0x5a});
      Status done = sort({kind, false, bytes, result}, device(), transfer);
      ASSERT_TRUE(done) << done.error().message;
      EXPECT_EQ(result, sorted(kind, false, bytes));
      Bytes in_place = bytes;
      Bytes copy(bytes.size());
      done = sort({kind, true, in_place, in_place, copy}, device(), transfer);
      ASSERT_TRUE(done) << done.error().message;
      EXPECT_EQ(in_place, sorted(kind, true, bytes));
      EXPECT_EQ(copy, bytes);
    }
  }
}

TEST_P(RadixSort, RefusesWhatIsNotPlainWhereAsked) {
  PinnedPool pool(device());
  Transfer transfer(pool);
  const std::pair<Kind, uint64_t> floats[] = {{Kind::f32, 0x80000000},
                                              {Kind::f32, 0x7f800001},
                                              {Kind::f32, 0xffc00000},
                                              {Kind::f64, 0x8000000000000000},
                                              {Kind::f64, 0x7ff0000000000001}};
  for (const auto& [kind, bits] : floats) {
    Bytes bytes = elements(kind, Content::ascending, 700'001, 1);  // denormal numbers
    EXPECT_TRUE(sort({kind, false, bytes, bytes, {}, true}, device(), transfer));
    std::memcpy(bytes.data() + 650'000 * element_size(kind), &bits, element_size(kind));
    const Bytes before = bytes;
    const Status done = sort({kind, false, bytes, bytes, {}, true}, device(), transfer);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::unsupported);
    EXPECT_EQ(bytes, before);
  }
}

// Wherever the device is lost, there is an error or the right result, and what was to be sorted is
// as it was.
TEST(Failure, KeepsTheInput) {
  constexpr uint64_t kCount = 700'001;
  const Bytes bytes = elements(Kind::entry, Content::random, kCount, 1);
  const Bytes expected = sorted(Kind::entry, false, bytes);
  int failures = 0;
  for (int operations = 0; operations < 200; operations = operations * 5 / 4 + 1) {
    FailingDevice device(operations);
    PinnedPool pool(device);
    Transfer transfer(pool);
    Bytes result(bytes.size());
    const Status done = sort({Kind::entry, false, bytes, result}, device, transfer);
    if (done) {
      EXPECT_EQ(result, expected);
    } else {
      EXPECT_EQ(done.error().code, ErrorCode::unavailable) << done.error().message;
      ++failures;
    }
  }
  EXPECT_GT(failures, 5);
  EXPECT_EQ(bytes, elements(Kind::entry, Content::random, kCount, 1));
}

// In place: what is not sorted is either as it was, or `wrote` says that it is not.
TEST(Failure, SaysWhatItHasWritten) {
  constexpr uint64_t kCount = 700'001;
  const Bytes before = elements(Kind::entry, Content::random, kCount, 1);
  const Bytes expected = sorted(Kind::entry, false, before);
  int kept = 0;
  int lost = 0;
  for (int operations = 0; operations < 130; operations += 2) {
    FailingDevice device(operations);
    PinnedPool pool(device);
    Transfer transfer(pool, tuning_for(16));
    Bytes bytes = before;
    bool wrote = true;
    const Status done =
        sort({.kind = Kind::entry, .from = bytes, .to = bytes, .wrote = &wrote}, device, transfer);
    if (done) {
      EXPECT_EQ(bytes, expected) << operations;
    } else if (wrote) {
      ++lost;
    } else {
      EXPECT_EQ(bytes, before) << operations;
      ++kept;
    }
  }
  EXPECT_GT(kept, 5);
  EXPECT_GT(lost, 1);
}

// Has no memory left when it is to wait for a stream once more, as it does when all is back.
class ShortOfMemory : public CpuDevice {
 public:
  explicit ShortOfMemory(int waits) : left_(waits) {}
  Status synchronize(StreamHandle stream) override {
    Status done = CpuDevice::synchronize(stream);
    if (--left_ == 0) throw std::bad_alloc();
    return done;
  }

 private:
  std::atomic<int> left_;
};

TEST(Failure, SaysWhatItHasWrittenWhereMemoryEnds) {
  const Bytes before = elements(Kind::entry, Content::random, 700'001, 1);
  const Bytes expected = sorted(Kind::entry, false, before);
  int lost = 0;
  for (int waits = 1; waits < 6; ++waits) {
    ShortOfMemory device(waits);
    PinnedPool pool(device);
    Transfer transfer(pool);
    Bytes bytes = before;
    bool wrote = true;
    const Status done =
        sort({.kind = Kind::entry, .from = bytes, .to = bytes, .wrote = &wrote}, device, transfer);
    if (done) {
      EXPECT_EQ(bytes, expected);
      continue;
    }
    EXPECT_EQ(done.error().code, ErrorCode::exhausted) << done.error().message;
    EXPECT_EQ(wrote, bytes != before) << waits;
    lost += wrote ? 1 : 0;
  }
  EXPECT_GT(lost, 0);
}

// Changes what one of its copies has brought.
class LyingDevice : public CpuDevice {
 public:
  using Lie = std::function<void(std::span<std::byte> bytes)>;
  LyingDevice(int honest_copies, Lie lie) : left_(honest_copies), lie_(std::move(lie)) {}
  Status copy(void* to, const void* from, size_t size, StreamHandle stream) override {
    if (Status copied = CpuDevice::copy(to, from, size, stream); !copied) return copied;
    if (left_-- != 0) return {};
    const auto lie = [this, to, size] { lie_({static_cast<std::byte*>(to), size}); };
    if (stream.pointer != nullptr) return CpuDevice::call(stream, lie);
    lie();
    return {};
  }

 private:
  std::atomic<int> left_;
  const Lie lie_;
};

void flip_a_bit_in_the_middle(std::span<std::byte> bytes) {
  bytes[bytes.size() / 2] ^= std::byte{0x10};
}

TEST(Failure, WhatComesBackIsNotBelieved) {
  constexpr uint64_t kCount = 700'001;
  int caught = 0;
  for (const Kind kind : {Kind::i32, Kind::entry}) {
    const Bytes bytes = elements(kind, Content::random, kCount, 1);
    const Bytes expected = sorted(kind, false, bytes);
    for (int honest = 0; honest < 20; honest += 3) {
      LyingDevice device(honest, flip_a_bit_in_the_middle);
      PinnedPool pool(device);
      Transfer transfer(pool);
      Bytes result(bytes.size());
      const Status done = sort({kind, false, bytes, result}, device, transfer);
      if (done) {
        EXPECT_EQ(result, expected) << honest;  // that many copies were not made
      } else {
        EXPECT_EQ(done.error().code, ErrorCode::corrupt) << done.error().message;
        ++caught;
      }
    }
  }
  EXPECT_GT(caught, 3);
}

// On the way up, so that the order is right: a line that is stuck for two of the elements, in one
// of which it should have been 0, in the other 1.
TEST(Failure, TwoChangesDoNotMakeUpForEachOther) {
  constexpr uint64_t kCount = 100'001;
  for (const Kind kind : {Kind::u32, Kind::u64, Kind::entry}) {
    const size_t size = element_size(kind);
    const size_t key_at = kind == Kind::entry ? 8 : 0;
    for (size_t bit = 8 * key_at; bit < 8 * size; ++bit) {
      const Bytes before = elements(kind, Content::random, kCount, bit);
      const auto flip = [=](std::span<std::byte> bytes) {
        const std::byte mask{static_cast<unsigned char>(1U << bit % 8)};
        std::byte* const first = bytes.data() + 100 * size + bit / 8;
        std::byte* second = first + size;
        while (((*first ^ *second) & mask) == std::byte{0}) second += size;
        *first ^= mask;
        *second ^= mask;
      };
      LyingDevice device(0, flip);
      PinnedPool pool(device);
      Transfer transfer(pool);
      Bytes bytes = before;
      const Status done = sort({.kind = kind, .from = bytes, .to = bytes}, device, transfer);
      ASSERT_FALSE(done) << static_cast<int>(kind) << " bit " << bit;
      EXPECT_EQ(done.error().code, ErrorCode::corrupt);
    }
  }
}

// Entries whose keys and payloads differ in one bit each, and have one another's payload.
TEST(Failure, KeysKeepTheirPayloads) {
  for (int key_bit = 0; key_bit < 64; ++key_bit) {
    for (int payload_bit = 20; payload_bit < 36; ++payload_bit) {
      Bytes bytes(4 * sizeof(Entry));
      auto* const entries = reinterpret_cast<Entry*>(bytes.data());
      const uint64_t key = 0x0123456789abcdef;
      entries[0] = {1, 5};
      entries[1] = {uint64_t{1} << 40, key};
      entries[2] = {uint64_t{1} << 40 | uint64_t{1} << payload_bit, key ^ uint64_t{1} << key_bit};
      entries[3] = {uint64_t{1} << 50, ~uint64_t{0}};
      LyingDevice device(0, [](std::span<std::byte> brought) {
        auto* const there = reinterpret_cast<Entry*>(brought.data());
        std::swap(there[1].payload, there[2].payload);
      });
      PinnedPool pool(device);
      Transfer transfer(pool);
      const Status done = sort({.kind = Kind::entry, .from = bytes, .to = bytes}, device, transfer);
      ASSERT_FALSE(done) << key_bit << " " << payload_bit;
      EXPECT_EQ(done.error().code, ErrorCode::corrupt);
    }
  }
}

class SmallDevice : public CpuDevice {
 public:
  Result<void*> allocate(size_t size, StreamHandle stream) override {
    if (size > 1 << 20) return fail(ErrorCode::exhausted, "full (test)");
    return CpuDevice::allocate(size, stream);
  }
};

TEST(Failure, TooLittleMemoryIsExhausted) {
  SmallDevice device;
  PinnedPool pool(device);
  Transfer transfer(pool);
  Bytes bytes = elements(Kind::u64, Content::random, 1 << 18, 1);
  const Bytes before = bytes;
  const Status done = sort({Kind::u64, false, bytes, bytes}, device, transfer);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::exhausted);
  EXPECT_EQ(bytes, before);
}

// What a stranger may send to hoistd.
class Request : public testing::Test {
 protected:
  bool is_valid(std::vector<uint64_t> arguments, uint64_t first, uint64_t second,
                uint64_t distance = 4096) {
    const std::vector<remote::ServedMemory> memory = {{memory_, first, false},
                                                      {memory_ + distance, second, false}};
    return ServedRadixSort().validate({cpu_device(), {}, memory, arguments}).has_value();
  }
  alignas(16) std::byte memory_[64] = {};  // named, never touched
};

TEST_F(Request, SizesMustFitTheCount) {
  EXPECT_TRUE(is_valid({0, 0, 256}, 1024, 1024));
  EXPECT_TRUE(is_valid({6, 1, 256}, 4096, 4096));
  EXPECT_FALSE(is_valid({6, 1, 256}, 4096, 4095));
  EXPECT_FALSE(is_valid({6, 1, 256}, 2048, 4096));
  EXPECT_FALSE(is_valid({0, 0, 257}, 1024, 1024));
  // 2^62 + 1 elements of 4 bytes are 4 bytes, modulo 2^64.
  EXPECT_FALSE(is_valid({0, 0, (uint64_t{1} << 62) + 1}, 4, 4));
}

TEST_F(Request, NumbersMustBePossible) {
  EXPECT_FALSE(is_valid({kKinds, 0, 1}, 4, 4));
  EXPECT_FALSE(is_valid({uint64_t{1} << 32, 0, 1}, 4, 4));
  EXPECT_FALSE(is_valid({0, 2, 1}, 4, 4));
  EXPECT_FALSE(is_valid({0, 0}, 4, 4));
  EXPECT_FALSE(is_valid({0, 0, 1, 0}, 4, 4));
}

TEST_F(Request, RangesMustBeApartAndAligned) {
  EXPECT_FALSE(is_valid({0, 0, 256}, 1024, 1024, 1008));
  EXPECT_FALSE(is_valid({0, 0, 256}, 1024, 1024, 0));
  EXPECT_FALSE(is_valid({0, 0, 256}, 1024, 1024, 1032));
  EXPECT_TRUE(is_valid({0, 0, 256}, 1024, 1024, 1024));
}

}  // namespace
}  // namespace hoist::device::radix_sort
