// Peers of the entropy coder: Huff0 and FSE of zstd. Built only where zstd's static library is the
// version whose functions are declared here (see CMakeLists.txt).
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include "codec/entropy.h"
#include "codec/entropy_bench_data.h"

// Huff0 and FSE of zstd 1.5.4, which its static library holds but no header declares.
extern "C" {
size_t HUF_compress4X_repeat(void* to, size_t room, const void* from, size_t size,
                             unsigned max_symbol, unsigned table_log, void* workspace,
                             size_t workspace_size, size_t* table, int* repeat, int flags);
size_t HUF_decompress4X_hufOnly_wksp(uint32_t* table, void* to, size_t size, const void* from,
                                     size_t from_size, void* workspace, size_t workspace_size,
                                     int flags);
unsigned HUF_isError(size_t code);
size_t FSE_normalizeCount(short* normalised, unsigned table_log, const unsigned* counts,
                          size_t total, unsigned max_symbol, unsigned use_low_probability);
size_t FSE_writeNCount(void* to, size_t room, const short* normalised, unsigned max_symbol,
                       unsigned table_log);
size_t FSE_buildCTable_wksp(uint32_t* table, const short* normalised, unsigned max_symbol,
                            unsigned table_log, void* workspace, size_t workspace_size);
size_t FSE_compress_usingCTable(void* to, size_t room, const void* from, size_t size,
                                const uint32_t* table);
size_t FSE_decompress_wksp_bmi2(void* to, size_t room, const void* from, size_t size,
                                unsigned max_log, void* workspace, size_t workspace_size, int bmi2);
}

namespace hoist::codec {
namespace {

constexpr size_t kPeerBlock = kMaxTileSymbols;

// A peer codes blocks of kPeerBlock symbols, each with a table of its own.
struct Peer {
  std::function<size_t(std::span<std::byte> to, std::span<const uint8_t> symbols)> encode;
  std::function<bool(std::span<const std::byte> from, std::span<uint8_t> symbols)> decode;
};

alignas(64) std::byte workspace[1 << 17];

Peer huff0() {
  return {[](std::span<std::byte> to, std::span<const uint8_t> symbols) {
            size_t table[257 + 8];
            int repeat = 0;
            return HUF_compress4X_repeat(to.data(), to.size(), symbols.data(), symbols.size(), 255,
                                         11, workspace, sizeof workspace, table, &repeat, 1);
          },
          [](std::span<const std::byte> from, std::span<uint8_t> symbols) {
            uint32_t table[1 + (1 << 12)] = {12 * 0x01000001u};
            return HUF_decompress4X_hufOnly_wksp(table, symbols.data(), symbols.size(), from.data(),
                                                 from.size(), workspace, sizeof workspace,
                                                 1) == symbols.size();
          }};
}

Peer fse() {
  constexpr unsigned kTableLog = 12;
  return {[](std::span<std::byte> to, std::span<const uint8_t> symbols) -> size_t {
            unsigned counts[256] = {};
            for (const uint8_t symbol : symbols) ++counts[symbol];
            unsigned max_symbol = 255;
            while (counts[max_symbol] == 0) --max_symbol;
            short normalised[256];
            FSE_normalizeCount(normalised, kTableLog, counts, symbols.size(), max_symbol, 1);
            const size_t header =
                FSE_writeNCount(to.data(), to.size(), normalised, max_symbol, kTableLog);
            uint32_t table[1 + (1 << (kTableLog - 1)) + 256 * 2];
            FSE_buildCTable_wksp(table, normalised, max_symbol, kTableLog, workspace,
                                 sizeof workspace);
            const size_t body = FSE_compress_usingCTable(to.data() + header, to.size() - header,
                                                         symbols.data(), symbols.size(), table);
            return body == 0 ? 0 : header + body;
          },
          [](std::span<const std::byte> from, std::span<uint8_t> symbols) {
            return FSE_decompress_wksp_bmi2(symbols.data(), symbols.size(), from.data(),
                                            from.size(), kTableLog, workspace, sizeof workspace,
                                            1) == symbols.size();
          }};
}

std::vector<std::vector<std::byte>> peer_blocks(const Peer& peer, const CountedSymbols& data) {
  std::vector<std::vector<std::byte>> blocks;
  for (size_t i = 0; i < data.symbols.size(); i += kPeerBlock) {
    std::vector<std::byte> room(2 * kPeerBlock);
    const size_t size = peer.encode(room, std::span(data.symbols).subspan(i, kPeerBlock));
    if (size <= 1 || HUF_isError(size) != 0) return {};  // it does not shrink, or is one symbol
    room.resize(size);
    blocks.push_back(std::move(room));
  }
  return blocks;
}

size_t total_size(const std::vector<std::vector<std::byte>>& blocks) {
  size_t size = 0;
  for (const auto& block : blocks) size += block.size() + 4;
  return size;
}

void encode_peer(benchmark::State& state, const std::string& name, const Peer& peer) {
  const CountedSymbols& data = cpu_data(name);
  const auto blocks = peer_blocks(peer, data);
  if (blocks.empty()) return state.SkipWithError("this peer cannot code such data");
  std::vector<std::byte> room(2 * kPeerBlock);
  for (auto _ : state) {
    for (size_t i = 0; i < data.symbols.size(); i += kPeerBlock) {
      benchmark::DoNotOptimize(peer.encode(room, std::span(data.symbols).subspan(i, kPeerBlock)));
    }
  }
  report_size(state, data, total_size(blocks));
}

void decode_peer(benchmark::State& state, const std::string& name, const Peer& peer) {
  const CountedSymbols& data = cpu_data(name);
  const auto blocks = peer_blocks(peer, data);
  if (blocks.empty()) return state.SkipWithError("this peer cannot code such data");
  std::vector<uint8_t> symbols(data.symbols.size());
  for (auto _ : state) {
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (!peer.decode(blocks[i], std::span(symbols).subspan(i * kPeerBlock, kPeerBlock))) {
        return state.SkipWithError("decoding failed");
      }
    }
    benchmark::ClobberMemory();
  }
  if (symbols != data.symbols) return state.SkipWithError("decoded something else");
  report_size(state, data, total_size(blocks));
}

bool register_all() {
  const auto add = [](const std::string& name, auto run) {
    benchmark::RegisterBenchmark(("codec/entropy/" + name).c_str(), run)
        ->Unit(benchmark::kMillisecond);
  };
  for (const auto& [data, draw] : draws()) {
    for (const auto& [name, peer] : {std::pair("huff0", huff0()), std::pair("fse", fse())}) {
      add(fmt::format("decode/peer/{}/{}", name, data),
          [data = data, peer = peer](auto& state) { decode_peer(state, data, peer); });
      add(fmt::format("encode/peer/{}/{}", name, data),
          [data = data, peer = peer](auto& state) { encode_peer(state, data, peer); });
    }
  }
  return true;
}

[[maybe_unused]] const bool registered = register_all();

}  // namespace
}  // namespace hoist::codec
