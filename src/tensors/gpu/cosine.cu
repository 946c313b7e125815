// Rebuilds spectral tensors (tensors/transform/spectral.h) by the inverse cosine transform, in two
// passes over memory: coefficients are gathered from fragments on the way into the first, and
// become elements on the way out of the second. cosine_steps.h has what the passes do.
#include <cuda_runtime.h>

#include <cstdint>

#include "tensors/gpu/cosine_steps.h"
#include "tensors/gpu/transform_values.cuh"

namespace hoist::tensors {
namespace {

constexpr unsigned kMostThreads = 1024;
constexpr unsigned kWarp = 32;

template <DType kKind>
struct StoredValue {
  __device__ float operator()(const uint8_t* values, uint64_t index) const {
    return load_value(values, index, kKind);
  }
};

template <DType kKind>
struct ElementStore {
  void* out;
  ElementScale scale;
  bool whole_pairs;  // all rows begin at even elements

  __device__ void operator()(uint32_t index, Complex value, bool both) const {
    const float a = scaled_element(value.x, scale);
    const float b = scaled_element(value.y, scale);
    if (whole_pairs) {
      if constexpr (kKind == DType::f16) {
        static_cast<__half2*>(out)[index / 2] = __floats2half2_rn(a, b);
      } else if constexpr (kKind == DType::bf16) {
        static_cast<__nv_bfloat162*>(out)[index / 2] = __floats2bfloat162_rn(a, b);
      } else {
        static_cast<float2*>(out)[index / 2] = make_float2(a, b);
      }
    } else {
      store_rounded(out, index, a, kKind);
      if (both) store_rounded(out, index + 1, b, kKind);
    }
  }
};

struct BothPlans {
  CosinePlan plans[2];
  uint8_t* tables[2];
};

__global__ void __launch_bounds__(kSmallBlock) fill_tables(BothPlans both) {
  const uint32_t k = blockIdx.x * kSmallBlock + threadIdx.x;
  const CosinePlan& plan = both.plans[blockIdx.y];
  if (k < plan.length) fill_cosine_tables(plan, k, both.tables[blockIdx.y]);
}

template <typename Pass>
__global__ void __launch_bounds__(kMostThreads) run_pass(const __grid_constant__ Pass pass) {
  extern __shared__ __align__(16) uint8_t memory[];
  const uint32_t steps = pass.steps();
  for (uint32_t step = 0; step < steps; ++step) {
    if (step > 0) __syncthreads();
    pass.run_step(step, blockIdx.x, threadIdx.x, blockDim.x, reinterpret_cast<Complex*>(memory));
  }
}

// Two butterflies of radix 8 a thread.
unsigned threads_for(uint64_t values) {
  const auto threads = static_cast<unsigned>((values / 16 + kWarp - 1) / kWarp * kWarp);
  return threads < 2 * kWarp ? 2 * kWarp : threads > kMostThreads ? kMostThreads : threads;
}

template <uint32_t kSequences, typename Pass>
cudaError_t launch_pass(cudaStream_t stream, const Pass& pass) {
  const uint64_t length = pass.plan.length;
  const uint64_t shared = CosineBlock<kSequences>::bytes(length);
  const cudaError_t allowed = allow_shared(run_pass<Pass>, shared);
  if (allowed != cudaSuccess) return allowed;
  run_pass<<<pass.blocks(), threads_for(length * kSequences), shared, stream>>>(pass);
  return cudaGetLastError();
}

template <DType kPrecision>
cudaError_t launch_rows(cudaStream_t stream, const DealtValues& dealt, const uint64_t* before,
                        const BothPlans& both, float* panels) {
  const CosineRows<StoredValue<kPrecision>> pass{
      dealt, before, both.plans[0], both.tables[0], both.plans[1].length, panels};
  return launch_pass<1>(stream, pass);
}

template <uint32_t kSequences, DType kKind>
cudaError_t launch_columns(cudaStream_t stream, const float* panels, const BothPlans& both,
                           const ElementScale& scale, void* out) {
  const uint32_t columns = both.plans[0].length;
  const CosineColumns<kSequences, ElementStore<kKind>> pass{
      panels, both.plans[1], both.tables[1], columns, {out, scale, columns % 2 == 0}};
  return launch_pass<kSequences>(stream, pass);
}

template <uint32_t kSequences>
cudaError_t launch_columns(cudaStream_t stream, const float* panels, const BothPlans& both,
                           const ElementScale& scale, void* out) {
  switch (scale.kind) {
    case DType::f16:
      return launch_columns<kSequences, DType::f16>(stream, panels, both, scale, out);
    case DType::bf16:
      return launch_columns<kSequences, DType::bf16>(stream, panels, both, scale, out);
    default:
      return launch_columns<kSequences, DType::f32>(stream, panels, both, scale, out);
  }
}

}  // namespace
}  // namespace hoist::tensors

extern "C" {

// A matrix of rows x columns. `before` has rows + 1 entries; `tables` room for
// CosineTables::bytes() of columns, then of rows; `panels` for panel_values() floats. Blocks take
// 4 pairs of columns, or 2 where the device's shared memory has no room for more;
// cudaErrorNotSupported where it has none for that.
int hoist_cuda_tensors_inverse_cosine(
    int device, void* stream, const hoist::tensors::DealtValues* dealt, const uint64_t* before,
    const hoist::tensors::CosinePlan* of_rows, const hoist::tensors::CosinePlan* of_columns,
    void* tables, void* panels, const hoist::tensors::ElementScale* scale, void* out) {
  using namespace hoist::tensors;
  return hoist::device::on_device(device, [&] {
    auto* const on = static_cast<cudaStream_t>(stream);
    int room = 0;
    const cudaError_t asked =
        cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (asked != cudaSuccess) return asked;
    const auto fits = [&](uint64_t bytes) { return bytes <= static_cast<uint64_t>(room); };
    if (!fits(CosineBlock<1>::bytes(of_rows->length)) ||
        !fits(CosineBlock<2>::bytes(of_columns->length))) {
      return cudaErrorNotSupported;
    }
    auto* const first = static_cast<uint8_t*>(tables);
    const BothPlans both = {{*of_rows, *of_columns},
                            {first, first + CosineTables::bytes(of_rows->length)}};
    const uint32_t longer =
        of_rows->length > of_columns->length ? of_rows->length : of_columns->length;
    fill_tables<<<dim3(blocks_for(longer), 2), kSmallBlock, 0, on>>>(both);
    auto* const floats = static_cast<float*>(panels);
    cudaError_t error;
    switch (dealt->precision) {
      case DType::f16:
        error = launch_rows<DType::f16>(on, *dealt, before, both, floats);
        break;
      case DType::bf16:
        error = launch_rows<DType::bf16>(on, *dealt, before, both, floats);
        break;
      default:
        error = launch_rows<DType::f32>(on, *dealt, before, both, floats);
    }
    if (error != cudaSuccess) return error;
    return fits(CosineBlock<4>::bytes(of_columns->length))
               ? launch_columns<4>(on, floats, both, *scale, out)
               : launch_columns<2>(on, floats, both, *scale, out);
  });
}

}  // extern "C"
