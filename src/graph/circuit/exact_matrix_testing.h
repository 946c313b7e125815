// Matrices of gates by whole numbers, in another way than gate_matrix.h: for tests.
//
// An entry is (a + bω + cω² + dω³) / √2^n with whole a, b, c, d. ω⁴ = -1, and √2 = ω - ω³.
#pragma once

#include <array>
#include <compare>
#include <vector>

#include "graph/circuit/gate_matrix.h"

namespace hoist::graph::circuit {

using Numerator = std::array<long, 4>;

inline Numerator operator+(const Numerator& a, const Numerator& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]};
}

inline Numerator operator*(const Numerator& a, const Numerator& b) {
  Numerator product{};
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 4; ++k) product[(i + k) % 4] += (i + k < 4 ? 1 : -1) * a[i] * b[k];
  }
  return product;
}

inline constexpr Numerator kRoot2 = {0, 1, 0, -1};

struct ExactMatrix {
  std::array<Numerator, 4> entries{};
  int over = 0;  // the power of √2 that divides all; the least one

  friend auto operator<=>(const ExactMatrix&, const ExactMatrix&) = default;
  friend bool operator==(const ExactMatrix&, const ExactMatrix&) = default;

  // Twice an entry over √2 is √2 · entry: whole where the product's numbers are even.
  void reduce() {
    for (; over > 0; --over) {
      std::array<Numerator, 4> less = entries;
      for (Numerator& entry : less) {
        entry = entry * kRoot2;
        for (long& number : entry) {
          if (number % 2 != 0) return;
          number /= 2;
        }
      }
      entries = less;
    }
  }
};

inline ExactMatrix operator*(const ExactMatrix& a, const ExactMatrix& b) {
  ExactMatrix product{.over = a.over + b.over};
  for (int row = 0; row < 2; ++row) {
    for (int column = 0; column < 2; ++column) {
      product.entries[2 * row + column] =
          a.entries[2 * row] * b.entries[column] + a.entries[2 * row + 1] * b.entries[2 + column];
    }
  }
  product.reduce();
  return product;
}

inline ExactMatrix exact(long a, long b, long c, long d, long i_of_d = 0, int over = 0) {
  return {{Numerator{a}, Numerator{b}, Numerator{c}, Numerator{d, 0, i_of_d, 0}}, over};
}

inline ExactMatrix exact_matrix(Gate gate) {
  const ExactMatrix h = exact(1, 1, 1, -1, 0, 1);
  const ExactMatrix x = exact(0, 1, 1, 0);
  switch (gate) {
    case Gate::x:
      return x;
    case Gate::z:
      return exact(1, 0, 0, -1);
    case Gate::s:
      return exact(1, 0, 0, 0, 1);
    case Gate::copy:
      return h * x;
    case Gate::identity:
      break;
  }
  return exact(1, 0, 0, 1);
}

inline ExactMatrix exact_product(const std::vector<Gate>& word) {
  ExactMatrix product = exact_matrix(Gate::identity);
  for (const Gate gate : word) product = product * exact_matrix(gate);
  return product;
}

inline ExactMatrix exact_of(const GateMatrix& matrix) {
  ExactMatrix result{.over = matrix.is_over_root_2 ? 1 : 0};
  for (int at = 0; at < 4; ++at) {
    const int power = matrix.powers[at];
    if (power != GateMatrix::kZero) result.entries[at][power & 3] = power < 4 ? 1 : -1;
  }
  return result;
}

}  // namespace hoist::graph::circuit
