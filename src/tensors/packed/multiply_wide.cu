// y = x Wᵀ with a packed W, for 33 to 256 rows of x on GPUs of compute capability 9.0.
//
// A block of threads works on 128 rows of W at a time: two groups of four warps decode tiles in
// registers, each warp 16 rows, and multiply them asynchronously (wgmma) with x in shared memory.
// Four more threads copy tiles and x ahead. Blocks share out the tiles of the whole matrix evenly;
// where one begins or ends within a sum, it leaves its part in memory, and the last to arrive adds
// up the parts in their order.
#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "device/on_device.h"
#include "tensors/packed/gpu_job.h"
#include "tensors/packed/product_end.cuh"
#include "tensors/packed/wide_copier.cuh"
#include "tensors/packed/wide_worker.cuh"

namespace hoist::tensors::packed {
namespace {

// Eight values of a row of x from `column` on, as four words; 0 behind the last column.
__device__ uint4 load_eight(const uint16_t* row, uint32_t column, uint32_t columns) {
  const uint16_t* const from = row + column;
  if (column + 8 <= columns && reinterpret_cast<uintptr_t>(from) % sizeof(uint4) == 0) {
    return *reinterpret_cast<const uint4*>(from);
  }
  uint32_t words[4] = {};
#pragma unroll
  for (uint32_t k = 0; k < 8; ++k) {
    if (column + k < columns) words[k / 2] |= uint32_t{from[k]} << 16 * (k % 2);
  }
  return make_uint4(words[0], words[1], words[2], words[3]);
}

// x as shared memory has it, for each tile: pieces p, in them columns (rows of x), in them words
// q = 0…3, each two values: those of lane q's word p. A thread turns half a tile of one row.
template <uint32_t kColumns>
__global__ void lay_out(ProductJob product, uint32_t columns, uint4* image, uint32_t* arrivals,
                        uint32_t bands) {
  wait_for_those_before();
  let_others_start();  // they may read packed weights now, which work before this may have written
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < bands; i += gridDim.x * blockDim.x) {
    arrivals[i] = 0;
  }
  uint4* const tile = image + uint64_t{blockIdx.x} * kColumns * kPieces;
  for (uint32_t i = threadIdx.x; i < kColumns * 2; i += blockDim.x) {
    const uint32_t row = i % kColumns;
    const uint32_t half = i / kColumns;
    uint4 lanes[4] = {};
    if (row < product.count) {
      const uint32_t begin = blockIdx.x * kTileColumns + half * 32;
#pragma unroll
      for (uint32_t q = 0; q < 4; ++q) {
        lanes[q] = load_eight(product.x + row * product.x_stride, begin + 8 * q, columns);
      }
    }
    uint4* const to = tile + half * 4 * kColumns + row;
    to[0] = make_uint4(lanes[0].x, lanes[1].x, lanes[2].x, lanes[3].x);
    to[kColumns] = make_uint4(lanes[0].y, lanes[1].y, lanes[2].y, lanes[3].y);
    to[2 * kColumns] = make_uint4(lanes[0].z, lanes[1].z, lanes[2].z, lanes[3].z);
    to[3 * kColumns] = make_uint4(lanes[0].w, lanes[1].w, lanes[2].w, lanes[3].w);
  }
}

template <typename F>
__global__ void __launch_bounds__(kThreads, 1)
    multiply_wide(const __grid_constant__ MatrixJob matrix,
                  const __grid_constant__ ProductJob product, const uint4* image, float* parts,
                  uint32_t* arrivals) {
  extern __shared__ __align__(128) uint8_t stages[];
  __shared__ __align__(8) Barriers<F::kStages> barriers;
  __shared__ bool is_last;
  const Share share(matrix);
  if (threadIdx.x == 0) {
    for (uint32_t i = 0; i < F::kStages; ++i) {
      init_barrier(shared_address(&barriers.full[i]), 1);
      init_barrier(shared_address(&barriers.empty[i]), kBands);
    }
    publish_barriers();
  }
  __syncthreads();
  let_others_start();
  if (threadIdx.x >= kWorkers) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x % kLanes == 0) {
      const uint32_t copier = (threadIdx.x - kWorkers) / kLanes;
      Copier<F>(matrix, share, image, shared_address(stages), barriers, copier).run();
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    wait_for_those_before();
    Worker<F>(matrix, product, share, image, stages, barriers).run(parts, arrivals, &is_last);
  }
}

// Calls call(form) with what was fastest (docs/measurements/tensors.md).
template <typename Call>
cudaError_t with_form(const MatrixJob& matrix, uint32_t count, const Call& call) {
  constexpr uint64_t kLarge = uint64_t{128} << 20;  // weights
  if (count <= 64) return call(Form<64, 3>());
  if (count > 192) return call(Form<256, 2>());
  if (count > 128) return call(Form<192, 2>());
  return uint64_t{matrix.rows} * matrix.columns >= kLarge ? call(Form<128, 4>())
                                                          : call(Form<128, 3>());
}

