#include "ops/aes/operation.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "base/threads.h"
#include "device/pinned_pool.h"
#include "device/transfer.h"
#include "ops/aes/gpu/device_cipher.h"
#include "placement/room.h"
#include "takeover/gpu_hint.h"

namespace hoist::aes {
namespace {

enum : size_t { kOneCpu, kAllCpus, kCuda };

constexpr unsigned kMemoryShare = 4;
constexpr size_t kBlock = 16;
constexpr size_t kPiece = size_t{1} << 20;  // that a thread encrypts at a time
constexpr size_t kCompared = size_t{1} << 16;

using Counter = std::array<uint8_t, kBlock>;

// The counter of the block after `blocks` others, which are fewer than 2^60.
Counter counter_after(const Counter& first, uint64_t blocks) {
  Counter counter = first;
  for (size_t i = counter.size(); i-- > 0 && blocks != 0;) {
    blocks += counter[i];
    counter[i] = static_cast<uint8_t>(blocks);
    blocks >>= 8;
  }
  return counter;
}

bool encrypt_on_cpu(std::span<const uint8_t> key, const Counter& counter,
                    std::span<const std::byte> in, std::byte* out) {
  const EVP_CIPHER* const cipher = key.size() == 16 ? EVP_aes_128_ctr() : EVP_aes_256_ctr();
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(
      EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  if (!context ||
      EVP_EncryptInit_ex(context.get(), cipher, nullptr, key.data(), counter.data()) != 1) {
    return false;
  }
  int written = 0;
  return EVP_EncryptUpdate(context.get(), reinterpret_cast<unsigned char*>(out), &written,
                           reinterpret_cast<const unsigned char*>(in.data()),
                           static_cast<int>(in.size())) == 1 &&
         static_cast<size_t>(written) == in.size();
}

class Work {
 public:
  Work(device::Device& device, size_t key_bytes, uint64_t bytes)
      : key_(key_bytes), plain_(bytes), cipher_(bytes), pool_(device), transfer_(pool_) {
    std::mt19937_64 random(bytes);
    const auto draw = [&](void* to, size_t size) {
      for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        const uint64_t word = random();
        std::memcpy(static_cast<std::byte*>(to) + at, &word, sizeof word);
      }
    };
    draw(key_.data(), key_.size());
    draw(counter_.data(), counter_.size());
    draw(plain_.data(), plain_.size());
  }

  Status open(device::Device& device) {
    auto stream = device::Stream::create(device);
    if (!stream) return stream.error();
    stream_.emplace(std::move(*stream));
    auto key = DeviceKey::create(*stream_, key_);
    if (!key) return key.error();
    device_key_.emplace(std::move(*key));
    for (auto* memory : {&in_, &out_}) {
      auto made = SecretBuffer::allocate(*stream_, plain_.size());
      if (!made) return made.error();
      memory->emplace(std::move(*made));
    }
    return {};
  }

  Status run(size_t implementation) {
    std::fill_n(cipher_.begin(), std::min(cipher_.size(), kBlock), std::byte{0});
    const Status done = implementation == kCuda ? on_device() : on_cpus(implementation == kAllCpus);
    if (!done) return done;
    return check();
  }

 private:
  Status on_device() {
    const auto in = in_->buffer().view<std::byte>();
    const auto out = out_->buffer().view<std::byte>();
    if (Status sent = transfer_.upload(std::span<const std::byte>(plain_), in); !sent) return sent;
    if (Status done = encrypt_ctr(*stream_, *device_key_, counter_,
                                  in_->buffer().view<const std::byte>(), out);
        !done) {
      return done;
    }
    if (Status finished = stream_->synchronize(); !finished) return finished;
    return transfer_.download(out_->buffer().view<const std::byte>(), std::span(cipher_));
  }

  Status on_cpus(bool all) {
    const size_t pieces = (plain_.size() + kPiece - 1) / kPiece;
    std::atomic<bool> is_done = true;
    const auto encrypt = [&](size_t piece) {
      const size_t at = piece * kPiece;
      const std::span in(plain_.data() + at, std::min(kPiece, plain_.size() - at));
      const Counter counter = counter_after(counter_, at / kBlock);
      if (!encrypt_on_cpu(key_, counter, in, cipher_.data() + at)) is_done = false;
    };
    if (all) {
      ThreadPool::process().parallel_for(pieces, encrypt);
    } else {
      for (size_t piece = 0; piece < pieces; ++piece) encrypt(piece);
    }
    return is_done ? Status() : fail(ErrorCode::internal, "OpenSSL refuses AES");
  }

  // The beginning and the end: a comparison of everything would be timed too.
  Status check() const {
    const size_t size = std::min(kCompared, plain_.size());
    std::vector<std::byte> expected(size);
    for (const size_t at : {size_t{0}, plain_.size() - size}) {
      if (!encrypt_on_cpu(key_, counter_after(counter_, at / kBlock), {plain_.data() + at, size},
                          expected.data()) ||
          !std::equal(expected.begin(), expected.end(), cipher_.data() + at)) {
        return fail(ErrorCode::internal, "the ciphertext is not OpenSSL's");
      }
    }
    return {};
  }

  std::vector<uint8_t> key_;
  Counter counter_{};
  std::vector<std::byte> plain_;
  std::vector<std::byte> cipher_;
  device::PinnedPool pool_;
  device::Transfer transfer_;
  std::optional<device::Stream> stream_;
  std::optional<DeviceKey> device_key_;
  std::optional<SecretBuffer> in_;
  std::optional<SecretBuffer> out_;
};

}  // namespace

Result<placement::Run> prepare_on(device::Device& device, size_t key_bytes, uint64_t bytes) {
  const uint64_t blocks = std::max<uint64_t>(1, (bytes + kBlock - 1) / kBlock);
  auto work = std::make_shared<Work>(device, key_bytes, blocks * kBlock);
  if (Status opened = work->open(device); !opened) return opened.error();
  return [work](size_t implementation) { return work->run(implementation); };
}

placement::Operation operation() {
  placement::Operation operation;
  operation.name = "aes";
  operation.note = "for comparison: calls are answered by the CPUs (docs/design/placement.md)";
  operation.most_bytes = uint64_t{1} << 30;
  operation.variants = {{.name = "ctr-128"}, {.name = "ctr-256"}};
  operation.implementations = {
      {.name = "cpu-1"}, {.name = "cpu-all", .threads = 0}, {.name = "cuda"}};
  operation.prepare = [](size_t variant, const placement::Shape& shape,
                         const std::string&) -> Result<placement::Run> {
    if (!hoist_gpu_may_serve()) return fail(ErrorCode::unavailable, "no GPU to compare with");
    const Result<device::Device*> gpu = device::find_device("cuda:0");
    if (!gpu) return gpu.error();
    if (const Status room = placement::check_memory(2 * shape.bytes, kMemoryShare); !room) {
      return room.error();
    }
    return prepare_on(**gpu, variant == 0 ? 16 : 32, shape.bytes);
  };
  return operation;
}

}  // namespace hoist::aes
