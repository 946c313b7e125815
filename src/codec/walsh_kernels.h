// The transform of codec/walsh.h for each instruction set. For walsh.cc and its test.
#pragma once

#include <cstddef>
#include <span>

namespace hoist::codec::walsh_detail {

struct Kernel {
  const char* name;
  size_t min_length;
  // `length` is a power of two of at least min_length; every value is multiplied by `scale`.
  void (*run)(float* values, size_t length, float scale);
};

// What this processor can run, widest vectors first, down to single values.
std::span<const Kernel> kernels();

}  // namespace hoist::codec::walsh_detail
