/* Weights that stay packed in memory and multiply so: a bfloat16 matrix in three quarters of its
 * bytes, exact for every bit pattern (docs/reference/packed.md). hoist/hoist.h says what holds for
 * all calls: errors, structs with sizes, threads.
 *
 *   hoist_packed_matrix* matrix;
 *   if (hoist_packed_pack("cuda", weights, rows, columns, NULL, &matrix) != HOIST_OK) ...
 *   hoist_packed_product product = {.size = sizeof product, .x = x, .count = 1, .y = y};
 *   hoist_packed_multiply(matrix, &product);      y = x Wt
 *   hoist_packed_free(matrix);
 *
 * A device is named as in hoist/tensors.h. All addresses are memory of the matrix's device. On a
 * GPU work is put on the `stream` that a call names, a cudaStream_t (null: the default stream), and
 * may be under way when the call returns; on the CPU it is done. Packing and importing wait.
 *
 * Any number of threads may use a matrix. Elements are bfloat16, row by row. */
#ifndef HOIST_PACKED_H
#define HOIST_PACKED_H

#include "hoist/hoist.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable. */
typedef struct hoist_packed_matrix hoist_packed_matrix;

typedef struct hoist_packed_form {
  size_t size;
  uint64_t rows;
  uint64_t columns;
  uint64_t escapes;     /* weights outside of their rows' windows of exponents */
  uint64_t most_in_row; /* escapes of the row that has most; 0 of what was imported */
  uint64_t bytes;       /* packed */
  uint64_t plain_bytes;
  const char* reason; /* why the matrix had better stay plain; "" where packing gains. Static. */
  const void* data;   /* the packed bytes; null of a plan */
} hoist_packed_form;

/* What packing would give, without doing it: exact. */
hoist_status hoist_packed_plan(const char* device, const void* weights, uint64_t rows,
                               uint64_t columns, void* stream, hoist_packed_form* form);

/* Packs in any case, and exactly; hoist_packed_describe() says whether it gains. */
hoist_status hoist_packed_pack(const char* device, const void* weights, uint64_t rows,
                               uint64_t columns, void* stream, hoist_packed_matrix** matrix);
/* From packed bytes in host memory, `bytes` of them, which need not be trusted: HOIST_CORRUPT where
 * their tables point outside. */
hoist_status hoist_packed_import(const char* device, const void* packed, uint64_t bytes,
                                 uint64_t rows, uint64_t columns, uint64_t escapes,
                                 hoist_packed_matrix** matrix);
/* The work that reads it must be done. */
void hoist_packed_free(hoist_packed_matrix* matrix);

hoist_status hoist_packed_describe(const hoist_packed_matrix* matrix, hoist_packed_form* form);

/* All rows into rows * columns elements. */
hoist_status hoist_packed_unpack(const hoist_packed_matrix* matrix, void* stream, void* weights);
/* `count` rows, one after the other: `rows` are their numbers. A number that is no row's is
 * HOIST_INVALID_ARGUMENT on the CPU, and gives a row of NaNs on a GPU. */
hoist_status hoist_packed_unpack_rows(const hoist_packed_matrix* matrix, void* stream,
                                      const int64_t* rows, uint64_t count, void* weights);

typedef struct hoist_packed_product {
  size_t size;
  const void* x;          /* `count` rows of `columns` elements */
  uint64_t count;         /* up to 32 multiply packed weights alone, on a GPU */
  uint64_t x_stride;      /* elements from one row to the next; 0: no gaps */
  void* y;                /* `count` rows of `rows` elements */
  uint64_t y_stride;      /* likewise */
  const void* bias;       /* `rows` elements, or null */
  const char* activation; /* "relu", "gelu", "gelu_tanh", "silu"; null: none */
  void* stream;
} hoist_packed_product;

/* y = activation(x Wt + bias), summed in f32. The same operands give the same bits on the same kind
 * of device. HOIST_UNAVAILABLE on a GPU where many rows of x need cuBLASLt and none is installed.
 */
hoist_status hoist_packed_multiply(const hoist_packed_matrix* matrix,
                                   const hoist_packed_product* product);

#ifdef __cplusplus
}
#endif

#endif
