// The kernels on each device against the standards' examples, NIST's known answers, and OpenSSL.
#include "ops/aes/gpu/device_cipher.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/test_devices.h"
#include "ops/aes/gpu/key_schedule.h"
#include "ops/aes/gpu/xts_vectors.h"
#include "px/built_in/interpreted.h"

namespace hoist::aes {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes from_hex(std::string_view text) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

Bytes random_key(size_t size, uint64_t seed) {
  Bytes bytes(size);
  const auto random = device::random_bytes(size, seed);
  std::transform(random.begin(), random.end(), bytes.begin(),
                 [](const auto byte) { return static_cast<uint8_t>(byte); });
  return bytes;
}

// By OpenSSL; of whole blocks.
Bytes by_openssl(const std::string& name, bool encrypts, const Bytes& key, const uint8_t* iv,
                 const Bytes& input) {
  const std::unique_ptr<EVP_CIPHER, void (*)(EVP_CIPHER*)> cipher(
      EVP_CIPHER_fetch(nullptr, name.c_str(), nullptr), EVP_CIPHER_free);
  const std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)> context(EVP_CIPHER_CTX_new(),
                                                                           EVP_CIPHER_CTX_free);
  EXPECT_TRUE(cipher) << name;
  EXPECT_EQ(
      EVP_CipherInit_ex2(context.get(), cipher.get(), key.data(), iv, encrypts ? 1 : 0, nullptr),
      1);
  EVP_CIPHER_CTX_set_padding(context.get(), 0);
  Bytes output(input.size());
  int size = 0;
  EXPECT_EQ(EVP_CipherUpdate(context.get(), output.data(), &size, input.data(),
                             static_cast<int>(input.size())),
            1);
  EXPECT_EQ(static_cast<size_t>(size), input.size());
  return output;
}

class DeviceCipherTest : public device::OnDevices {
 protected:
  void SetUp() override {
    OnDevices::SetUp();
    if (IsSkipped()) return;
    Result<device::Stream> stream = device::Stream::create(device());
    ASSERT_TRUE(stream) << stream.error().message;
    stream_.emplace(*std::move(stream));
  }

  DeviceKey key(const Bytes& bytes) {
    Result<DeviceKey> made = DeviceKey::create(*stream_, bytes);
    EXPECT_TRUE(made) << made.error().message;
    return *std::move(made);
  }

  // What `work` makes of the input, in memory that was filled with something else before.
  template <typename Work>
  Bytes run(const Bytes& input, Work work) {
    const size_t size = input.size();
    Result<SecretBuffer> from = SecretBuffer::allocate(*stream_, size + 16);
    Result<SecretBuffer> to = SecretBuffer::allocate(*stream_, size + 16);
    EXPECT_TRUE(from && to);
    const auto view = [&](const SecretBuffer& of) {
      return of.buffer().view<std::byte>().subspan(0, size);
    };
    EXPECT_TRUE(stream_->copy(from->buffer().data(), input.data(), size));
    EXPECT_TRUE(stream_->fill(to->buffer().data(), std::byte{0xa5}, size + 16));
    const Status done = work(device::Span<const std::byte>(view(*from)), view(*to));
    EXPECT_TRUE(done) << done.error().message;
    const Status finished = stream_->synchronize();
    EXPECT_TRUE(finished) << finished.error().message;
    Bytes output(size + 16);
    EXPECT_TRUE(to->buffer().download(std::as_writable_bytes(std::span(output))));
    EXPECT_TRUE(std::all_of(output.begin() + static_cast<ptrdiff_t>(size), output.end(),
                            [](uint8_t byte) { return byte == 0xa5; }));
    output.resize(size);
    return output;
  }

  Bytes ctr(const DeviceKey& key, const std::array<uint8_t, 16>& counter, const Bytes& input) {
    return run(input,
               [&](auto from, auto to) { return encrypt_ctr(*stream_, key, counter, from, to); });
  }
  Bytes ecb(const DeviceKey& key, Direction direction, const Bytes& input) {
    return run(input,
               [&](auto from, auto to) { return run_ecb(*stream_, key, direction, from, to); });
  }

