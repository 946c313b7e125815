#include "base/count_bytes.h"

#include <emmintrin.h>

#include <algorithm>

namespace hoist {

uint64_t count_bytes(std::string_view text, char wanted) {
  const char* const data = text.data();
  const uint64_t size = text.size();
  uint64_t count = 0;
  const __m128i pattern = _mm_set1_epi8(wanted);
  uint64_t at = 0;
  while (at + 16 <= size) {
    // 255 rounds are what a byte lane can count.
    const uint64_t rounds = std::min<uint64_t>(255, (size - at) / 16);
    __m128i lanes = _mm_setzero_si128();
    for (uint64_t i = 0; i < rounds; ++i, at += 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + at));
      lanes = _mm_sub_epi8(lanes, _mm_cmpeq_epi8(bytes, pattern));
    }
    const __m128i sums = _mm_sad_epu8(lanes, _mm_setzero_si128());
    count += static_cast<uint64_t>(_mm_cvtsi128_si64(sums)) +
             static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(sums, sums)));
  }
  for (; at < size; ++at) count += data[at] == wanted ? 1 : 0;
  return count;
}

}  // namespace hoist
