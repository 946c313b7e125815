// The CUDA decoder against the CPU's, on good tiles and on bad ones.
#include "codec/entropy_gpu.h"

#include <gtest/gtest.h>

#include <optional>

#include "codec/entropy_testing.h"
#include "device/cuda_memory.h"

namespace hoist::codec {
namespace {

constexpr size_t kGuard = 4096;
constexpr uint8_t kPoison = 0xa5;

class EntropyGpu : public testing::Test {
 protected:
  void SetUp() override {
    Result<device::Stream> stream = device::stream_on_cuda();
    if (!stream && stream.error().code == ErrorCode::unavailable) {
      GTEST_SKIP() << stream.error().message;
    }
    ASSERT_TRUE(stream) << stream.error().message;
    stream_.emplace(std::move(*stream));
  }
  std::mt19937_64 random_{20250101};
  std::optional<device::Stream> stream_;
};

EntropyTable table_for(std::span<const uint8_t> symbols, uint32_t width) {
  SymbolHistogram histogram;
  histogram.add(symbols);
  return EntropyTable::build(histogram, width).value();
}

// Decodes `coded` (which may differ from the view's bytes) between poisoned guards.
struct Decoded {
  Status status;
  std::vector<uint8_t> symbols;
  bool guards_kept = false;
};

Decoded decode_on_gpu(device::Stream& stream, const EntropyView& view,
                      std::span<const std::byte> coded, const EntropyTable& table) {
  Decoded result;
  auto section = CudaEntropySection::prepare(stream, view, table).value();
  const auto bytes = device::copy_to_cuda(coded).value();
  const size_t count = view.symbols();
  auto symbols = device::allocate_on_cuda(count + 2 * kGuard).value();
  EXPECT_TRUE(symbols.fill(std::byte{kPoison}));
  result.status = section.decode(bytes.data(), static_cast<uint8_t*>(symbols.data()) + kGuard);
  if (result.status) result.status = section.finish();
  std::vector<uint8_t> all(count + 2 * kGuard);
  EXPECT_TRUE(symbols.download(std::as_writable_bytes(std::span(all))));
  const auto poisoned = [](uint8_t byte) { return byte == kPoison; };
  result.guards_kept = std::all_of(all.begin(), all.begin() + kGuard, poisoned) &&
                       std::all_of(all.end() - kGuard, all.end(), poisoned);
  result.symbols.assign(all.begin() + kGuard, all.end() - kGuard);
  return result;
}

TEST_F(EntropyGpu, DecodesWhatTheCpuEncodes) {
  for (const size_t size : {0, 1, 127, 129, 1000, 8192, 65536, 65537, 300003, 5000000}) {
    const std::vector<uint8_t> inputs[] = {
        exponents(size, 0.02, random_), letters(size, random_),       geometric(size, random_),
        sparse(size, random_),          uniform(size, 2, random_),    uniform(size, 256, random_),
        uniform(size, 255, random_),    std::vector<uint8_t>(size, 9)};
    for (const std::vector<uint8_t>& symbols : inputs) {
      for (const uint32_t width : {1u, 2u}) {
        // Some tables know the symbols, others escape all the time.
        const bool fits = random_() % 2 == 0 && size > 1;
        const EntropyTable table =
            table_for(fits ? symbols : exponents(10000, 0.02, random_), width);
        const uint32_t tile_symbols = random_() % 2 == 0 ? kMinTileSymbols : kMaxTileSymbols;
        const auto coded = entropy_encode(symbols, table, tile_symbols).value();
        const EntropyView view = EntropyView::parse(coded).value();
        const Decoded decoded = decode_on_gpu(*stream_, view, coded, table);
        ASSERT_TRUE(decoded.status) << decoded.status.error().message;
        ASSERT_TRUE(decoded.guards_kept);
        ASSERT_EQ(decoded.symbols, symbols);
      }
    }
  }
}

TEST_F(EntropyGpu, JudgesCorruptBytesAsTheCpuDoes) {
  for (int round = 0; round < 100; ++round) {
    const size_t size = 1 + random_() % 200000;
    const std::vector<uint8_t> symbols = exponents(size, 0.02, random_);
    const EntropyTable table = table_for(exponents(10000, 0.02, random_), 1 + round % 2);
    const auto coded = entropy_encode(symbols, table, kMinTileSymbols).value();
    const EntropyView view = EntropyView::parse(coded).value();
    auto changed = coded;
    const size_t first = view.tiles()[0].offset;
    for (int change = 0; change < 1 + round % 5; ++change) {
      changed[first + random_() % (coded.size() - first)] ^=
          static_cast<std::byte>(1 + random_() % 255);
    }
    if (round % 10 == 9) {
      for (size_t i = first; i < changed.size(); ++i)
        changed[i] = static_cast<std::byte>(random_());
    }
    const auto reparsed = EntropyView::parse(changed);
    const Decoded decoded = decode_on_gpu(*stream_, view, changed, table);
    ASSERT_TRUE(decoded.guards_kept);
    if (!reparsed) continue;  // only padding: the CPU refuses it earlier
    std::vector<uint8_t> expected(size);
    const Status status = entropy_decode(*reparsed, table, expected);
    ASSERT_EQ(decoded.status.has_value(), status.has_value());
    if (status) {
      ASSERT_EQ(decoded.symbols, expected);
    }
  }
}

}  // namespace
}  // namespace hoist::codec
