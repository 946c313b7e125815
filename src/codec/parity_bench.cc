// Parity on one core beside ISA-L called directly, on whole shards, as its own benchmark does.
// Bytes are those of the data shards.
#include <benchmark/benchmark.h>
#include <fmt/core.h>
#include <isa-l/erasure_code.h>

#include <random>
#include <string>
#include <vector>

#include "codec/parity.h"

namespace hoist::codec {
namespace {

struct Case {
  size_t data_shards;
  size_t parity_shards;
  size_t shard_bytes;
};

// In the second-level cache, and far beyond the last; few and many shards.
constexpr Case kCases[] = {{10, 4, 32'768},
                           {10, 4, size_t{8} << 20},
                           {16, 2, size_t{4} << 20},
                           {40, 8, size_t{2} << 20},
                           {128, 32, size_t{1} << 19}};

struct Shards {
  explicit Shards(const Case& c)
      : parity(*Parity::create(c.data_shards, c.parity_shards)),
        bytes(c.data_shards + c.parity_shards, std::vector<std::byte>(c.shard_bytes)) {
    std::mt19937_64 random(1);
    for (size_t i = 0; i < bytes.size(); ++i) {
      for (std::byte& byte : bytes[i]) byte = static_cast<std::byte>(random());
      if (i < c.data_shards) {
        data.emplace_back(bytes[i]);
      } else {
        coding.emplace_back(bytes[i]);
      }
    }
    (void)parity.encode(data, coding);
  }

  Parity parity;
  std::vector<std::vector<std::byte>> bytes;
  std::vector<Parity::Shard> data;
  std::vector<Parity::WritableShard> coding;
};

void set_bytes(benchmark::State& state, const Case& c) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * c.data_shards * c.shard_bytes));
}

void encode(benchmark::State& state, const Case& c) {
  const Shards shards(c);
  for (auto _ : state) {
    if (!shards.parity.encode(shards.data, shards.coding)) return state.SkipWithError("refused");
  }
  set_bytes(state, c);
}

void accumulate(benchmark::State& state, const Case& c) {
  const Shards shards(c);
  for (auto _ : state) {
    for (size_t i = 0; i < c.data_shards; ++i) {
      if (!shards.parity.accumulate(i, shards.data[i], shards.coding)) {
        return state.SkipWithError("refused");
      }
    }
  }
  set_bytes(state, c);
}

// As many data shards as there are parity shards are lost.
void reconstruct(benchmark::State& state, const Case& c) {
  Shards shards(c);
  std::vector<Parity::Survivor> survivors;
  std::vector<Parity::Wanted> wanted;
  for (size_t i = 0; i < shards.bytes.size(); ++i) {
    if (i < c.parity_shards) {
      wanted.push_back({i, shards.bytes[i]});
    } else {
      survivors.push_back({i, shards.bytes[i]});
    }
  }
  for (auto _ : state) {
    if (!shards.parity.reconstruct(survivors, wanted)) return state.SkipWithError("refused");
  }
  set_bytes(state, c);
}

void isal(benchmark::State& state, const Case& c) {
  Shards shards(c);
  const int n = static_cast<int>(c.data_shards);
  const int k = static_cast<int>(c.parity_shards);
  std::vector<uint8_t> matrix((n + k) * n);
  gf_gen_cauchy1_matrix(matrix.data(), n + k, n);
  std::vector<uint8_t> tables(32 * n * k);
  ec_init_tables(n, k, &matrix[n * n], tables.data());
  std::vector<uint8_t*> pointers;
  for (auto& shard : shards.bytes) pointers.push_back(reinterpret_cast<uint8_t*>(shard.data()));
  for (auto _ : state) {
    ec_encode_data(static_cast<int>(c.shard_bytes), n, k, tables.data(), pointers.data(),
                   pointers.data() + n);
    benchmark::ClobberMemory();
  }
  set_bytes(state, c);
}

const bool registered = [] {
  for (const Case& c : kCases) {
    const std::string shape =
        fmt::format("{}+{}x{}KiB", c.data_shards, c.parity_shards, c.shard_bytes >> 10);
    using Function = void (*)(benchmark::State&, const Case&);
    constexpr std::pair<const char*, Function> kAll[] = {{"encode", encode},
                                                         {"accumulate", accumulate},
                                                         {"reconstruct", reconstruct},
                                                         {"peer:isal", isal}};
    for (const auto& [name, function] : kAll) {
      benchmark::RegisterBenchmark(
          fmt::format("codec/parity/{}/{}", name, shape).c_str(),
          [&c, function = function](benchmark::State& state) { function(state, c); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace hoist::codec
