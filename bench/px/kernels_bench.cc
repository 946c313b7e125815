// The px kernels that Hoist has built in, on a GPU, in its memory, each beside the same kernel by
// hand in CUDA C++ (peers.h) and copies beside cudaMemcpy:
//
//   px_kernels_bench [MIB [CASE]]
//
// prints a line of JSON a kernel: GB/s of the data that the kernel is for (copies, maps: of all
// that is read and written), the peer's, and their ratio. MIB is the size of an array (1024, a
// power of two); only cases with CASE in their names are measured. Both run ten times, in turns of
// four batches of which the fastest counts. Before that, what they make of the same data is
// compared.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "device/buffer.h"
#include "ops/aes/gpu/device_cipher.h"
#include "ops/aes/gpu/key_schedule.h"
#include "ops/crc32/gpu/large_crc32.h"
#include "ops/hash/gpu/sha256_messages.h"
#include "ops/primitives/primitives.h"
#include "peers.h"

namespace hoist {
namespace {

using Clock = std::chrono::steady_clock;
using device::Buffer;
using device::Span;
using device::Stream;

constexpr int kRuns = 10;
constexpr int kBatches = 4;
constexpr double kSameSum = 1e-5;  // sums may round otherwise

struct Case {
  std::string name;
  double bytes;
  std::function<Status()> ours;
  std::function<int()> peer;  // none: there is none
  Span<std::byte> output;
  bool rounds = false;  // the output is one f32 that may differ by rounding
};

Status status_of(int cuda_error) {
  if (cuda_error == 0) return {};
  return fail(ErrorCode::internal, fmt::format("the peer: CUDA error {}", cuda_error));
}

class Bench {
 public:
  Bench(Stream& stream, const std::string& filter) : stream_(stream), filter_(filter) {}

  void run(const Case& of) {
    if (of.name.find(filter_) == std::string::npos) return;
    const Status done = measure(of);
    if (done) return;
    failed_ = true;
    fmt::print("{{\"kernel\": \"{}\", \"error\": \"{}\"}}\n", of.name, done.error().message);
  }
  bool failed() const { return failed_; }

 private:
  // What the output holds after `work`: its CRC, or the value itself.
  Result<double> result_of(const Case& of, const std::function<Status()>& work) {
    if (Status done = stream_.fill(of.output.data, std::byte{0}, of.output.size); !done) {
      return done.error();
    }
    if (Status done = work(); !done) return done.error();
    if (of.rounds) return read<float>(of.output);
    Result<Buffer> crc = Buffer::allocate(stream_.device(), 16);
    if (!crc) return crc.error();
    if (Status done = crc32::large_crc32(stream_, crc32::Polynomial::ieee, of.output, 0,
                                         crc->view<uint32_t>().subspan(0, 1));
        !done) {
      return done.error();
    }
    return read<uint32_t>(crc->view<std::byte>());
  }

  template <typename T>
  Result<double> read(Span<std::byte> from) {
    T value = 0;
    Status done = stream_.copy(&value, from.data, sizeof value);
    if (done) done = stream_.synchronize();
    if (!done) return done.error();
    return static_cast<double>(value);
  }

  Result<double> seconds(const std::function<Status()>& work) {
    if (Status done = stream_.synchronize(); !done) return done.error();
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < kRuns; ++i) {
      if (Status done = work(); !done) return done.error();
    }
    if (Status done = stream_.synchronize(); !done) return done.error();
    return std::chrono::duration<double>(Clock::now() - begin).count() / kRuns;
  }

  Status measure(const Case& of) {
    const std::function<Status()> peer = [&] { return status_of(of.peer()); };
    const Result<double> made = result_of(of, of.ours);
    if (!made) return made.error();
    bool same = true;
    if (of.peer) {
      const Result<double> expected = result_of(of, peer);
      if (!expected) return expected.error();
      same = of.rounds ? std::abs(*made - *expected) <= std::abs(*expected) * kSameSum
                       : *made == *expected;
    }
    double ours = 1e9;
    double theirs = 1e9;
    for (int batch = 0; batch < kBatches; ++batch) {
      const Result<double> time = seconds(of.ours);
      if (!time) return time.error();
      ours = std::min(ours, *time);
      if (!of.peer) continue;
      const Result<double> peer_time = seconds(peer);
      if (!peer_time) return peer_time.error();
      theirs = std::min(theirs, *peer_time);
    }
    failed_ |= !same;
    std::string line =
        fmt::format("{{\"kernel\": \"{}\", \"gb_s\": {:.1f}", of.name, of.bytes / ours / 1e9);
    if (of.peer) {
      line += fmt::format(", \"peer_gb_s\": {:.1f}, \"ratio\": {:.3f}, \"same\": {}",
                          of.bytes / theirs / 1e9, theirs / ours, same);
    }
    fmt::print("{}}}\n", line);
    std::fflush(stdout);
    return {};
  }

