// The kernel on each device against NIST's known answers and OpenSSL.
#include "ops/hash/gpu/sha256_messages.h"

#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "device/test_devices.h"
#include "ops/hash/gpu/sha256_vectors.h"
#include "px/built_in/interpreted.h"

namespace hoist::hash {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes from_hex(std::string_view text) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

Bytes by_openssl(const Bytes& message) {
  Bytes digest(32);
  SHA256(message.data(), message.size(), digest.data());
  return digest;
}

class Sha256MessagesTest : public device::OnDevices {
 protected:
  // The messages one behind the other, each at a multiple of `alignment`.
  std::vector<Bytes> digests(const std::vector<Bytes>& messages, size_t alignment) {
    // An offset that ends a message begins the next: with gaps, each other "message" is a gap.
    std::vector<uint64_t> offsets = {0};
    Bytes data;
    for (const Bytes& message : messages) {
      data.insert(data.end(), message.begin(), message.end());
      offsets.push_back(data.size());
      data.resize((data.size() + alignment - 1) / alignment * alignment, 0xee);
      if (alignment > 1) offsets.push_back(data.size());
    }
    data.resize((data.size() + 4) / 4 * 4, 0xee);
    const size_t count = offsets.size() - 1;
    const auto upload = [&](const auto& values) {
      return *device::Buffer::copy_of(device(), std::as_bytes(std::span(values)));
    };
    const device::Buffer on_device = upload(data);
    const device::Buffer places = upload(offsets);
    Result<device::Buffer> made = device::Buffer::allocate(device(), (count + 1) * 32);
    EXPECT_TRUE(made);
    EXPECT_TRUE(made->fill(std::byte{0xa5}));
    Result<device::Stream> stream = device::Stream::create(device());
    EXPECT_TRUE(stream);
    const Status done =
        sha256_messages(*stream, on_device.view<const std::byte>().subspan(0, data.size()),
                        places.view<const uint64_t>().subspan(0, count + 1),
                        made->view<std::byte>().subspan(0, count * 32));
    EXPECT_TRUE(done) << done.error().message;
    const Status finished = stream->synchronize();
    EXPECT_TRUE(finished) << finished.error().message;
    Bytes all((count + 1) * 32);
    EXPECT_TRUE(made->download(std::as_writable_bytes(std::span(all))));
    EXPECT_EQ(Bytes(all.end() - 32, all.end()), Bytes(32, 0xa5));
    std::vector<Bytes> list;
    for (size_t i = 0; i < messages.size(); ++i) {
      const auto at = all.begin() + static_cast<ptrdiff_t>(i * (alignment > 1 ? 64 : 32));
      list.emplace_back(at, at + 32);
    }
    return list;
  }