  std::optional<device::Stream> stream_;
};

// FIPS 197, appendix C.
TEST_P(DeviceCipherTest, EncryptsTheExamplesOfTheStandard) {
  const Bytes text = from_hex("00112233445566778899aabbccddeeff");
  const struct {
    size_t key_size;
    const char* ciphertext;
  } kExamples[] = {{16, "69c4e0d86a7b0430d8cdb78070b4c55a"},
                   {24, "dda97ca4864cdfe06eaf70a0ec0d7191"},
                   {32, "8ea2b7ca516745bfeafc49904b496089"}};
  for (const auto& example : kExamples) {
    Bytes bytes(example.key_size);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
    const DeviceKey of = key(bytes);
    EXPECT_EQ(ecb(of, Direction::encrypt, text), from_hex(example.ciphertext));
    EXPECT_EQ(ecb(of, Direction::decrypt, from_hex(example.ciphertext)), text);
  }
}

// NIST SP 800-38A, F.5.1 and F.5.5.
TEST_P(DeviceCipherTest, CountsAsTheStandard) {
  std::array<uint8_t, 16> counter;
  for (size_t i = 0; i < 16; ++i) counter[i] = static_cast<uint8_t>(0xf0 + i);
  const Bytes text = from_hex(
      "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
      "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710");
  EXPECT_EQ(ctr(key(from_hex("2b7e151628aed2a6abf7158809cf4f3c")), counter, text),
            from_hex("874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
                     "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee"));
  EXPECT_EQ(ctr(key(from_hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")),
                counter, text),
            from_hex("601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
                     "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"));
}

TEST_P(DeviceCipherTest, CtrIsOpenSsls) {
  const std::array<uint8_t, 16> counters[] = {
      {},
      {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
      // Carries into the second byte, into the third, through all.
      {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xfd},
      {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xf0},
      {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
       0xf1}};
  for (const size_t key_size : {16U, 24U, 32U}) {
    const Bytes bytes = random_key(key_size, key_size);
    const DeviceKey of = key(bytes);
    const std::string name = "AES-" + std::to_string(key_size * 8) + "-CTR";
    for (const auto& counter : counters) {
      for (const size_t blocks : {0U, 1U, 15U, 16U, 255U, 256U, 257U, 511U, 4000U}) {
        const Bytes text = random_key(blocks * 16, blocks);
        ASSERT_EQ(ctr(of, counter, text), by_openssl(name, true, bytes, counter.data(), text))
            << name << ", " << blocks << " blocks";
      }
    }
    // More than 65536 counters, so that several groups of rows follow one another.
    const Bytes text = random_key((size_t{1} << 20) * 3 + 16, 77);
    ASSERT_EQ(ctr(of, counters[3], text), by_openssl(name, true, bytes, counters[3].data(), text));
  }
}

TEST_P(DeviceCipherTest, EcbIsOpenSsls) {
  for (const size_t key_size : {16U, 24U, 32U}) {
    const Bytes bytes = random_key(key_size, key_size + 1);
    const DeviceKey of = key(bytes);
    const std::string name = "AES-" + std::to_string(key_size * 8) + "-ECB";
    for (const size_t blocks : {1U, 31U, 512U, 513U, 5000U}) {
      const Bytes text = random_key(blocks * 16, blocks);
      const Bytes ciphertext = ecb(of, Direction::encrypt, text);
      ASSERT_EQ(ciphertext, by_openssl(name, true, bytes, nullptr, text));
      ASSERT_EQ(ecb(of, Direction::decrypt, ciphertext), text);
    }
  }
}

TEST_P(DeviceCipherTest, XtsHasNistsAnswers) {
  for (const XtsVector& vector : kXtsVectors) {
    const Bytes keys = from_hex(vector.keys);
    const auto half = static_cast<ptrdiff_t>(keys.size() / 2);
    const DeviceKey data_key = key(Bytes(keys.begin(), keys.begin() + half));
    const DeviceKey tweak_key = key(Bytes(keys.begin() + half, keys.end()));
    const Bytes plaintext = from_hex(vector.plaintext);
    const Bytes ciphertext = from_hex(vector.ciphertext);
    const auto unit = static_cast<uint32_t>(plaintext.size());
    EXPECT_EQ(run(plaintext,
                  [&](auto from, auto to) {
                    return run_xts(*stream_, data_key, tweak_key, Direction::encrypt, vector.unit,
                                   unit, from, to);
                  }),
              ciphertext);
    EXPECT_EQ(run(ciphertext,
                  [&](auto from, auto to) {
                    return run_xts(*stream_, data_key, tweak_key, Direction::decrypt, vector.unit,
                                   unit, from, to);
                  }),
              plaintext);
  }
}

TEST_P(DeviceCipherTest, XtsIsOpenSsls) {
  for (const size_t key_size : {16U, 32U}) {
    const Bytes keys = random_key(key_size * 2, 5);
    const auto half = static_cast<ptrdiff_t>(key_size);
    const DeviceKey data_key = key(Bytes(keys.begin(), keys.begin() + half));
    const DeviceKey tweak_key = key(Bytes(keys.begin() + half, keys.end()));
    const std::string name = "AES-" + std::to_string(key_size * 8) + "-XTS";
    for (const uint32_t unit : {16U, 512U, 4096U, 65536U}) {
      // The last unit is not whole, where a unit has more than a block.
      const Bytes text = random_key(size_t{unit} * 3 + 16, unit);
      const uint64_t first = 0xfffffffffffffffe;
      Bytes want;
      for (size_t at = 0, number = 0; at < text.size(); at += unit, ++number) {
        uint8_t iv[16] = {};
        const uint64_t value = first + number;
        std::memcpy(iv, &value, sizeof value);
        const size_t end = std::min(at + unit, text.size());
        const Bytes part(text.begin() + static_cast<ptrdiff_t>(at),
                         text.begin() + static_cast<ptrdiff_t>(end));
        const Bytes made = by_openssl(name, true, keys, iv, part);
        want.insert(want.end(), made.begin(), made.end());
      }
      const auto pass = [&](Direction direction, const Bytes& input) {
        return run(input, [&](auto from, auto to) {
          return run_xts(*stream_, data_key, tweak_key, direction, first, unit, from, to);
        });
      };
      ASSERT_EQ(pass(Direction::encrypt, text), want) << name << ", units of " << unit;
      ASSERT_EQ(pass(Direction::decrypt, want), text) << name << ", units of " << unit;
    }
  }
}

TEST_P(DeviceCipherTest, RefusesWhatIsNotWholeOrOverlaps) {
  const DeviceKey of = key(Bytes(16));
  Result<device::Buffer> memory = device::Buffer::allocate(device(), 256);
  ASSERT_TRUE(memory);
  const auto all = memory->view<std::byte>();
  const auto is_refused = [&](device::Span<const std::byte> from, device::Span<std::byte> to) {
    const Status status = run_ecb(*stream_, of, Direction::encrypt, from, to);
    return !status && status.error().code == ErrorCode::invalid_argument;
  };
  EXPECT_TRUE(is_refused(all.subspan(0, 15), all.subspan(64, 15)));
  EXPECT_TRUE(is_refused(all.subspan(0, 16), all.subspan(64, 32)));
  EXPECT_TRUE(is_refused(all.subspan(0, 32), all.subspan(16, 32)));
  EXPECT_TRUE(is_refused(all.subspan(8, 16), all.subspan(64, 16)));
  EXPECT_FALSE(run_xts(*stream_, of, of, Direction::encrypt, 0, 20, all.subspan(0, 16),
                       all.subspan(64, 16)));
  EXPECT_FALSE(DeviceKey::create(*stream_, Bytes(17)));
}

// Notes what is done to memory.
class WatchedDevice : public device::CpuDevice {
 public:
  Status fill(void* data, std::byte value, size_t size, device::StreamHandle stream) override {
    if (value == std::byte{0}) wiped = {static_cast<std::byte*>(data), size};
    return CpuDevice::fill(data, value, size, stream);
  }
  void free(void* data, device::StreamHandle stream) override {
    freed_wiped = data == wiped.data() ? wiped.size() : 0;
    CpuDevice::free(data, stream);
  }

  std::span<std::byte> wiped;
  size_t freed_wiped = 0;  // bytes of the last memory that was freed
};

TEST(SecretBuffer, IsWipedBeforeItIsFreed) {
  WatchedDevice device;
  Result<device::Stream> stream = device::Stream::create(device);
  ASSERT_TRUE(stream);
  {
    const Result<SecretBuffer> secret = SecretBuffer::allocate(*stream, 4096);
    ASSERT_TRUE(secret);
  }
  EXPECT_GE(device.freed_wiped, 4096U);
  device.freed_wiped = 0;
  {
    const Result<DeviceKey> key = DeviceKey::create(*stream, Bytes(32, 1));
    ASSERT_TRUE(key);
  }
  EXPECT_GE(device.freed_wiped, 2 * sizeof(uint32_t) * 60);
}

// Small enough for the interpreter, which checks every access.
TEST(InterpretedCipher, IsOpenSsls) {
  const Bytes bytes = random_key(32, 3);
  const Result<KeySchedule> schedule = KeySchedule::expand(bytes);
  ASSERT_TRUE(schedule);
  std::array<uint32_t, 60> encryption = schedule->encryption;
  std::array<uint32_t, 60> decryption = schedule->decryption;
  const auto words = [](Bytes& of) { return ir::Argument::array(of.data(), of.size() / 4); };
  const auto keys = [](auto& of) { return ir::Argument::array(of.data(), of.size()); };
  const auto number = [](uint64_t bits) { return ir::Argument::scalar(bits); };
  const std::string folder = HOIST_SOURCE_DIR "/src/ops/aes/gpu/";

  Bytes text = random_key(size_t{16} * 300, 4);
  Bytes made(text.size());
  const std::array<uint8_t, 16> counter = {0,    0,    0,    1,    0,    0,    0,    2,
                                           0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf7};
  const ir::Argument of_ctr[] = {words(text), words(made), keys(encryption), number(14),
                                 number(1),   number(2),   number(~0U),      number(0xfffffff7),
                                 number(2),   number(129)};
  Status done =
      px::run_interpreted(folder + "aes_ctr.px", "aes_ctr", {{1, 1, 1}, {512, 1, 1}}, of_ctr);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(made, by_openssl("AES-256-CTR", true, bytes, counter.data(), text));

  Bytes ciphertext(text.size());
  Bytes back(text.size());
  const ir::Argument of_encryption[] = {words(text),      words(ciphertext),
                                        keys(encryption), ir::Argument::array(nullptr, 0),
                                        number(14),       number(0)};
  done = px::run_interpreted(folder + "aes_encrypt.px", "aes_encrypt", {{1, 1, 1}, {512, 1, 1}},
                             of_encryption);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(ciphertext, by_openssl("AES-256-ECB", true, bytes, nullptr, text));
  const ir::Argument of_decryption[] = {words(ciphertext), words(back),
                                        keys(decryption),  ir::Argument::array(nullptr, 0),
                                        number(14),        number(0)};
  done = px::run_interpreted(folder + "aes_decrypt.px", "aes_decrypt", {{1, 1, 1}, {512, 1, 1}},
                             of_decryption);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(back, text);
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceCipherTest, device::kTestDevices, device::device_name);

}  // namespace
}  // namespace hoist::aes
