#include "ops/aes/gpu/device_cipher.h"

#include <algorithm>

#include "ops/aes/gpu/aes_ctr.px.h"
#include "ops/aes/gpu/aes_decrypt.px.h"
#include "ops/aes/gpu/aes_encrypt.px.h"
#include "ops/aes/gpu/key_schedule.h"

namespace hoist::aes {
namespace {

namespace kernels = px::kernels;
using device::Span;
using device::Stream;

constexpr uint64_t kBlock = 16;
constexpr uint32_t kThreads = 512;  // of a block of threads: as the kernels' own launches say
constexpr uint32_t kMostUnit = 65536;
constexpr uint64_t kRow = 256;  // counters that differ in their last byte alone

Error refuse(const char* what) { return fail(ErrorCode::invalid_argument, what); }

Status check(Span<const std::byte> input, Span<std::byte> output) {
  if (input.size != output.size) return refuse("input and output have different lengths");
  if (input.size % kBlock != 0) return refuse("AES on a device takes whole blocks of 16 bytes");
  const auto begin = reinterpret_cast<uintptr_t>(input.data);
  const auto to = reinterpret_cast<uintptr_t>(output.data);
  if (begin % kBlock != 0 || to % kBlock != 0) return refuse("memory is not aligned to 16 bytes");
  if (begin < to + output.size && to < begin + input.size) {
    return refuse("input and output overlap");
  }
  return {};
}

std::span<const uint32_t> words_of(Span<const std::byte> bytes) {
  return {reinterpret_cast<const uint32_t*>(bytes.data), bytes.size / sizeof(uint32_t)};
}
std::span<uint32_t> words_of(Span<std::byte> bytes) {
  return {reinterpret_cast<uint32_t*>(bytes.data), bytes.size / sizeof(uint32_t)};
}

// Each block of threads fills its tables once, so there are only a few times as many as the device
// holds: by registers two of aes_ctr's to a multiprocessor, three of the others', and multiples of
// these leave no processor idle in the end.
constexpr uint64_t kCounterBlocks = 4;
constexpr uint64_t kCipherBlocks = 6;

ir::Grid grid_for(const Stream& stream, uint64_t parts, uint64_t of_a_processor) {
  const int processors = std::max(stream.device().properties().multiprocessors, 1);
  const uint64_t most = static_cast<uint64_t>(processors) * of_a_processor;
  return {{static_cast<uint32_t>(std::min(parts, most)), 1, 1}, {kThreads, 1, 1}};
}

// One pass over blocks; without units it is ECB.
Status run_blocks(const Stream& stream, const DeviceKey& key, Direction direction,
                  std::span<const uint64_t> tweaks, uint32_t unit_blocks,
                  std::span<const uint32_t> input, std::span<uint32_t> output) {
  const ir::Grid grid =
      grid_for(stream, (input.size() / 4 + kThreads - 1) / kThreads, kCipherBlocks);
  const auto run = direction == Direction::encrypt ? kernels::aes_encrypt : kernels::aes_decrypt;
  return run(stream, grid, input, output, key.words(direction), tweaks, key.rounds(),
             static_cast<int32_t>(unit_blocks));
}

uint32_t big_endian(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

// How many rows a thread goes through: as many as leave work for all, since what it computes once
// costs as much as two rounds.
int32_t depth_for(const Stream& stream, uint64_t rows) {
  const int processors = std::max(stream.device().properties().multiprocessors, 1);
  const uint64_t of_each = rows / (static_cast<uint64_t>(processors) * 8 * 4);
  int32_t depth = 1;
  while (depth < 64 && static_cast<uint64_t>(depth) < of_each) depth *= 2;
  return depth;
}

}  // namespace

Result<DeviceKey> DeviceKey::create(Stream& stream, std::span<const uint8_t> key) {
  const Result<KeySchedule> schedule = KeySchedule::expand(key);
  if (!schedule) return schedule.error();
  constexpr size_t kSize = sizeof schedule->encryption;
  // Each begins at a multiple of 256 bytes.
  Result<SecretBuffer> words = SecretBuffer::allocate(stream, 512);
  if (!words) return words.error();
  auto* const to = static_cast<std::byte*>(words->buffer().data());
  Status copied = stream.copy(to, schedule->encryption.data(), kSize);
  if (copied) copied = stream.copy(to + 256, schedule->decryption.data(), kSize);
  if (copied) copied = stream.synchronize();
  if (!copied) return copied.error();
  return DeviceKey(schedule->rounds, *std::move(words));
}

std::span<const uint32_t> DeviceKey::words(Direction direction) const {
  const auto* const begin = static_cast<const uint32_t*>(words_.buffer().data());
  return {begin + (direction == Direction::encrypt ? 0 : 64), KeySchedule::kMostWords};
}

Status encrypt_ctr(const Stream& stream, const DeviceKey& key,
                   const std::array<uint8_t, 16>& counter, Span<const std::byte> input,
                   Span<std::byte> output) {
  if (Status fits = check(input, output); !fits) return fits;
  const uint32_t lowest = big_endian(counter.data() + 12);
  // Rows begin where the counter's last byte is 0, groups of them where its last two bytes are.
  const uint64_t rows = ((lowest & 0xffff) + input.size / kBlock + kRow - 1) / kRow;
  const int32_t depth = depth_for(stream, rows);
  const uint64_t chunks = (rows + static_cast<uint64_t>(depth) - 1) / static_cast<uint64_t>(depth);
  const ir::Grid grid = grid_for(stream, (chunks * kRow + kThreads - 1) / kThreads, kCounterBlocks);
  if (input.size == 0) return {};
  return kernels::aes_ctr(stream, grid, words_of(input), words_of(output),
                          key.words(Direction::encrypt), key.rounds(), big_endian(counter.data()),
                          big_endian(counter.data() + 4), big_endian(counter.data() + 8), lowest,
                          depth, static_cast<int64_t>(chunks));
}

Status run_ecb(const Stream& stream, const DeviceKey& key, Direction direction,
               Span<const std::byte> input, Span<std::byte> output) {
  if (Status fits = check(input, output); !fits) return fits;
  return run_blocks(stream, key, direction, {}, 0, words_of(input), words_of(output));
}

Status run_xts(const Stream& stream, const DeviceKey& data_key, const DeviceKey& tweak_key,
               Direction direction, uint64_t first_unit, uint32_t unit_size,
               Span<const std::byte> input, Span<std::byte> output) {
  if (Status fits = check(input, output); !fits) return fits;
  if (unit_size == 0 || unit_size % kBlock != 0 || unit_size > kMostUnit) {
    return refuse("an XTS data unit has 16 to 65536 bytes, in whole blocks of 16");
  }
  if (input.size == 0) return {};
  const uint64_t units = (input.size + unit_size - 1) / unit_size;
  const Result<SecretBuffer> numbers = SecretBuffer::allocate(stream, units * kBlock);
  if (!numbers) return numbers.error();
  const Result<SecretBuffer> tweaks = SecretBuffer::allocate(stream, units * kBlock);
  if (!tweaks) return tweaks.error();
  const auto words = [&](const SecretBuffer& of) {
    return std::span(static_cast<uint32_t*>(of.buffer().data()), units * 4);
  };
  const auto pairs = [&](const SecretBuffer& of) {
    return std::span(static_cast<uint64_t*>(of.buffer().data()), units * 2);
  };
  const auto blocks = static_cast<uint32_t>((units + kThreads - 1) / kThreads);
  Status done = kernels::aes_unit_numbers(stream, {{blocks, 1, 1}, {kThreads, 1, 1}},
                                          pairs(*numbers), first_unit);
  if (done) {
    done =
        run_blocks(stream, tweak_key, Direction::encrypt, {}, 0, words(*numbers), words(*tweaks));
  }
  if (!done) return done;
  return run_blocks(stream, data_key, direction, pairs(*tweaks), unit_size / kBlock,
                    words_of(input), words_of(output));
}

}  // namespace hoist::aes