struct Plan {
  uint32_t columns;  // rows of x, rounded up
  uint32_t tiles;
  uint32_t bands;
  uint32_t grid;

  uint64_t image_bytes() const { return uint64_t{tiles} * columns * kTileColumns * 2; }
  uint64_t parts_bytes() const { return uint64_t{grid} * 2 * kWorkers * columns / 2 * 4; }
  uint64_t bytes() const { return image_bytes() + parts_bytes() + bands * sizeof(uint32_t); }
};

template <typename F>
cudaError_t make_plan(int device, const MatrixJob& matrix, Plan& plan) {
  int processors = 0;
  const cudaError_t error =
      cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  plan.columns = F::kColumns;
  plan.tiles = (matrix.columns + kTileColumns - 1) / kTileColumns;
  plan.bands = (matrix.rows + kTileRows * kBands - 1) / (kTileRows * kBands);
  const uint64_t units = uint64_t{plan.bands} * ((plan.tiles + kUnitTiles - 1) / kUnitTiles);
  plan.grid = static_cast<uint32_t>(std::min(units, static_cast<uint64_t>(processors)));
  return error;
}

// Each kernel asks for its shared memory once on each device.
template <typename F>
cudaError_t allow_memory(int device) {
  constexpr int kKnown = 64;
  static std::atomic<bool> is_allowed[kKnown];
  if (device < kKnown && is_allowed[device].load(std::memory_order_relaxed)) return cudaSuccess;
  const cudaError_t error = cudaFuncSetAttribute(
      multiply_wide<F>, cudaFuncAttributeMaxDynamicSharedMemorySize, F::kStageBytes * F::kStages);
  if (error == cudaSuccess && device < kKnown) is_allowed[device] = true;
  return error;
}

template <typename... Parameters, typename... Arguments>
cudaError_t launch_early(void (*kernel)(Parameters...), uint32_t grid, uint32_t threads,
                         uint32_t shared, cudaStream_t stream, Arguments... arguments) {
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t launch = {};
  launch.gridDim = dim3(grid);
  launch.blockDim = dim3(threads);
  launch.dynamicSmemBytes = shared;
  launch.stream = stream;
  launch.attrs = &early;
  launch.numAttrs = 1;
  return cudaLaunchKernelEx(&launch, kernel, static_cast<Parameters>(arguments)...);
}

template <typename F>
cudaError_t launch(int device, cudaStream_t stream, const MatrixJob& matrix,
                   const ProductJob& product, std::byte* memory) {
  Plan plan;
  cudaError_t error = make_plan<F>(device, matrix, plan);
  if (error == cudaSuccess) error = allow_memory<F>(device);
  if (error != cudaSuccess) return error;
  auto* const image = reinterpret_cast<uint4*>(memory);
  auto* const parts = reinterpret_cast<float*>(memory + plan.image_bytes());
  auto* const arrivals =
      reinterpret_cast<uint32_t*>(memory + plan.image_bytes() + plan.parts_bytes());
  error = launch_early(lay_out<F::kColumns>, plan.tiles, F::kColumns * 2, 0, stream, product,
                       matrix.columns, image, arrivals, plan.bands);
  if (error != cudaSuccess) return error;
  return launch_early(multiply_wide<F>, plan.grid, kThreads, F::kStageBytes * F::kStages, stream,
                      matrix, product, image, parts, arrivals);
}

}  // namespace
}  // namespace hoist::tensors::packed

extern "C" {

namespace packed = hoist::tensors::packed;
using hoist::device::on_device;

// `bytes` of memory that a product of `count` rows of x needs; 0 where the GPU is of another kind.
int hoist_cuda_packed_wide_bytes(int device, void*, const packed::MatrixJob* matrix, uint32_t count,
                                 uint64_t* bytes) {
  return on_device(device, [=] {
    *bytes = 0;
    int major = 0;
    int minor = 0;
    cudaError_t error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess) return error;
    error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (error != cudaSuccess || major != 9 || minor != 0) return error;
    return packed::with_form(*matrix, count, [&]<typename F>(F) {
      packed::Plan plan;
      const cudaError_t made = packed::make_plan<F>(device, *matrix, plan);
      if (made == cudaSuccess) *bytes = plan.bytes();
      return made;
    });
  });
}

// product->count: 1…256; `memory`: so many bytes, at a multiple of 256.
int hoist_cuda_packed_multiply_wide(int device, void* stream, const packed::MatrixJob* matrix,
                                    const packed::ProductJob* product, void* memory) {
  return on_device(device, [=] {
    const auto on = static_cast<cudaStream_t>(stream);
    auto* const bytes = static_cast<std::byte*>(memory);
    return packed::with_form(*matrix, product->count, [&]<typename F>(F) {
      return packed::launch<F>(device, on, *matrix, *product, bytes);
    });
  });
}

}  // extern "C"
