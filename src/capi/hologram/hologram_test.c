/* libhologram_ffi as a program of C uses it. */
#include <hologram_ffi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_failed(const char* condition, int line) {
  fprintf(stderr, "%s:%d: not so: %s\n  last error: %s\n", __FILE__, line, condition,
          hologram_last_error());
  exit(1);
}
#define CHECK(condition) ((condition) ? (void)0 : check_failed(#condition, __LINE__))
#define CHECK_OK(call) CHECK((call) == HOLOGRAM_OK)

static int is_text(char* text, const char* expected) {
  const int same = text != NULL && strcmp(text, expected) == 0;
  hologram_string_free(text);
  return same;
}

static uint64_t filled(uint64_t executor, const float* values, uint32_t count) {
  const uint64_t buffer = hologram_executor_allocate_buffer(executor, count);
  CHECK(buffer != 0);
  memcpy(hologram_buffer_data(executor, buffer), values, count * sizeof(float));
  return buffer;
}

static void test_buffers(uint64_t executor) {
  const uint64_t a = hologram_executor_allocate_buffer(executor, 3);
  CHECK(hologram_buffer_length(a) == 3 && hologram_buffer_size_bytes(a) == 12);
  CHECK(hologram_buffer_element_size(a) == 4 && hologram_buffer_class_index(a) == 0);
  CHECK(hologram_buffer_is_linear(a) == 1 && hologram_buffer_is_boundary(a) == 0);
  CHECK(hologram_buffer_is_empty(a) == 0 && strcmp(hologram_buffer_pool(a), "linear") == 0);
  CHECK_OK(hologram_buffer_copy_from_slice(executor, a, "[1, NaN, -Infinity]"));
  CHECK(is_text(hologram_buffer_to_vec(executor, a), "[1.0,NaN,-Infinity]"));
  CHECK_OK(hologram_buffer_fill(executor, a, 0.1f, 2));
  CHECK(is_text(hologram_buffer_copy_to_slice(executor, a), "[0.1,0.1,-Infinity]"));
  uint8_t bytes[12];
  CHECK_OK(hologram_buffer_to_bytes(executor, a, bytes, sizeof bytes));
  CHECK(hologram_buffer_verify_canonical(executor, a) == 0);
  CHECK_OK(hologram_buffer_canonicalize_all(executor, a));
  CHECK(hologram_buffer_verify_canonical(executor, a) == 1);
  CHECK_OK(hologram_buffer_copy_from_bytes(executor, a, bytes, sizeof bytes));
  CHECK(hologram_buffer_data(executor, a)[0] == 0.1f);
  CHECK(hologram_buffer_as_ptr(executor, a) == hologram_buffer_as_mut_ptr(executor, a));
  CHECK_OK(hologram_buffer_copy_from_canonical_slice(executor, a, "[0.1, 1, 2]"));
  CHECK(hologram_buffer_verify_canonical(executor, a) == 1);
  const uint64_t boundary = hologram_executor_allocate_boundary_buffer(executor, 5, 48, 256);
  CHECK(hologram_buffer_length(boundary) == 3072 && hologram_buffer_class_index(boundary) == 5);
  CHECK(strcmp(hologram_buffer_pool(boundary), "boundary") == 0);
  CHECK_OK(hologram_buffer_copy(executor, a, boundary, 2));
  hologram_buffer_cleanup(boundary);
  hologram_buffer_cleanup(a);
  hologram_buffer_cleanup(a);
}

