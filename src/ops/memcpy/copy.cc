#include "ops/memcpy/copy.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace hoist::memcpy {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kPage = 4096;
// A thread takes so many bytes of the target at a time: no two threads fault in the same huge page.
constexpr size_t kChunk = size_t{2} << 20;

void copy_lines(std::byte* to, const std::byte* from, size_t lines) {
  for (size_t i = 0; i < lines; ++i, to += kLine, from += kLine) {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* target = reinterpret_cast<__m128i*>(to);
    const __m128i a = _mm_loadu_si128(source);
    const __m128i b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2);
    const __m128i d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  _mm_sfence();  // such stores are not ordered by the locks that tell of the work's end
}

}  // namespace

void copy_alone(std::byte* to, const std::byte* from, size_t size) {
  const size_t head = std::min(size, -reinterpret_cast<uintptr_t>(to) % kLine);
  const size_t lines = (size - head) / kLine;
  const size_t tail = head + lines * kLine;
  std::memcpy(to, from, head);
  copy_lines(to + head, from + head, lines);
  std::memcpy(to + tail, from + tail, size - tail);
}

void copy(std::byte* to, const std::byte* from, size_t size, ThreadPool& pool) {
  const size_t first = std::min(size, kChunk - reinterpret_cast<uintptr_t>(to) % kChunk);
  const size_t chunks = 1 + (size - first + kChunk - 1) / kChunk;
  pool.parallel_for(chunks, [=](size_t chunk) {
    const size_t start = chunk == 0 ? 0 : first + (chunk - 1) * kChunk;
    const size_t end = std::min(size, first + chunk * kChunk);
    copy_alone(to + start, from + start, end - start);
  });
}

void touch(std::byte* to, const std::byte* from, size_t size) {
  const auto touch_at = [=](size_t at) {
    const auto* source = reinterpret_cast<const volatile std::byte*>(from + at);
    auto* target = reinterpret_cast<volatile std::byte*>(to + at);
    static_cast<void>(*source);
    *target = *target;
  };
  for (size_t at = 0; at < size; at += kPage) touch_at(at);
  if (size > 0) touch_at(size - 1);
}

}  // namespace hoist::memcpy
