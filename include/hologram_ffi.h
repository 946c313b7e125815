/* libhologram_ffi: tensor operations on handles, for C.
 *
 *   cc -std=c99 program.c -lhologram_ffi
 *
 *   uint64_t executor = hologram_new_executor();
 *   uint64_t a = hologram_executor_allocate_buffer(executor, 1000);
 *   float* values = hologram_buffer_data(executor, a);           // no copy
 *   …
 *   if (hologram_vector_add_f32(executor, a, a, a, 1000) != HOLOGRAM_OK) {
 *     fprintf(stderr, "%s\n", hologram_last_error());
 *   }
 *   hologram_buffer_cleanup(a);
 *   hologram_executor_cleanup(executor);
 *
 * The calls are those of the Python module hologram_ffi, with hologram_ in front of the name, and
 * mean the same: docs/reference/hologram-ffi.md has each. The order of arguments is the module's,
 * except for hologram_gemm_f32, which takes m, k, n, as the C API of that project always did.
 *
 * Handles name executors, buffers and tensors. None is 0, and none is given out twice. Data are
 * f32, lengths and dimensions count elements.
 *
 * Errors are values: a call that only does something returns a hologram_status. A call that gives
 * something gives 0, null or NaN where it fails, which hologram_last_status() tells from a result
 * that is 0 or NaN:
 *
 *   hologram_clear_error();
 *   float sum = hologram_reduce_sum_f32(executor, a, out, 1000);
 *   if (hologram_last_status() != HOLOGRAM_OK) …
 *
 * A call that fails has changed nothing. A null pointer where none is allowed is
 * HOLOGRAM_INVALID_ARGUMENT.
 *
 * Threads. Any thread may call anything at any time, and an object that is cleaned up while others
 * use it stays until they are done. No lock is held while an operation works. Accesses to the
 * elements of one buffer are the caller's to order. Each call works on the thread that calls it.
 *
 * Memory. A buffer's address stays as it is until the buffer was cleaned up, and every tensor on
 * it.
 *
 * fork(). A child goes on with its own copy of everything.
 *
 * Environment: HOIST_ISA=scalar|avx2|avx512 limits the instructions that are used. */
#ifndef HOLOGRAM_FFI_H
#define HOLOGRAM_FFI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers never change their meaning; later versions may have further ones. */
typedef enum hologram_status {
  HOLOGRAM_OK = 0,
  HOLOGRAM_INVALID_ARGUMENT = 1, /* arguments do not fit one another, or the buffers */
  HOLOGRAM_INVALID_HANDLE = 2,   /* the handle names nothing of its kind */
  HOLOGRAM_INVALID_JSON = 3,     /* the text is no JSON array of numbers */
  HOLOGRAM_EXHAUSTED = 4,        /* all 96 classes of the executor are taken, or memory is */
  HOLOGRAM_INTERNAL = 5          /* a fault in the library itself */
} hologram_status;

/* What this thread's last call that failed returned, or would have; HOLOGRAM_OK where none did. */
hologram_status hologram_last_status(void);
/* Its message, of at most 1 KiB; empty where none did. Stays until the next one. Never null. */
const char* hologram_last_error(void);
void hologram_clear_error(void);

/* "0.1.0" */
const char* hologram_get_version(void);
/* Makes every handle invalid. */
void hologram_clear_all_registries(void);
/* Frees text that a call below gave; null is allowed. */
void hologram_string_free(char* text);

/* Executors. An unknown handle is cleaned up without an error. */
uint64_t hologram_new_executor(void);
/* "cpu" in any case of letters; 0, which is no error, for other backends. */
uint64_t hologram_new_executor_with_backend(const char* backend);
uint64_t hologram_new_executor_auto(void);
void hologram_executor_cleanup(uint64_t executor);
/* Zeros. Takes the lowest free one of the executor's 96 classes until it is cleaned up. */
uint64_t hologram_executor_allocate_buffer(uint64_t executor, uint32_t len);
/* The first width * height bytes of a class (< 96), width <= 48, height <= 256. Buffers of one
 * class share its memory. */
uint64_t hologram_executor_allocate_boundary_buffer(uint64_t executor, uint8_t class_index,
                                                    uint32_t width, uint32_t height);