static void test_operations(uint64_t executor) {
  const float first[] = {1, -2, 3, -4};
  const float second[] = {4, 3, 2, NAN};
  const uint64_t a = filled(executor, first, 4);
  const uint64_t b = filled(executor, second, 4);
  const uint64_t c = hologram_executor_allocate_buffer(executor, 4);
  const float* const out = hologram_buffer_data(executor, c);
  CHECK_OK(hologram_vector_add_f32(executor, a, b, c, 4));
  CHECK(out[0] == 5 && isnan(out[3]));
  CHECK_OK(hologram_vector_sub_f32(executor, a, b, c, 4));
  CHECK(out[1] == -5);
  CHECK_OK(hologram_vector_mul_f32(executor, a, b, c, 4));
  CHECK(out[2] == 6);
  CHECK_OK(hologram_vector_div_f32(executor, a, b, c, 4));
  CHECK(out[0] == 0.25f);
  CHECK_OK(hologram_vector_min_f32(executor, a, b, c, 4));
  CHECK(out[0] == 1 && out[3] == -4);
  CHECK_OK(hologram_vector_max_f32(executor, a, b, c, 4));
  CHECK(out[0] == 4 && out[3] == -4);
  CHECK_OK(hologram_vector_abs_f32(executor, a, c, 4));
  CHECK(out[1] == 2);
  CHECK_OK(hologram_vector_neg_f32(executor, a, c, 4));
  CHECK(out[2] == -3);
  CHECK_OK(hologram_vector_relu_f32(executor, b, c, 4));
  CHECK(out[3] == 0);
  CHECK_OK(hologram_vector_clip_f32(executor, a, c, 4, -1, 2));
  CHECK(out[1] == -1 && out[2] == 2);
  CHECK_OK(hologram_scalar_add_f32(executor, a, c, 4, 0.5f));
  CHECK(out[0] == 1.5f);
  CHECK_OK(hologram_scalar_mul_f32(executor, a, c, 4, 2));
  CHECK(out[3] == -8);
  CHECK_OK(hologram_sigmoid_f32(executor, a, c, 4));
  CHECK(fabsf(out[0] - 0.7310586f) < 1e-6f);
  CHECK_OK(hologram_tanh_f32(executor, a, c, 4));
  CHECK(fabsf(out[0] - 0.7615942f) < 1e-6f);
  CHECK_OK(hologram_gelu_f32(executor, a, c, 4));
  CHECK(fabsf(out[0] - 0.8411920f) < 1e-6f);
  CHECK_OK(hologram_softmax_f32(executor, a, c, 2));
  CHECK(fabsf(out[0] + out[1] - 1) < 1e-6f);
  CHECK(hologram_reduce_sum_f32(executor, a, c, 4) == -2 && out[0] == -2);
  CHECK(hologram_reduce_min_f32(executor, a, c, 4) == -4);
  CHECK(hologram_reduce_max_f32(executor, a, c, 4) == 3);
  CHECK(hologram_mse_loss_f32(executor, a, b, c, 2) == 17);
  CHECK(hologram_cross_entropy_loss_f32(executor, b, a, c, 1) == -logf(4));
  CHECK(isnan(hologram_binary_cross_entropy_loss_f32(executor, b, a, c, 1)));
  hologram_buffer_cleanup(a);
  hologram_buffer_cleanup(b);
  hologram_buffer_cleanup(c);
}

static void test_products(uint64_t executor) {
  const float left[] = {1, 2, 3, 4, 5, 6};                    /* 2 x 3 */
  const float right[] = {1, 0, 2, 1, 0, 1, 1, 2, 3, 1, 1, 0}; /* 3 x 4 */
  const uint64_t a = filled(executor, left, 6);
  const uint64_t b = filled(executor, right, 12);
  const uint64_t c = hologram_executor_allocate_buffer(executor, 8);
  CHECK_OK(hologram_gemm_f32(executor, a, b, c, 2, 3, 4));
  CHECK(is_text(hologram_buffer_to_vec(executor, c), "[10.0,5.0,7.0,5.0,22.0,11.0,19.0,14.0]"));
  CHECK(hologram_gemm_f32(executor, a, b, c, 2, 4, 3) == HOLOGRAM_INVALID_ARGUMENT);
  const uint64_t y = hologram_executor_allocate_buffer(executor, 2);
  CHECK_OK(hologram_matvec_f32(executor, a, b, y, 2, 3));
  CHECK(is_text(hologram_buffer_to_vec(executor, y), "[7.0,16.0]"));
  hologram_buffer_cleanup(a);
  hologram_buffer_cleanup(b);
  hologram_buffer_cleanup(c);
  hologram_buffer_cleanup(y);
}

