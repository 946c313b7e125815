// Compiled with the flags that CMakeLists.txt gives this file.
#include "codec/bitpack_kernels_vector.h"

namespace hoist::codec {

extern const TileKernels kAvx512TileKernels;
constinit const TileKernels kAvx512TileKernels = VectorKernels<16>::kernels("avx512");

}  // namespace hoist::codec