  void expect_openssls(const std::vector<Bytes>& messages, size_t alignment) {
    const std::vector<Bytes> got = digests(messages, alignment);
    for (size_t i = 0; i < messages.size(); ++i) {
      ASSERT_EQ(got[i], by_openssl(messages[i]))
          << "message " << i << " of " << messages[i].size() << " bytes, alignment " << alignment;
    }
  }
};

TEST_P(Sha256MessagesTest, HasNistsAnswers) {
  std::vector<Bytes> messages;
  for (const Sha256Vector& vector : kSha256Vectors) messages.push_back(from_hex(vector.message));
  for (const size_t alignment : {1U, 64U}) {
    const std::vector<Bytes> got = digests(messages, alignment);
    for (size_t i = 0; i < messages.size(); ++i) {
      EXPECT_EQ(got[i], from_hex(kSha256Vectors[i].digest)) << i;
    }
  }
}

TEST_P(Sha256MessagesTest, EveryLengthAroundTheBlocks) {
  std::vector<Bytes> messages;
  for (size_t size = 0; size <= 200; ++size) {
    Bytes message(size);
    if (size > 0) std::memcpy(message.data(), device::random_bytes(size, size).data(), size);
    messages.push_back(message);
  }
  for (const size_t alignment : {1U, 2U, 4U, 16U}) expect_openssls(messages, alignment);
}

TEST_P(Sha256MessagesTest, RandomLengths) {
  std::mt19937 random(11);
  std::vector<Bytes> messages;
  for (int i = 0; i < 700; ++i) {
    Bytes message(random() % 6000);
    for (uint8_t& byte : message) byte = static_cast<uint8_t>(random());
    messages.push_back(message);
  }
  for (const size_t alignment : {1U, 16U}) expect_openssls(messages, alignment);
}

TEST_P(Sha256MessagesTest, PagesOfOneLength) {
  std::vector<Bytes> messages(300, Bytes(4096));
  std::mt19937 random(12);
  for (Bytes& message : messages) {
    for (uint8_t& byte : message) byte = static_cast<uint8_t>(random());
  }
  expect_openssls(messages, 1);
}

TEST_P(Sha256MessagesTest, RefusesLengthsThatDoNotFit) {
  Result<device::Stream> stream = device::Stream::create(device());
  ASSERT_TRUE(stream);
  Result<device::Buffer> memory = device::Buffer::allocate(device(), 1024);
  ASSERT_TRUE(memory);
  const auto bytes = memory->view<std::byte>();
  const auto offsets = memory->view<uint64_t>();
  const auto is_refused = [&](device::Span<const std::byte> data, size_t count,
                              device::Span<std::byte> digests) {
    const Status status = sha256_messages(*stream, data, offsets.subspan(96, count), digests);
    return !status && status.error().code == ErrorCode::invalid_argument;
  };
  EXPECT_TRUE(is_refused(bytes.subspan(0, 64), 0, bytes.subspan(64, 0)));
  EXPECT_TRUE(is_refused(bytes.subspan(0, 64), 2, bytes.subspan(64, 31)));
  EXPECT_TRUE(is_refused(bytes.subspan(0, 63), 2, bytes.subspan(64, 32)));
  EXPECT_TRUE(is_refused(bytes.subspan(8, 64), 2, bytes.subspan(128, 32)));
}

// Small enough for the interpreter, which checks every access.
TEST(InterpretedSha256, IsOpenSsls) {
  Bytes data;
  std::vector<uint64_t> offsets = {0};
  std::vector<Bytes> messages;
  for (const size_t size : {0U, 1U, 55U, 56U, 64U, 119U, 120U, 128U, 131U, 64U}) {
    messages.emplace_back(size, static_cast<uint8_t>(size + 1));
    data.insert(data.end(), messages.back().begin(), messages.back().end());
    offsets.push_back(data.size());
  }
  data.resize((data.size() + 3) / 4 * 4);
  Bytes digests(messages.size() * 32);
  const ir::Argument arguments[] = {ir::Argument::array(data.data(), data.size() / 4),
                                    ir::Argument::array(offsets.data(), offsets.size()),
                                    ir::Argument::array(digests.data(), digests.size() / 4),
                                    ir::Argument::scalar(messages.size()),
                                    ir::Argument::scalar(1),  // offset a message
                                    ir::Argument::scalar(data.size())};
  const Status done = px::run_interpreted(HOIST_SOURCE_DIR "/src/ops/hash/gpu/sha256.px", "sha256",
                                          {{1, 1, 1}, {32, 1, 1}}, arguments);
  ASSERT_TRUE(done) << done.error().message;
  for (size_t i = 0; i < messages.size(); ++i) {
    const auto at = digests.begin() + static_cast<ptrdiff_t>(i * 32);
    EXPECT_EQ(Bytes(at, at + 32), by_openssl(messages[i])) << i;
  }
}

TEST(InterpretedSha256, NoOffsetReachesOutsideTheData) {
  constexpr uint64_t kEdges[] = {0, 3, 16, 95, 100, 101, uint64_t{1} << 63, UINT64_MAX - 7};
  Bytes data(100, 0x5a);
  std::vector<uint64_t> offsets;
  for (const uint64_t begin : kEdges) {
    for (const uint64_t end : kEdges) offsets.insert(offsets.end(), {begin, end});
  }
  const size_t messages = offsets.size() / 2;
  for (const size_t longest : {0U, 50U, 100U}) {
    Bytes digests(messages * 32);
    const ir::Argument arguments[] = {ir::Argument::array(data.data(), data.size() / 4),
                                      ir::Argument::array(offsets.data(), offsets.size()),
                                      ir::Argument::array(digests.data(), digests.size() / 4),
                                      ir::Argument::scalar(messages),
                                      ir::Argument::scalar(2),  // offsets a message
                                      ir::Argument::scalar(longest)};
    const Status done = px::run_interpreted(HOIST_SOURCE_DIR "/src/ops/hash/gpu/sha256.px",
                                            "sha256", {{2, 1, 1}, {32, 1, 1}}, arguments);
    ASSERT_TRUE(done) << done.error().message;
    for (size_t i = 0; i < messages; ++i) {
      const size_t begin = std::min<uint64_t>(offsets[2 * i], data.size());
      const size_t end = std::min<uint64_t>(offsets[2 * i + 1], data.size());
      const Bytes message(std::min(end > begin ? end - begin : 0, longest), 0x5a);
      const auto at = digests.begin() + static_cast<ptrdiff_t>(i * 32);
      ASSERT_EQ(Bytes(at, at + 32), by_openssl(message)) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Sha256MessagesTest, device::kTestDevices, device::device_name);

}  // namespace
}  // namespace hoist::hash
