// Compiled with the flags that CMakeLists.txt gives this file.
#include "codec/bitpack_kernels_vector.h"

namespace hoist::codec {

extern const TileKernels kAvx2TileKernels;
constinit const TileKernels kAvx2TileKernels = VectorKernels<8>::kernels("avx2");

}  // namespace hoist::codec
