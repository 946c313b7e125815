// The provider against the default provider: "aes/CIPHER/hoist/BYTES" beside
// "aes/CIPHER/peer:default/BYTES". The output's memory is used again and again; a fresh buffer for
// each call, as many programs have, gains more (docs/reference/provider.md).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ops/aes/algorithms.h"
#include "ops/aes/provider_testing.h"

namespace hoist::aes {
namespace {

void update_buffers(benchmark::State& state, const Algorithm& algorithm, bool encrypting,
                    const char* properties) {
  static const TestingContext context(0);
  const CipherHandle cipher(
      EVP_CIPHER_fetch(context.get(), std::string(algorithm.name).c_str(), properties));
  const CipherState cipher_state(EVP_CIPHER_CTX_new());
  const size_t size = static_cast<size_t>(state.range(0));
  const std::vector<uint8_t> in(size, 1);
  std::vector<uint8_t> out(size + EVP_MAX_BLOCK_LENGTH);
  uint8_t key[64];
  for (size_t i = 0; i < sizeof key; ++i) key[i] = static_cast<uint8_t>(i);
  const uint8_t iv[16] = {};
  EVP_CipherInit_ex2(cipher_state.get(), cipher.get(), key, iv, encrypting, nullptr);
  for (auto _ : state) {
    int length = 0;
    EVP_CipherInit_ex2(cipher_state.get(), nullptr, nullptr, iv, encrypting, nullptr);
    EVP_CipherUpdate(cipher_state.get(), out.data(), &length, in.data(), static_cast<int>(size));
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * size));
}

void register_benches(const Algorithm& algorithm, bool encrypting) {
  const bool aead = algorithm.mode == Mode::gcm || algorithm.mode == Mode::chacha20_poly1305;
  for (const char* provider : {"default", "hoist"}) {
    const std::string peer = provider == std::string("default") ? "peer:" : "";
    const std::string direction = aead && !encrypting ? "-decryption" : "";
    const std::string name =
        "aes/" + std::string(algorithm.name) + direction + "/" + peer + provider;
    const std::string properties = std::string("provider=") + provider;
    auto* const bench = benchmark::RegisterBenchmark(
        name.c_str(), [&algorithm, encrypting, properties](benchmark::State& state) {
          update_buffers(state, algorithm, encrypting, properties.c_str());
        });
    // XTS takes 16 MiB at most.
    bench->Arg(4 << 10)->Arg(128 << 10)->Arg(1 << 20)->Arg(16 << 20)->UseRealTime();
    if (algorithm.mode != Mode::xts) bench->Arg(64 << 20);
    if (algorithm.mode == Mode::gcm) bench->Arg(256 << 20);
  }
}

[[maybe_unused]] const bool registered = [] {
  for (const Algorithm& algorithm : kAlgorithms) {
    if (algorithm.key_bits != 256) continue;
    // Only decryption can be split in CBC mode.
    if (algorithm.mode != Mode::cbc) register_benches(algorithm, true);
    if (algorithm.mode == Mode::cbc || algorithm.mode == Mode::gcm) {
      register_benches(algorithm, false);
    }
  }
  return true;
}();

}  // namespace
}  // namespace hoist::aes
