#include "device/device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "device/buffer.h"
#include "device/stream.h"
#include "device/test_devices.h"

namespace hoist::device {
namespace {

TEST(Devices, TheCpuIsTheFirst) {
  const std::vector<Device*> list = devices();
  ASSERT_FALSE(list.empty());
  EXPECT_EQ(list.front(), &cpu_device());
  EXPECT_EQ(list.front()->properties().id(), "cpu");
  EXPECT_GT(list.front()->properties().memory, 0u);
  for (size_t i = 1; i < list.size(); ++i) {
    EXPECT_EQ(list[i]->properties().id(), "cuda:" + std::to_string(i - 1));
    EXPECT_FALSE(list[i]->properties().name.empty());
    EXPECT_GT(list[i]->properties().memory, 0u);
  }
}

TEST(Devices, AreFoundByName) {
  EXPECT_EQ(*find_device("cpu"), &cpu_device());
  EXPECT_EQ(*find_device("auto"), devices().size() > 1 ? devices()[1] : &cpu_device());
  const Result<Device*> far = find_device("cuda:999999");
  ASSERT_FALSE(far);
  EXPECT_TRUE(far.error().code == ErrorCode::unavailable ||
              far.error().code == ErrorCode::not_found);
  for (const char* name : {"", "gpu", "cuda:", "cuda:x", "cuda:1x", "CPU"}) {
    EXPECT_EQ(find_device(name).error().code, ErrorCode::invalid_argument) << name;
  }
}

TEST(Devices, OnlyThoseOfAKindShareMemory) {
  for (Device* device : devices()) {
    EXPECT_TRUE(device->can_access(*device));
    EXPECT_TRUE(device->allow_access(*device));
    for (Device* peer : devices()) {
      if (device->can_access(*peer)) {
        EXPECT_TRUE(device->allow_access(*peer));
      } else {
        EXPECT_EQ(device->allow_access(*peer).error().code, ErrorCode::unsupported);
      }
    }
  }
}

// From the memory of one to that of another, in the order of their streams, both ways and by either
// one's stream.
void copy_between(Device& one, Device& other) {
  const size_t size = (size_t{8} << 20) + 3;
  const std::vector<std::byte> sent = random_bytes(size);
  ASSERT_TRUE(one.allow_access(other));
  Result<Buffer> there = Buffer::allocate(other, size);
  Result<Buffer> here = Buffer::allocate(one, size);
  ASSERT_TRUE(there && here);
  for (Device* copying : {&one, &other}) {
    if (!copying->can_access(copying == &one ? other : one)) continue;
    ASSERT_TRUE(copying->allow_access(copying == &one ? other : one));
    ASSERT_TRUE(here->upload(sent));
    ASSERT_TRUE(there->fill(std::byte{0}));
    Result<Stream> stream = Stream::create(*copying);
    Result<Stream> next = Stream::create(one);
    Result<Event> copied = Event::create(*copying);
    ASSERT_TRUE(stream && next && copied);
    ASSERT_TRUE(stream->copy(there->data(), here->data(), size));
    ASSERT_TRUE(copied->record(*stream));
    ASSERT_TRUE(next->wait(*copied));
    ASSERT_TRUE(next->fill(here->data(), std::byte{1}, size));
    ASSERT_TRUE(next->copy(here->data(), there->data(), size));
    ASSERT_TRUE(next->synchronize());
    std::vector<std::byte> received(size);
    ASSERT_TRUE(here->download(received));
    EXPECT_EQ(received, sent);
    ASSERT_TRUE(there->download(received));
    EXPECT_EQ(received, sent);
  }
}

TEST(Devices, PeersCopyToEachOther) {
  CpuDevice another;
  std::vector<Device*> list = devices();
  list.push_back(&another);
  for (Device* one : list) {
    for (Device* other : list) {
      if (one == other || !one->can_access(*other)) continue;
      SCOPED_TRACE(one->properties().id() + " and " + other->properties().id());
      copy_between(*one, *other);
    }
  }
}

class DeviceTest : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(On, DeviceTest, kTestDevices, device_name);

TEST_P(DeviceTest, BytesGoThereAndBack) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4095}, size_t{1} << 20}) {
    const std::vector<std::byte> sent = random_bytes(size);
    Result<Buffer> buffer = Buffer::copy_of(device(), sent);
    ASSERT_TRUE(buffer) << buffer.error().message;
    EXPECT_EQ(buffer->size(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 256, 0u);
    std::vector<std::byte> received(size);
    ASSERT_TRUE(buffer->download(received));
    EXPECT_EQ(received, sent);
  }
}

