// The px kernels' peers: the same work, by hand in CUDA C++. Each puts its work on the stream (a
// cudaStream_t) and gives a cudaError_t; memory lies on the device, aligned to 16 bytes, and
// lengths are multiples of what a kernel takes at a time.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
int peer_copy(void* stream, const float* from, float* to, uint64_t count);
int peer_saxpy(void* stream, float a, const float* x, float* y, uint64_t count);
int peer_add(void* stream, const float* x, const float* y, float* out, uint64_t count);
int peer_gelu(void* stream, const float* x, float* out, uint64_t count);
// `sums` has a value for each 16384.
int peer_sum(void* stream, const float* values, float* sums, float* result, uint64_t count);
int peer_transpose(void* stream, const uint32_t* from, uint32_t* to, uint64_t width,
                   uint64_t height);
int peer_histogram(void* stream, const void* data, uint64_t size, unsigned long long* counts);
// `table` is aes_ctr.px's ENCRYPTION, on the device.
int peer_aes_ctr(void* stream, const uint32_t* table, const void* input, void* output,
                 uint64_t blocks, const uint32_t* keys, int rounds);
// What `hoist px build` makes of aes_ctr_bitsliced.px.
int aes_ctr_bitsliced_aes_ctr_bitsliced_cuda_grid(const uint32_t* input, size_t input_length,
                                                  uint32_t* output, size_t output_length,
                                                  const uint32_t* keys, size_t keys_length,
                                                  int32_t rounds, const long long blocks[3],
                                                  const long long threads[3], void* stream);
// Messages of `size` bytes, a multiple of 64.
int peer_sha256(void* stream, const void* data, uint64_t messages, uint64_t size, void* digests);
// Whole steps of 32 KiB a block; `result` becomes the CRC-32.
int peer_crc32(void* stream, const void* data, uint64_t size, uint32_t* result);
}
