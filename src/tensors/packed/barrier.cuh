// Barriers in shared memory, and copies into it that end at one (PTX ISA, "mbarrier" and
// "cp.async.bulk"). Of compute capability 9.0 on.
#pragma once

#include <cstdint>

namespace hoist::tensors::packed {

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void init_barrier(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
// Other threads and copies see barriers that were made before.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;");
}

// Arrives, and has the barrier wait for so many bytes of copies.
__device__ __forceinline__ void expect_bytes(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Until the phase of this parity is over.
__device__ __forceinline__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{.reg .pred done; again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1; @done bra end; "
      "bra again; end:}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// `bytes`: a multiple of 16, as both addresses are.
__device__ __forceinline__ void copy_in(uint32_t to, const void* from, uint32_t bytes,
                                        uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

}  // namespace hoist::tensors::packed