static void test_tensors(uint64_t executor) {
  const float values[] = {1, 2, 3, 4, 5, 6};
  const uint64_t buffer = filled(executor, values, 6);
  const uint64_t tensor = hologram_tensor_from_buffer(buffer, "[2,3]");
  CHECK(is_text(hologram_tensor_shape(tensor), "[2,3]"));
  CHECK(is_text(hologram_tensor_strides(tensor), "[3,1]"));
  CHECK(hologram_tensor_ndim(tensor) == 2 && hologram_tensor_numel(tensor) == 6);
  const uint64_t turned = hologram_tensor_transpose(tensor);
  CHECK(hologram_tensor_is_contiguous(turned) == 0);
  const uint64_t copy = hologram_tensor_contiguous(executor, turned);
  CHECK(is_text(hologram_buffer_to_vec(executor, hologram_tensor_buffer(copy)),
                "[1.0,4.0,2.0,5.0,3.0,6.0]"));
  const uint64_t product = hologram_tensor_matmul(executor, tensor, copy);
  CHECK(is_text(hologram_tensor_shape(product), "[2,2]"));
  CHECK(hologram_tensor_offset(hologram_tensor_select(tensor, 0, 1)) == 3);
  CHECK(hologram_tensor_numel(hologram_tensor_narrow(tensor, 1, 1, 2)) == 4);
  CHECK(hologram_tensor_numel(hologram_tensor_slice(tensor, 1, 0, -1, 2)) == 4);
  CHECK(hologram_tensor_ndim(hologram_tensor_view_1d(tensor)) == 1);
  CHECK(is_text(hologram_tensor_shape(hologram_tensor_permute(tensor, "[1,0]")), "[3,2]"));
  CHECK(is_text(hologram_tensor_shape(hologram_tensor_reshape(executor, tensor, "[6]")), "[6]"));
  const uint64_t strided = hologram_tensor_from_buffer_with_strides(buffer, "[2]", "[5]");
  CHECK(hologram_tensor_numel(strided) == 2);
  CHECK(hologram_tensor_is_broadcast_compatible_with(tensor, strided) == 0);
  CHECK(is_text(hologram_tensor_broadcast_shapes("[3,1]", "[4]"), "[3,4]"));
  hologram_tensor_cleanup(tensor);
  CHECK(hologram_tensor_shape(tensor) == NULL);
}

static void test_errors(uint64_t executor) {
  hologram_clear_error();
  CHECK(hologram_last_status() == HOLOGRAM_OK && hologram_last_error()[0] == '\0');
  CHECK(hologram_vector_abs_f32(99, 1, 1, 1) == HOLOGRAM_INVALID_HANDLE);
  CHECK(strncmp(hologram_last_error(), "Executor handle 99 not found", 28) == 0);
  CHECK(hologram_last_status() == HOLOGRAM_INVALID_HANDLE);
  CHECK(isnan(hologram_reduce_sum_f32(99, 1, 1, 1)));
  CHECK(hologram_buffer_length(99) == 0 && hologram_buffer_pool(99) == NULL);
  CHECK(hologram_buffer_data(executor, 99) == NULL);
  const uint64_t a = hologram_executor_allocate_buffer(executor, 2);
  CHECK(hologram_buffer_copy_from_slice(executor, a, "[1,") == HOLOGRAM_INVALID_JSON);
  CHECK(hologram_buffer_copy_from_slice(executor, a, NULL) == HOLOGRAM_INVALID_ARGUMENT);
  CHECK(hologram_buffer_fill(executor, a, 1, 3) == HOLOGRAM_INVALID_ARGUMENT);
  CHECK(hologram_tensor_from_buffer(a, NULL) == 0);
  CHECK(hologram_new_executor_with_backend(NULL) == 0);
  hologram_clear_error();
  CHECK(hologram_new_executor_with_backend("cuda") == 0);
  CHECK(hologram_last_status() == HOLOGRAM_OK);
  CHECK(hologram_new_executor_with_backend("CPU") != 0);
  const uint64_t full = hologram_new_executor_auto();
  for (int i = 0; i < 96; ++i) CHECK(hologram_executor_allocate_buffer(full, 1) != 0);
  CHECK(hologram_executor_allocate_buffer(full, 1) == 0);
  CHECK(hologram_last_status() == HOLOGRAM_EXHAUSTED);
  hologram_executor_cleanup(full);
  hologram_string_free(NULL);
}

int main(void) {
  CHECK(strcmp(hologram_get_version(), "0.1.0") == 0);
  const uint64_t executor = hologram_new_executor();
  CHECK(executor != 0);
  test_buffers(executor);
  test_operations(executor);
  test_products(executor);
  test_tensors(executor);
  test_errors(executor);
  hologram_clear_all_registries();
  CHECK(hologram_executor_allocate_buffer(executor, 1) == 0);
  return 0;
}
