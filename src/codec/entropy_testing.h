// What the entropy coder's tests and benchmarks share: the slow, obvious decoder that all others
// are compared with, and symbols of the distributions that matter.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "codec/entropy_table.h"

namespace hoist::codec {

// Decodes a tile that is not stored, one lane after the other at each step, by the definition
// alone: no table, wide integers, every read checked. Nothing where the tile is corrupt.
inline std::optional<std::vector<uint8_t>> oracle_decode(std::span<const std::byte> tile,
                                                         const EntropyTable& table,
                                                         size_t symbols) {
  if (tile.size() < 128 || tile.size() % 2 != 0) return std::nullopt;
  std::vector<uint64_t> states;
  for (size_t lane = 0; lane < 32; ++lane) {
    uint32_t state;
    std::memcpy(&state, &tile[4 * lane], 4);
    states.push_back(state);
  }
  size_t at = 128;
  bool enough = true;
  const auto next_word = [&]() -> uint64_t {
    if (at + 2 > tile.size()) enough = false;
    if (!enough) return 0;
    at += 2;
    return std::to_integer<uint64_t>(tile[at - 2]) | std::to_integer<uint64_t>(tile[at - 1]) << 8;
  };

  const size_t width = table.symbols_per_code();
  std::vector<uint8_t> decoded((symbols + 127) / 128 * 128);
  for (size_t group = 0; group < decoded.size(); group += 128) {
    for (size_t step = 0; step < 4; step += width) {
      std::vector<size_t> escaped;
      for (size_t lane = 0; lane < 32; ++lane) {
        const uint64_t slot = states[lane] % 4096;
        uint64_t start = 0;
        uint64_t frequency = table.escape_frequency();
        std::optional<uint16_t> value;
        for (const EntropyCode& code : table.codes()) {
          if (slot < start + code.frequency) {
            frequency = code.frequency;
            value = code.value;
            break;
          }
          start += code.frequency;
        }
        states[lane] = frequency * (states[lane] / 4096) + slot - start;
        if (states[lane] < 65536) states[lane] = states[lane] * 65536 + next_word();
        if (!value) escaped.push_back(lane);
        for (size_t i = 0; i < width && value; ++i) {
          decoded[group + 4 * lane + step + i] = static_cast<uint8_t>(*value >> 8 * i);
        }
      }
      for (const size_t lane : escaped) {
        for (size_t i = 0; i < width; ++i) {
          decoded[group + 4 * lane + step + i] = static_cast<uint8_t>(states[lane] >> 8 * i);
        }
        states[lane] = states[lane] / 65536 * 65536 + next_word();
      }
    }
    if (!enough) return std::nullopt;
  }
  if (at != tile.size()) return std::nullopt;
  if (!std::all_of(states.begin(), states.end(), [](uint64_t s) { return s == 65536; })) {
    return std::nullopt;
  }
  decoded.resize(symbols);
  return decoded;
}

// Exponent bytes of bf16 weights drawn from a Gaussian.
inline std::vector<uint8_t> exponents(size_t count, double deviation, std::mt19937_64& random) {
  std::normal_distribution<float> gaussian(0, static_cast<float>(deviation));
  std::vector<uint8_t> symbols(count);
  for (uint8_t& symbol : symbols) {
    symbol = static_cast<uint8_t>(std::bit_cast<uint32_t>(gaussian(random)) >> 23);
  }
  return symbols;
}

inline std::vector<uint8_t> uniform(size_t count, unsigned alphabet, std::mt19937_64& random) {
  std::vector<uint8_t> symbols(count);
  for (uint8_t& symbol : symbols) symbol = static_cast<uint8_t>(random() % alphabet);
  return symbols;
}

// Letters by their frequency in English, with spaces.
inline std::vector<uint8_t> letters(size_t count, std::mt19937_64& random) {
  constexpr char kSample[] =
      "the quick brown fox, having read what is written here, jumps over the lazy dog and then it "
      "returns to see that all of the other animals in this forest are still asleep; nobody knows "
      "why, but it does so each morning. \"Every one of them,\" it said in 1887, \"is "
      "DREAMING.\"\n";
  std::vector<uint8_t> symbols(count);
  for (uint8_t& symbol : symbols) {
    symbol = static_cast<uint8_t>(kSample[random() % (sizeof kSample - 1)]);
  }
  return symbols;
}

// Geometric: each next symbol half as likely, so every frequency from 2^11 to 1 occurs.
inline std::vector<uint8_t> geometric(size_t count, std::mt19937_64& random) {
  std::vector<uint8_t> symbols(count);
  for (uint8_t& symbol : symbols) symbol = static_cast<uint8_t>(std::countl_zero(random() | 1));
  return symbols;
}

// One symbol almost always.
inline std::vector<uint8_t> sparse(size_t count, std::mt19937_64& random) {
  std::vector<uint8_t> symbols(count);
  for (uint8_t& symbol : symbols) symbol = random() % 500 == 0 ? static_cast<uint8_t>(random()) : 7;
  return symbols;
}

}  // namespace hoist::codec