TEST_P(DeviceTest, ABorrowedStreamStaysItsOwners) {
  Result<Stream> owner = Stream::create(device());
  ASSERT_TRUE(owner) << owner.error().message;
  Result<Buffer> buffer = Buffer::allocate(device(), 64);
  ASSERT_TRUE(buffer) << buffer.error().message;
  {
    Stream borrowed = Stream::borrow(device(), owner->handle());
    Stream moved = std::move(borrowed);
    ASSERT_TRUE(moved.fill(buffer->data(), std::byte{7}, 64));
  }
  ASSERT_TRUE(owner->synchronize());
  std::vector<std::byte> received(64);
  ASSERT_TRUE(buffer->download(received));
  EXPECT_EQ(received, std::vector(64, std::byte{7}));
}

TEST_P(DeviceTest, RangesOutsideAreRefused) {
  Result<Buffer> buffer = Buffer::allocate(device(), 100);
  ASSERT_TRUE(buffer);
  std::vector<std::byte> bytes(60);
  EXPECT_TRUE(buffer->upload(bytes, 40));
  EXPECT_EQ(buffer->upload(bytes, 41).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(buffer->download(bytes, SIZE_MAX).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(buffer->view<uint64_t>().size, 12u);
  EXPECT_EQ(buffer->view<uint64_t>().subspan(2, 10).size_bytes(), 80u);
}

TEST_P(DeviceTest, MoreThanThereIsIsExhausted) {
  Result<Stream> stream = Stream::create(device());
  ASSERT_TRUE(stream);
  for (const size_t size : {size_t{1} << 60, SIZE_MAX}) {
    EXPECT_FALSE(Buffer::allocate(device(), size));
    EXPECT_FALSE(Buffer::allocate(*stream, size));
  }
  EXPECT_EQ(Buffer::allocate(device(), size_t{1} << 60).error().code, ErrorCode::exhausted);
  // What was answered is not held against the work that follows.
  EXPECT_TRUE(stream->synchronize());
  EXPECT_TRUE(device().status());
}

TEST_P(DeviceTest, AStreamKeepsItsOrder) {
  Result<Stream> stream = Stream::create(device());
  ASSERT_TRUE(stream) << stream.error().message;
  constexpr size_t kSize = 1 << 20;
  Result<Buffer> one = Buffer::allocate(*stream, kSize);
  Result<Buffer> two = Buffer::allocate(*stream, kSize);
  ASSERT_TRUE(one && two);
  std::vector<int> order;
  ASSERT_TRUE(stream->fill(one->data(), std::byte{1}, kSize));
  ASSERT_TRUE(stream->call([&] { order.push_back(1); }));
  ASSERT_TRUE(stream->copy(two->data(), one->data(), kSize));
  ASSERT_TRUE(stream->fill(one->data(), std::byte{2}, kSize));
  ASSERT_TRUE(stream->call([&] { order.push_back(2); }));
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(order, (std::vector{1, 2}));
  std::vector<std::byte> bytes(kSize);
  ASSERT_TRUE(two->download(bytes));
  EXPECT_EQ(std::ranges::count(bytes, std::byte{1}), static_cast<long>(kSize));
  ASSERT_TRUE(one->download(bytes));
  EXPECT_EQ(std::ranges::count(bytes, std::byte{2}), static_cast<long>(kSize));
}

TEST_P(DeviceTest, EventsOrderStreams) {
  Result<Stream> first = Stream::create(device());
  Result<Stream> second = Stream::create(device());
  Result<Event> event = Event::create(device());
  ASSERT_TRUE(first && second && event);
  EXPECT_TRUE(*event->is_done());  // never recorded
  EXPECT_TRUE(event->synchronize());
  for (int round = 0; round < 100; ++round) {
    int value = 0;
    int seen = -1;
    ASSERT_TRUE(first->call([&] { value = round; }));
    ASSERT_TRUE(event->record(*first));
    ASSERT_TRUE(second->wait(*event));
    ASSERT_TRUE(second->call([&] { seen = value; }));
    ASSERT_TRUE(event->synchronize());
    EXPECT_TRUE(*event->is_done());
    ASSERT_TRUE(second->synchronize());
    EXPECT_EQ(seen, round);
  }
}

TEST_P(DeviceTest, WorkOutlivesItsStream) {
  Result<Buffer> buffer = Buffer::copy_of(device(), random_bytes(1000));
  ASSERT_TRUE(buffer);
  {
    Result<Stream> stream = Stream::create(device());
    Result<Event> event = Event::create(device());
    ASSERT_TRUE(stream && event);
    ASSERT_TRUE(stream->fill(buffer->data(), std::byte{9}, 1000));
    ASSERT_TRUE(event->record(*stream));
    *event = *Event::create(device());  // destroys the recorded one
    ASSERT_TRUE(stream->synchronize());
  }
  std::byte last{};
  ASSERT_TRUE(buffer->download({&last, 1}, 999));
  EXPECT_EQ(last, std::byte{9});
}

TEST_P(DeviceTest, IsNotHoistds) {
  EXPECT_EQ(device().run_served({}, 1, {}, {}, {}).error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace hoist::device
