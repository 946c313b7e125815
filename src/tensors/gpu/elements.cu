// What rebuilding any transformed tensor takes besides: a look at fragments, singular vectors as
// floats, floats as elements, and elements that no transform holds.
#include <cuda_runtime.h>

#include <cstdint>

#include "tensors/gpu/transform_values.cuh"

namespace hoist::tensors {
namespace {

__global__ void __launch_bounds__(kSmallBlock)
    convert(const float* in, uint64_t count, ElementScale scale, void* out) {
  const uint64_t step = uint64_t{gridDim.x} * kSmallBlock;
  for (uint64_t i = uint64_t{blockIdx.x} * kSmallBlock + threadIdx.x; i < count; i += step) {
    store_element(out, i, in[i], scale);
  }
}

// A vector of a component, a block each: sigma times `factor`, where there are sigmas, times what
// is stored.
__global__ void __launch_bounds__(kSmallBlock)
    load_vectors(const uint8_t* const* vectors, const float* const* sigmas, float factor,
                 uint64_t length, DType precision, float* out) {
  const uint8_t* const vector = vectors[blockIdx.x];
  const float scale = sigmas == nullptr ? 1 : *sigmas[blockIdx.x] * factor;
  for (uint64_t i = threadIdx.x; i < length; i += kSmallBlock) {
    out[blockIdx.x * length + i] = load_value(vector, i, precision) * scale;
  }
}

__global__ void __launch_bounds__(kSmallBlock)
    fill_runs(const ElementRun* runs, uint32_t width, uint8_t* out) {
  const ElementRun run = runs[blockIdx.x];
  for (uint64_t i = threadIdx.x; i < run.length; i += kSmallBlock) {
    for (unsigned byte = 0; byte < width; ++byte) {
      out[(run.first + i) * width + byte] = static_cast<uint8_t>(run.bits >> 8 * byte);
    }
  }
}

constexpr unsigned kSection = 16;  // a thread looks at each of so many bytes

__global__ void __launch_bounds__(kSection)
    check_fragments(const FragmentCheck* checks, uint32_t* status) {
  const FragmentCheck& check = checks[blockIdx.x];
  bool good = check.fragment[threadIdx.x] == check.header[threadIdx.x];
  for (const uint64_t end : check.ends) {
    const uint64_t at = end + threadIdx.x;
    if (at < (end + kSection - 1) / kSection * kSection) good = good && check.fragment[at] == 0;
  }
  if (!good) *status = 1;
}

}  // namespace
}  // namespace hoist::tensors

extern "C" {

// Sets the word `status` to 1 where one of `count` fragments is not as FragmentCheck says.
int hoist_cuda_tensors_check_fragments(int device, void* stream,
                                       const hoist::tensors::FragmentCheck* checks, uint32_t count,
                                       uint32_t* status) {
  using namespace hoist::tensors;
  return hoist::device::on_device(device, [&] {
    check_fragments<<<count, kSection, 0, static_cast<cudaStream_t>(stream)>>>(checks, status);
    return cudaGetLastError();
  });
}

// `vectors`: of each component, on the device; likewise `sigmas`, which may be null.
int hoist_cuda_tensors_vectors(int device, void* stream, const void* vectors, const void* sigmas,
                               float factor, uint64_t length, uint32_t count,
                               hoist::array::DType precision, void* out) {
  using namespace hoist::tensors;
  return hoist::device::on_device(device, [&] {
    load_vectors<<<count, kSmallBlock, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const uint8_t* const*>(vectors), static_cast<const float* const*>(sigmas),
        factor, length, precision, static_cast<float*>(out));
    return cudaGetLastError();
  });
}

int hoist_cuda_tensors_elements(int device, void* stream, const void* values, uint64_t count,
                                const hoist::tensors::ElementScale* scale, void* out) {
  using namespace hoist::tensors;
  constexpr unsigned kMostBlocks = 132 * 16;
  return hoist::device::on_device(device, [&] {
    const unsigned blocks = blocks_for(count) < kMostBlocks ? blocks_for(count) : kMostBlocks;
    convert<<<blocks, kSmallBlock, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const float*>(values), count, *scale, out);
    return cudaGetLastError();
  });
}

int hoist_cuda_tensors_runs(int device, void* stream, const void* runs, uint32_t count,
                            uint32_t width, void* out) {
  using namespace hoist::tensors;
  return hoist::device::on_device(device, [&] {
    fill_runs<<<count, kSmallBlock, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const ElementRun*>(runs), width, static_cast<uint8_t*>(out));
    return cudaGetLastError();
  });
}

}  // extern "C"
