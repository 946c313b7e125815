#include "codec/crc32.h"

#include <libdeflate.h>

#include "codec/crc32_avx512.h"

namespace hoist::codec {
namespace {

constexpr Crc32Kernel kKernels[] = {{"libdeflate", libdeflate_crc32},
                                    {"avx512", crc32_detail::crc32_avx512}};

const Crc32Kernel& best_kernel() {
  static const Crc32Kernel& best = crc32_kernels().back();
  return best;
}

}  // namespace

std::span<const Crc32Kernel> crc32_kernels() {
  const std::span<const Crc32Kernel> all(kKernels);
  return crc32_detail::has_avx512() ? all : all.first(1);
}

uint32_t crc32(uint32_t crc, const void* data, size_t size) {
  return best_kernel().run(crc, data, size);
}

uint32_t adler32(uint32_t adler, const void* data, size_t size) {
  return libdeflate_adler32(adler, data, size);
}

}  // namespace hoist::codec
