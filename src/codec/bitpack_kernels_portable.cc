#include "codec/bitpack_kernels_vector.h"

namespace hoist::codec {

extern const TileKernels kPortableTileKernels;
constinit const TileKernels kPortableTileKernels = VectorKernels<4>::kernels("portable");

}  // namespace hoist::codec
