// Random expressions, as deep as they are asked to be, of what is in scope.
#pragma once

#include <random>
#include <vector>

#include "ir/testing.h"

namespace hoist::px {

class RandomSource {
 public:
  explicit RandomSource(uint64_t seed) : engine_(seed) {}
  // 0 to `count` - 1.
  int below(int count) { return static_cast<int>(engine_() % static_cast<uint64_t>(count)); }
  bool one_in(int count) { return below(count) == 0; }
  uint64_t bits() { return engine_(); }
  template <typename T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<size_t>(below(static_cast<int>(list.size())))];
  }
  ir::Scalar type() { return static_cast<ir::Scalar>(below(ir::kScalars)); }
  ir::Scalar number_type() { return static_cast<ir::Scalar>(1 + below(ir::kScalars - 1)); }

 private:
  std::mt19937_64 engine_;
};

// A value of the type that tests something: small, large, a limit, special floats, any bits.
uint64_t random_value(RandomSource& random, ir::Scalar type);

// What an expression may be made of.
struct Known {
  ir::Term term;
  bool is_uniform;
};

class RandomExpressions {
 public:
  RandomExpressions(ir::Module& module, RandomSource& random)
      : module_(module), make_(module.expressions()), random_(random) {}

  std::vector<Known> known;                    // grows and shrinks with the scope
  std::vector<const ir::Array*> arrays;        // that may be loaded from
  std::vector<const ir::Function*> functions;  // that may be called
  bool faults = false;

  ir::Term any(ir::Scalar type, int depth, bool uniform);
  ir::Term constant(ir::Scalar type);
  ir::Term number(ir::Scalar type, double value) { return zero(type).number(value); }
  // An index into the array; beyond it only where faults are wanted.
  ir::Term index(const ir::Array* array, int depth, bool uniform, int lanes = 1);

 private:
  ir::Term zero(ir::Scalar type) { return {&make_, make_.constant(type, 0)}; }
  ir::Term leaf(ir::Scalar type, bool uniform);
  ir::Term load(ir::Scalar type, int depth, bool uniform);
  ir::Term call(ir::Scalar type, int depth, bool uniform);
  ir::Term boolean(int depth, bool uniform);
  ir::Term number_of(ir::Scalar type, int depth, bool uniform);
  ir::Term arithmetic(ir::Scalar type, int depth, bool uniform);
  ir::Term builtin(ir::Scalar type, int depth, bool uniform);
  ir::Term converted(ir::Scalar type, int depth, bool uniform);

  ir::Module& module_;
  ir::Expressions& make_;
  RandomSource& random_;
};

}  // namespace hoist::px
