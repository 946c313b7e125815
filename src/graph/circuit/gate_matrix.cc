#include "graph/circuit/gate_matrix.h"

#include <optional>

namespace hoist::graph::circuit {
namespace {

constexpr int8_t kZero = GateMatrix::kZero;

// A sum of two numbers that are powers of ω or zero: `power` over √2^halvings below 1.
struct Sum {
  int8_t power = kZero;
  int doublings = 0;  // of √2, that the sum has too much
};

// In a unitary group a sum of two powers is zero, twice a power, or √2 times the one between them:
// they are 4, 0 or 2 steps apart.
Sum sum(int a, int b) {
  if (a == kZero || b == kZero) return {static_cast<int8_t>(a == kZero ? b : a), 0};
  switch ((b - a) & 7) {
    case 0:
      return {static_cast<int8_t>(a), 2};
    case 2:
      return {static_cast<int8_t>((a + 1) & 7), 1};
    case 6:
      return {static_cast<int8_t>((b + 1) & 7), 1};
    default:
      return {};
  }
}

int product(int a, int b) { return a == kZero || b == kZero ? kZero : (a + b) & 7; }

}  // namespace

GateMatrix matrix_of(Gate gate) {
  switch (gate) {
    case Gate::x:
      return {.powers = {kZero, 0, 0, kZero}};
    case Gate::z:
      return {.powers = {0, kZero, kZero, 4}};
    case Gate::s:
      return {.powers = {0, kZero, kZero, 2}};
    case Gate::copy:
      return {.powers = {0, 0, 4, 0}, .is_over_root_2 = true};
    case Gate::identity:
      break;
  }
  return {};
}

GateMatrix operator*(const GateMatrix& a, const GateMatrix& b) {
  GateMatrix result;
  int over = (a.is_over_root_2 ? 1 : 0) + (b.is_over_root_2 ? 1 : 0);
  int doublings = 0;
  for (int at = 0; at < 4; ++at) {
    const int row = at & 2;
    const int column = at & 1;
    const Sum entry = sum(product(a.powers[row], b.powers[column]),
                          product(a.powers[row + 1], b.powers[2 + column]));
    result.powers[at] = entry.power;
    if (entry.power != kZero) doublings = entry.doublings;  // the same in all
  }
  result.is_over_root_2 = over - doublings == 1;
  return result;
}

std::string entry_text(const GateMatrix& matrix, int at) {
  constexpr const char* kPowers[] = {"1", "ω", "i", "ω³", "-1", "-ω", "-i", "-ω³"};
  const int8_t power = matrix.powers[at];
  if (power == kZero) return "0";
  return std::string(kPowers[power]) + (matrix.is_over_root_2 ? "/√2" : "");
}

}  // namespace hoist::graph::circuit
