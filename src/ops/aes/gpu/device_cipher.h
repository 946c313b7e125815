// AES on a device, from px (aes_ctr.px, aes_encrypt.px, aes_decrypt.px): CTR, ECB and XTS of many
// blocks that lie in its memory.
//
//   Result<DeviceKey> key = DeviceKey::create(stream, bytes_of_the_key);
//   Status done = encrypt_ctr(stream, *key, counter, plaintext, ciphertext);
//   …stream.synchronize()…
//
// Everything is enqueued on the stream; memory and keys must stay until it has come past. Input and
// output begin at multiples of 16 bytes, as every device::Buffer does, have the same length, whole
// blocks of 16 bytes, and do not overlap: the caller gives what is left of a message to OpenSSL.
// Thread-safe.
//
// The kernels look tables up at places that depend on the key and the text. Each lane of a GPU's
// warp has a memory bank of its own, but who runs code on the same GPU may still see timings, so
// this is for machines whose GPU no hostile user shares. On the CPU device the tables lie in the
// caches: it is there for tests, and placement leaves AES on the CPU to OpenSSL.
//
// Plaintext and keys in the device's memory: a DeviceKey and what the calls here allocate is filled
// with zeros before it is freed. The caller does the same with its buffers: SecretBuffer.
//
// Errors: `invalid_argument` for lengths, alignment and keys that are not as said; those of
// px/built_in/kernel.h.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "device/buffer.h"
#include "device/stream.h"
#include "ops/aes/gpu/secret_buffer.h"

namespace hoist::aes {

enum class Direction { encrypt, decrypt };

// The round keys of a key of 16, 24 or 32 bytes in memory of the stream's device.
class DeviceKey {
 public:
  // Returns when they are there. The stream must outlive it.
  static Result<DeviceKey> create(device::Stream& stream, std::span<const uint8_t> key);
  static Result<DeviceKey> create(device::Stream&& stream, std::span<const uint8_t> key) = delete;

  int rounds() const { return rounds_; }
  std::span<const uint32_t> words(Direction direction) const;

 private:
  DeviceKey(int rounds, SecretBuffer words) : rounds_(rounds), words_(std::move(words)) {}

  int rounds_;
  SecretBuffer words_;
};

// Block i is XORed with the cipher of counter + i, a number of 128 bits with the highest byte first
// (NIST SP 800-38A). Decryption is the same.
Status encrypt_ctr(const device::Stream& stream, const DeviceKey& key,
                   const std::array<uint8_t, 16>& counter, device::Span<const std::byte> input,
                   device::Span<std::byte> output);

// Each block by itself. Equal blocks stay equal, so this is a part of other modes, not for
// messages.
Status run_ecb(const device::Stream& stream, const DeviceKey& key, Direction direction,
               device::Span<const std::byte> input, device::Span<std::byte> output);

// Data units of `unit_size` bytes with the numbers from `first_unit` on, as sectors of a disk have
// (IEEE 1619-2007); the last one may be shorter. `invalid_argument` for a unit size that is no
// multiple of 16 from 16 to 65536: no ciphertext stealing.
Status run_xts(const device::Stream& stream, const DeviceKey& data_key, const DeviceKey& tweak_key,
               Direction direction, uint64_t first_unit, uint32_t unit_size,
               device::Span<const std::byte> input, device::Span<std::byte> output);

}  // namespace hoist::aes
