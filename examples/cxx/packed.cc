#include <algorithm>
#include <cmath>
#include <cstring>
#include <hoist/packed.hpp>
#include <iostream>
#include <vector>

#include "tour.h"

using namespace hoist::tensors::packed;
namespace device = hoist::device;

namespace {

constexpr uint32_t kWords = 1024;
constexpr uint32_t kWidth = 512;
constexpr int kTokens = 6;

uint16_t bf16(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float f32(uint16_t bits) {
  const uint32_t whole = uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &whole, sizeof value);
  return value;
}

// y = x Wᵀ of plain weights, term by term.
void multiply(const std::vector<uint16_t>& weights, const std::vector<uint16_t>& x,
              std::vector<uint16_t>& y) {
  for (size_t row = 0; row < y.size(); ++row) {
    float sum = 0;
    for (size_t k = 0; k < x.size(); ++k) sum += f32(weights[row * x.size() + k]) * f32(x[k]);
    y[row] = bf16(sum);
  }
}

size_t largest(const std::vector<uint16_t>& logits) {
  size_t best = 0;
  for (size_t i = 1; i < logits.size(); ++i) {
    if (f32(logits[i]) > f32(logits[best])) best = i;
  }
  return best;
}

}  // namespace

// The smallest language model: a token's row of a table, turned a little, times that table. Tokens
// come from packed weights; those that are unpacked give the logits of the plain ones, bit for bit.
hoist::Status tour_packed() {
  const auto device = device::find_device("cpu");
  if (!device) return device.error();
  std::vector<uint16_t> weights(size_t{kWords} * kWidth);
  uint32_t state = 1;
  for (uint16_t& weight : weights) {
    float sum = -2;  // of four even numbers in [0, 1): near a normal one
    for (int i = 0; i < 4; ++i)
      sum += static_cast<float>((state = state * 1664525 + 1013904223) >> 8) / (1 << 24);
    weight = bf16(0.05F * sum);
  }
  const auto table = ResidentMatrix::pack(**device, {weights.data(), kWords, kWidth, kWidth});
  if (!table) return table.error();
  std::cout << "packed: " << 100 * table->shape().bytes() / table->shape().plain_bytes()
            << " % of the bytes\n";

  std::vector<uint16_t> unpacked(weights.size());
  if (hoist::Status done = table->unpack(unpacked.data()); !done) return done;
  std::vector<uint16_t> x(kWidth), logits(kWords), plain(kWords), exact(kWords);
  int64_t token = 1;
  bool are_same = true;
  bool are_near = true;
  for (int i = 0; i < kTokens; ++i) {
    if (hoist::Status done = table->unpack_rows(&token, 1, x.data()); !done) return done;
    std::rotate(x.begin(), x.begin() + 1, x.end());
    const Operands product = {x.data(), 1, kWidth, logits.data(), kWords};
    if (hoist::Status done = table->multiply(product); !done) return done;
    multiply(weights, x, plain);
    multiply(unpacked, x, exact);
    are_same = are_same && exact == plain;
    for (size_t row = 0; row < kWords; ++row) {
      are_near = are_near && std::abs(f32(logits[row]) - f32(plain[row])) <=
                                 0.01F * std::abs(f32(plain[row])) + 1e-4F;
    }
    token = static_cast<int64_t>(largest(logits));
  }
  std::cout << kTokens << " tokens; logits " << (are_near ? "near" : "FAR FROM")
            << " those of plain weights, unpacked " << (are_same ? "the same bits" : "OTHER BITS")
            << '\n';
  return {};
}
