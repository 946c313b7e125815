#include "ops/hash/plain_sum.h"

#include <dlfcn.h>
#include <emmintrin.h>

#include <bit>

namespace hoist::hash {
namespace {

// isa-l/crc.h: uint32_t crc32_ieee(uint32_t init_crc, const unsigned char *buf, uint64_t len);
// it complements the remainder before and after.
using Crc32Ieee = uint32_t (*)(uint32_t, const unsigned char*, uint64_t);

Crc32Ieee isal_crc32_ieee() {
  static const Crc32Ieee function = [] {
    void* library = dlopen("libisal.so.2", RTLD_NOW | RTLD_LOCAL);
    return library ? reinterpret_cast<Crc32Ieee>(dlsym(library, "crc32_ieee")) : nullptr;
  }();
  return function;
}

}  // namespace

bool PosixCrc::available() { return isal_crc32_ieee() != nullptr; }

void PosixCrc::update(const uint8_t* data, size_t size) {
  crc_ = ~isal_crc32_ieee()(~crc_, data, size);
  length_ += size;
}

uint32_t PosixCrc::finish() {
  // The length follows the data, least significant byte first, without leading zero bytes.
  for (uint64_t rest = length_; rest > 0; rest >>= 8) {
    const uint8_t byte = static_cast<uint8_t>(rest);
    crc_ = ~isal_crc32_ieee()(~crc_, &byte, 1);
  }
  return ~crc_;
}

void BsdSum::update(const uint8_t* data, size_t size) {
  uint16_t sum = sum_;
  for (size_t i = 0; i < size; ++i) sum = static_cast<uint16_t>(std::rotr(sum, 1) + data[i]);
  sum_ = sum;
}

void SysvSum::update(const uint8_t* data, size_t size) {
  // Sixteen bytes at a time; the lanes hold sums of eight bytes each, far from overflowing.
  __m128i lanes = _mm_setzero_si128();
  size_t i = 0;
  for (; i + 16 <= size; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + i));
    lanes = _mm_add_epi64(lanes, _mm_sad_epu8(bytes, _mm_setzero_si128()));
  }
  uint64_t sum = static_cast<uint64_t>(_mm_cvtsi128_si64(lanes)) +
                 static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(lanes, lanes)));
  for (; i < size; ++i) sum += data[i];
  sum_ += static_cast<uint32_t>(sum);
}

uint16_t SysvSum::finish() const {
  const uint32_t once = (sum_ & 0xffff) + (sum_ >> 16);
  return static_cast<uint16_t>((once & 0xffff) + (once >> 16));
}

}  // namespace hoist::hash
