/* Tensor operations on handles: y = relu(x w), and its sum, by libhologram_ffi.
 *
 *   cc -std=c99 hologram_buffers.c -lhologram_ffi */
#include <hologram_ffi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRows = 2, kInner = 3, kColumns = 2 };

static void must(hologram_status status) {
  if (status == HOLOGRAM_OK) return;
  fprintf(stderr, "%s\n", hologram_last_error());
  exit(1);
}

static uint64_t buffer_of(uint64_t executor, const float* values, uint32_t count) {
  const uint64_t buffer = hologram_executor_allocate_buffer(executor, count);
  if (buffer == 0) must(hologram_last_status());
  memcpy(hologram_buffer_data(executor, buffer), values, count * sizeof *values);
  return buffer;
}

int main(void) {
  static const float x_values[] = {1, 2, 3, -4, -5, -6}, w_values[] = {1, 0, 0, 1, 1, 1};
  const uint64_t executor = hologram_new_executor();
  const uint64_t x = buffer_of(executor, x_values, kRows * kInner);
  const uint64_t w = buffer_of(executor, w_values, kInner * kColumns);
  const uint64_t y = hologram_executor_allocate_buffer(executor, kRows * kColumns);
  must(hologram_gemm_f32(executor, x, w, y, kRows, kInner, kColumns)); /* m, k, n */
  must(hologram_vector_relu_f32(executor, y, y, kRows * kColumns));
  const float* const values = hologram_buffer_data(executor, y);
  printf("%g %g\n%g %g\n", values[0], values[1], values[2], values[3]);
  const uint64_t total = hologram_executor_allocate_buffer(executor, 3);
  printf("sum: %g\n", hologram_reduce_sum_f32(executor, y, total, kRows * kColumns));
  hologram_executor_cleanup(executor);
  return 0;
}
