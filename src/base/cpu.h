// What instructions may be used: what the CPU has, up to HOIST_ISA (scalar, avx2 or avx512).
#pragma once

namespace hoist {

struct CpuFeatures {
  bool ssse3 = false;
  bool popcnt = false;
  bool aes = false;
  bool pclmul = false;
  bool bmi2 = false;
  bool avx2 = false;  // with FMA and F16C, which no CPU with AVX2 lacks
  bool vaes = false;
  bool avx512 = false;  // F, BW, DQ and VL, as all servers' and most others have them together
  // With the above.
  bool avx512_vbmi = false;
  bool avx512_vbmi2 = false;
  bool avx512_vpclmul = false;
};

// Asked once; HOIST_ISA counts as it was then.
const CpuFeatures& cpu_features();

enum class Isa { scalar, avx2, avx512 };

// What is left of `all` under a limit.
CpuFeatures limited(CpuFeatures all, Isa most);

}  // namespace hoist
