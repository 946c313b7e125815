// The values of an array, as lanes have them (types.h): exact for each element type.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <variant>
#include <vector>

#include "graph/program/types.h"

namespace hoist::graph::program {

class Values {
 public:
  using F32 = std::vector<float>;
  using F64 = std::vector<double>;
  using I64 = std::vector<int64_t>;  // u64 by its bits

  // These are f32.
  Values() = default;
  explicit Values(size_t count, float value = 0) : all_(F32(count, value)) {}
  Values(std::initializer_list<float> values) : all_(F32(values)) {}
  Values(F32 values) : all_(std::move(values)) {}
  Values(F64 values) : all_(std::move(values)) {}
  Values(I64 values) : all_(std::move(values)) {}
  // Zeros.
  Values(Lanes lanes, size_t count) {
    if (lanes == Lanes::f32) all_ = F32(count);
    if (lanes == Lanes::f64) all_ = F64(count);
    if (lanes == Lanes::i64 || lanes == Lanes::u64) all_ = I64(count);
  }

  size_t size() const {
    return std::visit([](const auto& values) { return values.size(); }, all_);
  }
  bool empty() const { return size() == 0; }
  size_t lane() const { return std::holds_alternative<F32>(all_) ? 4 : 8; }
  bool has(Lanes lanes) const { return all_.index() == Values(lanes, 0).all_.index(); }

  const void* bytes() const {
    return std::visit([](const auto& values) -> const void* { return values.data(); }, all_);
  }
  void* bytes() {
    return std::visit([](auto& values) -> void* { return values.data(); }, all_);
  }

  const F64& f64() const { return std::get<F64>(all_); }
  F64& f64() { return std::get<F64>(all_); }
  const I64& i64() const { return std::get<I64>(all_); }
  I64& i64() { return std::get<I64>(all_); }
  const F32& f32() const { return std::get<F32>(all_); }
  F32& f32() { return std::get<F32>(all_); }

  // Those of f32 alone.
  float* data() { return f32().data(); }
  const float* data() const { return f32().data(); }
  float& operator[](size_t i) { return f32()[i]; }
  float operator[](size_t i) const { return f32()[i]; }
  auto begin() { return f32().begin(); }
  auto begin() const { return f32().begin(); }
  auto end() { return f32().end(); }
  auto end() const { return f32().end(); }
  void resize(size_t count) { f32().resize(count); }
  void push_back(float value) { f32().push_back(value); }
  operator const F32&() const { return f32(); }

  // Equal bits.
  bool operator==(const Values& other) const;

 private:
  std::variant<F32, F64, I64> all_;
};

}  // namespace hoist::graph::program