  Stream& stream_;
  const std::string filter_;
  bool failed_ = false;
};

// AES's table as src/ops/aes/gpu/aes_encrypt.px has it.
std::vector<uint32_t> encryption_table() {
  const auto product = [](uint32_t a, uint32_t b) {
    uint32_t sum = 0;
    for (; b != 0; b >>= 1, a = (a << 1) ^ ((a & 0x80) != 0 ? 0x11b : 0)) {
      if ((b & 1) != 0) sum ^= a;
    }
    return sum;
  };
  std::vector<uint32_t> table;
  for (uint32_t x = 0; x < 256; ++x) {
    uint32_t inverse = 0;
    for (uint32_t y = 1; y < 256 && x != 0; ++y) {
      if (product(x, y) == 1) inverse = y;
    }
    uint32_t s = 0x63;
    for (int k = 0; k < 5; ++k) s ^= (inverse << k | inverse >> (8 - k)) & 0xff;
    table.push_back(product(s, 2) | s << 8 | s << 16 | product(s, 3) << 24);
  }
  return table;
}

struct Arrays {
  Buffer x, y, out, small, table, offsets;
  size_t size;  // bytes of x, y and out each

  Span<float> reals(const Buffer& of) const { return of.view<float>().subspan(0, size / 4); }
  Span<uint32_t> words(const Buffer& of) const { return of.view<uint32_t>().subspan(0, size / 4); }
  Span<std::byte> bytes(const Buffer& of) const { return of.view<std::byte>().subspan(0, size); }
};

constexpr size_t kMessage = 4096;

Result<Arrays> make_arrays(device::Device& device, size_t size) {
  Arrays made;
  made.size = size;
  for (Buffer* buffer : {&made.x, &made.y, &made.out}) {
    Result<Buffer> allocated = Buffer::allocate(device, size);
    if (!allocated) return allocated.error();
    *buffer = *std::move(allocated);
  }
  Result<Buffer> small = Buffer::allocate(device, size_t{32} << 20);
  if (!small) return small.error();
  made.small = *std::move(small);
  std::minstd_rand random(3);
  std::uniform_real_distribution<float> reals(-4, 4);
  std::vector<float> values(size_t{1} << 20);
  for (float& value : values) value = reals(random);
  for (size_t at = 0; at < size; at += values.size() * 4) {
    const auto all = std::as_bytes(std::span(values));
    const auto part = all.first(std::min(all.size(), size - at));
    if (Status done = made.x.upload(part, at); !done) return done.error();
    std::rotate(values.begin(), values.begin() + 12345, values.end());
    if (Status done = made.y.upload(part, at); !done) return done.error();
  }
  std::vector<uint64_t> offsets;
  for (size_t at = 0; at <= size; at += kMessage) offsets.push_back(at);
  Result<Buffer> places = Buffer::copy_of(device, std::as_bytes(std::span(offsets)));
  if (!places) return places.error();
  made.offsets = *std::move(places);
  const std::vector<uint32_t> table = encryption_table();
  Result<Buffer> tables = Buffer::copy_of(device, std::as_bytes(std::span(table)));
  if (!tables) return tables.error();
  made.table = *std::move(tables);
  return made;
}

void run_primitives(Bench& bench, Stream& stream, const Arrays& a) {
  namespace p = primitives;
  void* const on = stream.handle().pointer;
  const auto size = static_cast<double>(a.size);
  const size_t count = a.size / 4;
  const auto x = a.reals(a.x);
  const auto y = a.reals(a.y);
  const auto out = a.reals(a.out);
  const Span<std::byte> output = a.bytes(a.out);
  bench.run({"cudaMemcpy", 2 * size, [&, out, x] { return stream.copy(out.data, x.data, a.size); },
             nullptr, output});
  bench.run({"copy", 2 * size, [&] { return p::copy(stream, a.words(a.x), a.words(a.out)); },
             [=] { return peer_copy(on, x.data, out.data, count); }, output});
  bench.run({"fill", size, [&] { return p::fill(stream, a.words(a.out), 7); }, nullptr, output});
  bench.run({"saxpy", 3 * size, [&] { return p::saxpy(stream, 0.5F, x, out); },
             [=] { return peer_saxpy(on, 0.5F, x.data, out.data, count); }, output});
  bench.run({"add", 3 * size, [&] { return p::binary(stream, p::Binary::add, x, y, out); },
             [=] { return peer_add(on, x.data, y.data, out.data, count); }, output});
  bench.run({"gelu", 2 * size, [&] { return p::unary(stream, p::Unary::gelu, x, out); }, nullptr,
             output});
  const auto result = a.small.view<float>().subspan(0, 1);
  const auto scratch = a.small.view<float>().subspan(64, p::sum_scratch(count));
  bench.run({"sum", size, [&] { return p::sum(stream, x, result, scratch); },
             [=] { return peer_sum(on, x.data, scratch.data, result.data, count); },
             a.small.view<std::byte>().subspan(0, 4), true});
  size_t width = 1;
  while (width * width < count) width *= 2;
  bench.run({"transpose", 2 * size,
             [&, width] {
               return p::transpose(stream, a.words(a.x), a.words(a.out), width, count / width);
             },
             [=, &a] {
               return peer_transpose(on, a.words(a.x).data, a.words(a.out).data, width,
                                     count / width);
             },
             output});
  const auto counts = a.small.view<uint64_t>().subspan(0, 256);
  bench.run({"histogram", size, [&] { return p::histogram(stream, a.bytes(a.x), counts); },
             [=, &a] {
               return peer_histogram(on, a.x.data(), a.size,
                                     reinterpret_cast<unsigned long long*>(counts.data));
             },
             a.small.view<std::byte>().subspan(0, 2048)});
}

void run_gelu_peer(Bench& bench, Stream& stream, const Arrays& a) {
  // erf differs in its last bits, so their results are not compared.
  const auto x = a.reals(a.x);
  const auto out = a.reals(a.out);
  void* const on = stream.handle().pointer;
  bench.run({"gelu by hand", 2 * static_cast<double>(a.size),
             [=] { return status_of(peer_gelu(on, x.data, out.data, x.size)); }, nullptr,
             a.bytes(a.out)});
}

Status run_aes(Bench& bench, Stream& stream, const Arrays& a) {
  void* const on = stream.handle().pointer;
  const auto size = static_cast<double>(a.size);
  const Span<const std::byte> input = a.bytes(a.x);
  const Span<std::byte> output = a.bytes(a.out);
  for (const size_t key_size : {16U, 24U, 32U}) {
    const std::vector<uint8_t> bytes(key_size, 0x5a);
    const Result<aes::DeviceKey> key = aes::DeviceKey::create(stream, bytes);
    if (!key) return key.error();
    const std::string name = fmt::format("AES-{}", key_size * 8);
    bench.run({name + "-CTR", size,
               [&] { return aes::encrypt_ctr(stream, *key, {}, input, output); },
               [&] {
                 return peer_aes_ctr(on, static_cast<const uint32_t*>(a.table.data()), input.data,
                                     output.data, input.size / 16,
                                     key->words(aes::Direction::encrypt).data(), key->rounds());
               },
               output});
    for (const auto direction : {aes::Direction::encrypt, aes::Direction::decrypt}) {
      const char* const what = direction == aes::Direction::encrypt ? "encrypt" : "decrypt";
      bench.run({fmt::format("{}-ECB {}", name, what), size,
                 [&] { return aes::run_ecb(stream, *key, direction, input, output); }, nullptr,
                 output});
      if (key_size == 24) continue;
      bench.run(
          {fmt::format("{}-XTS {}, units of 4096", name, what), size,
           [&] { return aes::run_xts(stream, *key, *key, direction, 0, 4096, input, output); },
           nullptr, output});
    }
  }
  return {};
}

// The other design, without tables; its peer is the built-in kernel.
Status run_bitsliced(Bench& bench, Stream& stream, const Arrays& a) {
  for (const size_t key_size : {16U, 32U}) {
    const std::vector<uint8_t> bytes(key_size, 0x5a);
    const Result<aes::DeviceKey> key = aes::DeviceKey::create(stream, bytes);
    const Result<aes::KeySchedule> schedule = aes::KeySchedule::expand(bytes);
    if (!key) return key.error();
    if (!schedule) return schedule.error();
    std::vector<uint32_t> bits;
    for (int i = 0; i < (schedule->rounds + 1) * 128; ++i) {
      const auto word = static_cast<size_t>(i / 32);
      bits.push_back((schedule->encryption[word] >> (i % 32) & 1) != 0 ? ~0U : 0U);
    }
    const Result<Buffer> keys = Buffer::copy_of(stream.device(), std::as_bytes(std::span(bits)));
    if (!keys) return keys.error();
    const auto input = a.words(a.x);
    const auto output = a.words(a.out);
    const int processors = stream.device().properties().multiprocessors;
    bench.run({fmt::format("AES-{}-CTR bitsliced, beside tables", key_size * 8),
               static_cast<double>(a.size),
               [&] {
                 const long long blocks[] = {processors * 2, 1, 1};
                 const long long threads[] = {128, 1, 1};
                 return status_of(aes_ctr_bitsliced_aes_ctr_bitsliced_cuda_grid(
                     input.data, input.size, output.data, output.size,
                     static_cast<const uint32_t*>(keys->data()), bits.size(), schedule->rounds,
                     blocks, threads, stream.handle().pointer));
               },
               [&] {
                 const Status done =
                     aes::encrypt_ctr(stream, *key, {}, a.bytes(a.x), a.bytes(a.out));
                 return done ? 0 : 1;
               },
               a.bytes(a.out)});
  }
  return {};
}

void run_hashes(Bench& bench, Stream& stream, const Arrays& a) {
  void* const on = stream.handle().pointer;
  const auto size = static_cast<double>(a.size);
  const size_t messages = a.size / kMessage;
  const auto digests =
      a.small.view<std::byte>().subspan(0, std::min(messages * 32, a.small.size()));
  bench.run(
      {"SHA-256 of 4096", size,
       [&, digests] {
         return hash::sha256_messages(stream, a.bytes(a.x),
                                      a.offsets.view<const uint64_t>().subspan(0, messages + 1),
                                      digests);
       },
       [=, &a] { return peer_sha256(on, a.x.data(), messages, kMessage, digests.data); }, digests});
  const auto result = a.small.view<uint32_t>().subspan(0, 1);
  bench.run({"CRC-32", size,
             [&, result] {
               return crc32::large_crc32(stream, crc32::Polynomial::ieee, a.bytes(a.x), 0, result);
             },
             [=, &a] { return peer_crc32(on, a.x.data(), a.size, result.data); },
             a.small.view<std::byte>().subspan(0, 4)});
  bench.run({"CRC-32C", size,
             [&, result] {
               return crc32::large_crc32(stream, crc32::Polynomial::castagnoli, a.bytes(a.x), 0,
                                         result);
             },
             nullptr, a.small.view<std::byte>().subspan(0, 4)});
}

Result<bool> run_all(size_t size, const std::string& filter) {
  const Result<device::Device*> device = device::find_device("cuda");
  if (!device) return device.error();
  fmt::print("{{\"device\": \"{}\", \"mib\": {}}}\n", (*device)->properties().name, size >> 20);
  Result<Stream> stream = Stream::create(**device);
  if (!stream) return stream.error();
  const Result<Arrays> arrays = make_arrays(**device, size);
  if (!arrays) return arrays.error();
  Bench bench(*stream, filter);
  run_primitives(bench, *stream, *arrays);
  run_gelu_peer(bench, *stream, *arrays);
  if (Status done = run_aes(bench, *stream, *arrays); !done) return done.error();
  if (Status done = run_bitsliced(bench, *stream, *arrays); !done) return done.error();
  run_hashes(bench, *stream, *arrays);
  return !bench.failed();
}

}  // namespace
}  // namespace hoist

int main(int count, char** arguments) {
  const size_t mib = count > 1 ? std::stoul(arguments[1]) : 1024;
  if (mib == 0 || (mib & (mib - 1)) != 0 || mib > 4096) {
    fmt::print(stderr, "px_kernels_bench: {} MiB: a power of two up to 4096\n", mib);
    return 2;
  }
  const hoist::Result<bool> done = hoist::run_all(mib << 20, count > 2 ? arguments[2] : "");
  if (!done) {
    fmt::print(stderr, "px_kernels_bench: {}\n", done.error().message);
    return 3;
  }
  return *done ? 0 : 1;
}
