#include "ops/aes/algorithms.h"

#include <cstdlib>

#include "ops/aes/gcm_vaes.h"

namespace hoist::aes {

// A lane's share is a little less than half of an update: the default provider gets its ends.
BreakEven break_even(Mode mode) {
  switch (mode) {
    case Mode::gcm:
      if (has_vaes_gcm()) return {128 << 10, 1'000'000};
      [[fallthrough]];
    case Mode::ecb:
    case Mode::cbc:
    case Mode::ctr:
    case Mode::xts:
      return {1 << 20, 500'000};
    case Mode::chacha20_poly1305:
      return {2 << 20, 1'000'000};
  }
  std::abort();
}

const CipherFunctions& default_functions(const Algorithm& algorithm) {
  static const auto all = [] {
    std::array<CipherFunctions, kAlgorithms.size()> functions;
    for (size_t i = 0; i < kAlgorithms.size(); ++i) {
      functions[i] = find_default_cipher(kAlgorithms[i].name);
    }
    return functions;
  }();
  return all[static_cast<size_t>(&algorithm - kAlgorithms.data())];
}

const CipherFunctions& default_functions(Mode mode, size_t key_bits) {
  for (const Algorithm& algorithm : kAlgorithms) {
    if (algorithm.mode == mode && algorithm.key_bits == key_bits) {
      return default_functions(algorithm);
    }
  }
  std::abort();
}

}  // namespace hoist::aes
