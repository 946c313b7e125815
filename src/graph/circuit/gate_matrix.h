// The matrices of the gates: 2 × 2, exact.
//
// mark@c21 is X, mark@c42 is Z, mark@c07 is S = diag(1, i), mark@c00 is the identity. copy@c05 is
// H · X, so that `copy@c05 . mark@c21` is H. Their products are the 192 elements of the Clifford
// group of one qubit with the phases 1, ω, …, ω⁷ (ω is the eighth root of unity, ω² = i).
//
// Every element has either two zeros and two powers of ω, or four powers of ω over √2.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace hoist::graph::circuit {

enum class Gate : uint8_t { copy, x, z, s, identity };
inline constexpr int kGates = 5;

struct GateMatrix {
  static constexpr int8_t kZero = -1;

  // Row by row: k stands for ω^k, kZero for zero.
  std::array<int8_t, 4> powers = {0, kZero, kZero, 0};
  bool is_over_root_2 = false;  // all four are divided by √2

  friend bool operator==(const GateMatrix&, const GateMatrix&) = default;
  friend auto operator<=>(const GateMatrix&, const GateMatrix&) = default;
};

GateMatrix matrix_of(Gate gate);
// The product of two elements of the group.
GateMatrix operator*(const GateMatrix& a, const GateMatrix& b);

// "0", "1", "-i", "ω/√2", "-ω³"; `at` from 0 to 3, row by row.
std::string entry_text(const GateMatrix& matrix, int at);

}  // namespace hoist::graph::circuit