/* Buffers. */
uint32_t hologram_buffer_length(uint64_t buffer);
uint8_t hologram_buffer_is_empty(uint64_t buffer);
uint8_t hologram_buffer_is_linear(uint64_t buffer);
uint8_t hologram_buffer_is_boundary(uint64_t buffer);
/* "linear" or "boundary", not to be freed. */
const char* hologram_buffer_pool(uint64_t buffer);
uint32_t hologram_buffer_element_size(uint64_t buffer);
uint64_t hologram_buffer_size_bytes(uint64_t buffer);
uint8_t hologram_buffer_class_index(uint64_t buffer);
/* The elements where they lie. */
float* hologram_buffer_data(uint64_t executor, uint64_t buffer);
uint64_t hologram_buffer_as_ptr(uint64_t executor, uint64_t buffer);
uint64_t hologram_buffer_as_mut_ptr(uint64_t executor, uint64_t buffer);
/* JSON arrays of as many numbers as the buffer has elements; NaN, Infinity and -Infinity among
 * them. */
hologram_status hologram_buffer_copy_from_slice(uint64_t executor, uint64_t buffer,
                                                const char* data_json);
hologram_status hologram_buffer_copy_from_canonical_slice(uint64_t executor, uint64_t buffer,
                                                          const char* data_json);
/* To be freed with hologram_string_free(). */
char* hologram_buffer_to_vec(uint64_t executor, uint64_t buffer);
char* hologram_buffer_copy_to_slice(uint64_t executor, uint64_t buffer);
/* `count` is 4 bytes for each element, little-endian. */
hologram_status hologram_buffer_copy_from_bytes(uint64_t executor, uint64_t buffer,
                                                const uint8_t* bytes, size_t count);
hologram_status hologram_buffer_to_bytes(uint64_t executor, uint64_t buffer, uint8_t* bytes,
                                         size_t count);
/* The first `len` elements. */
hologram_status hologram_buffer_fill(uint64_t executor, uint64_t buffer, float value, uint32_t len);
hologram_status hologram_buffer_copy(uint64_t executor, uint64_t from, uint64_t to, uint32_t len);
/* The lowest bit of every byte: cleared; clear in all of them? */
hologram_status hologram_buffer_canonicalize_all(uint64_t executor, uint64_t buffer);
uint8_t hologram_buffer_verify_canonical(uint64_t executor, uint64_t buffer);
void hologram_buffer_cleanup(uint64_t buffer);

/* c[i] = f(a[i], b[i]) for the first `len` elements. An output may be an input. */
hologram_status hologram_vector_add_f32(uint64_t executor, uint64_t a, uint64_t b, uint64_t c,
                                        uint32_t len);
hologram_status hologram_vector_sub_f32(uint64_t executor, uint64_t a, uint64_t b, uint64_t c,
                                        uint32_t len);
hologram_status hologram_vector_mul_f32(uint64_t executor, uint64_t a, uint64_t b, uint64_t c,
                                        uint32_t len);
hologram_status hologram_vector_div_f32(uint64_t executor, uint64_t a, uint64_t b, uint64_t c,
                                        uint32_t len);
/* A NaN loses to a number. */
hologram_status hologram_vector_min_f32(uint64_t executor, uint64_t a, uint64_t b, uint64_t c,
                                        uint32_t len);
hologram_status hologram_vector_max_f32(uint64_t executor, uint64_t a, uint64_t b, uint64_t c,
                                        uint32_t len);
hologram_status hologram_vector_abs_f32(uint64_t executor, uint64_t a, uint64_t c, uint32_t len);
hologram_status hologram_vector_neg_f32(uint64_t executor, uint64_t a, uint64_t c, uint32_t len);
/* 0 for NaN. */
hologram_status hologram_vector_relu_f32(uint64_t executor, uint64_t a, uint64_t c, uint32_t len);
/* min(max(a, low), high); low for NaN. */
hologram_status hologram_vector_clip_f32(uint64_t executor, uint64_t a, uint64_t c, uint32_t len,
                                         float low, float high);
hologram_status hologram_scalar_add_f32(uint64_t executor, uint64_t a, uint64_t c, uint32_t len,
                                        float scalar);
