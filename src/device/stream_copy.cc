#include "device/stream_copy.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace hoist::device {
namespace {

// SSE2, which every x86-64 has, is as fast as wider stores here.
void stream_copy(std::byte* to, const std::byte* from, size_t size) {
  constexpr size_t kLine = 64;
  const size_t head = std::min(size, -reinterpret_cast<uintptr_t>(to) % kLine);
  std::memcpy(to, from, head);
  size_t at = head;
  for (; at + kLine <= size; at += kLine) {
    for (size_t part = 0; part < kLine; part += sizeof(__m128i)) {
      const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at + part));
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at + part), value);
    }
  }
  _mm_sfence();
  std::memcpy(to + at, from + at, size - at);
}

}  // namespace

void stream_copy_if_large(size_t total, std::byte* to, const std::byte* from, size_t size) {
  constexpr size_t kStreamFrom = size_t{8} << 20;
  if (total >= kStreamFrom) {
    stream_copy(to, from, size);
  } else {
    std::memcpy(to, from, size);
  }
}

}  // namespace hoist::device
