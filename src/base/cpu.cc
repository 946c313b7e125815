#include "base/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/option_values.h"

namespace hoist {
namespace {

#if defined(__x86_64__)
bool has_vaes() {
  constexpr unsigned kBit = 1u << 9;  // ECX of leaf 7; gcc 12 knows no name of it
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ecx & kBit) != 0;
}

CpuFeatures ask_cpu() {
  __builtin_cpu_init();
  CpuFeatures features;
  features.ssse3 = __builtin_cpu_supports("ssse3");
  features.popcnt = __builtin_cpu_supports("popcnt");
  features.aes = __builtin_cpu_supports("aes");
  features.pclmul = __builtin_cpu_supports("pclmul");
  features.bmi2 = __builtin_cpu_supports("bmi2");
  features.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  features.vaes = features.avx2 && has_vaes();
  features.avx512 = features.avx2 && __builtin_cpu_supports("avx512f") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
  features.avx512_vbmi = features.avx512 && __builtin_cpu_supports("avx512vbmi");
  features.avx512_vbmi2 = features.avx512 && __builtin_cpu_supports("avx512vbmi2");
  features.avx512_vpclmul = features.avx512 && __builtin_cpu_supports("vpclmulqdq");
  return features;
}
#else
CpuFeatures ask_cpu() { return {}; }
#endif

}  // namespace

CpuFeatures limited(CpuFeatures all, Isa most) {
  if (most == Isa::scalar) return {};
  if (most == Isa::avx2) {
    all.avx512 = all.avx512_vbmi = all.avx512_vbmi2 = all.avx512_vpclmul = false;
  }
  return all;
}

const CpuFeatures& cpu_features() {
  static const CpuFeatures features = limited(ask_cpu(), most_isa());
  return features;
}

}  // namespace hoist