hologram_status hologram_scalar_mul_f32(uint64_t executor, uint64_t a, uint64_t c, uint32_t len,
                                        float scalar);

/* gelu is the approximation by tanh; softmax goes over the first `len` elements. */
hologram_status hologram_sigmoid_f32(uint64_t executor, uint64_t input, uint64_t output,
                                     uint32_t len);
hologram_status hologram_tanh_f32(uint64_t executor, uint64_t input, uint64_t output, uint32_t len);
hologram_status hologram_gelu_f32(uint64_t executor, uint64_t input, uint64_t output, uint32_t len);
hologram_status hologram_softmax_f32(uint64_t executor, uint64_t input, uint64_t output,
                                     uint32_t len);

/* Reductions and losses are given, and written to output[0], of at least 3 elements. */
float hologram_reduce_sum_f32(uint64_t executor, uint64_t input, uint64_t output, uint32_t len);
float hologram_reduce_min_f32(uint64_t executor, uint64_t input, uint64_t output, uint32_t len);
float hologram_reduce_max_f32(uint64_t executor, uint64_t input, uint64_t output, uint32_t len);
float hologram_mse_loss_f32(uint64_t executor, uint64_t predictions, uint64_t targets,
                            uint64_t output, uint32_t len);
float hologram_cross_entropy_loss_f32(uint64_t executor, uint64_t predictions, uint64_t targets,
                                      uint64_t output, uint32_t len);
float hologram_binary_cross_entropy_loss_f32(uint64_t executor, uint64_t predictions,
                                             uint64_t targets, uint64_t output, uint32_t len);

/* C(m x n) = A(m x k) B(k x n), row-major. Mind the order: m, k, n. */
hologram_status hologram_gemm_f32(uint64_t executor, uint64_t a, uint64_t b, uint64_t c, uint32_t m,
                                  uint32_t k, uint32_t n);
/* y(rows) = A(rows x columns) x(columns) */
hologram_status hologram_matvec_f32(uint64_t executor, uint64_t matrix, uint64_t vector,
                                    uint64_t out, uint32_t rows, uint32_t columns);

/* Tensors: views of linear buffers. Shapes, strides (in elements) and orders of dimensions are JSON
 * arrays; those that are given are to be freed with hologram_string_free(). */
uint64_t hologram_tensor_from_buffer(uint64_t buffer, const char* shape_json);
uint64_t hologram_tensor_from_buffer_with_strides(uint64_t buffer, const char* shape_json,
                                                  const char* strides_json);
char* hologram_tensor_shape(uint64_t tensor);
char* hologram_tensor_strides(uint64_t tensor);
uint32_t hologram_tensor_offset(uint64_t tensor);
uint32_t hologram_tensor_ndim(uint64_t tensor);
uint32_t hologram_tensor_numel(uint64_t tensor);
uint8_t hologram_tensor_is_contiguous(uint64_t tensor);
uint64_t hologram_tensor_contiguous(uint64_t executor, uint64_t tensor);
uint64_t hologram_tensor_transpose(uint64_t tensor);
uint64_t hologram_tensor_reshape(uint64_t executor, uint64_t tensor, const char* new_shape_json);
uint64_t hologram_tensor_permute(uint64_t tensor, const char* dims_json);
uint64_t hologram_tensor_view_1d(uint64_t tensor);
uint64_t hologram_tensor_select(uint64_t tensor, uint32_t dim, uint32_t index);
uint64_t hologram_tensor_narrow(uint64_t tensor, uint32_t dim, uint32_t start, uint32_t length);
/* Negative numbers stand for the beginning, the end and 1. */
uint64_t hologram_tensor_slice(uint64_t tensor, uint32_t dim, int32_t start, int32_t end,
                               int32_t step);
uint64_t hologram_tensor_matmul(uint64_t executor, uint64_t a, uint64_t b);
uint8_t hologram_tensor_is_broadcast_compatible_with(uint64_t a, uint64_t b);
char* hologram_tensor_broadcast_shapes(const char* shape_a_json, const char* shape_b_json);
uint64_t hologram_tensor_buffer(uint64_t tensor);
void hologram_tensor_cleanup(uint64_t tensor);

#ifdef __cplusplus
}
#endif
#endif
