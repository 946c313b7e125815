/* hoist/packed.h as a program of C uses it. */
#include "hoist/packed.h"

#include "capi/testing.h"

enum { kRows = 300, kColumns = 500, kCount = 3 };

static float f32_of(uint16_t bits) {
  const uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

/* About Gaussian, with a NaN and a tiny weight among them. */
static uint16_t* make_weights(void) {
  uint16_t* const weights = calloc(kRows * kColumns, sizeof *weights);
  CHECK(weights != NULL);
  uint64_t state = 3;
  for (int i = 0; i < kRows * kColumns; ++i) {
    float sum = 0;
    for (int k = 0; k < 8; ++k) {
      sum += (float)(next_random(&state) >> 40) / (float)(1 << 24) - 0.5f;
    }
    const float value = 0.02f * sum;
    memcpy(&weights[i], (const char*)&value + 2, sizeof *weights);
  }
  weights[0] = 0x0001;
  weights[1234] = 0x7fc5;
  return weights;
}

static void test_there_and_back(const hoist_packed_matrix* matrix, const uint16_t* weights) {
  hoist_packed_form form = {.size = sizeof form};
  CHECK_OK(hoist_packed_describe(matrix, &form));
  CHECK(form.rows == kRows && form.columns == kColumns && form.escapes >= 2);
  CHECK(form.plain_bytes == kRows * kColumns * 2 && form.bytes < form.plain_bytes * 4 / 5);
  CHECK(strcmp(form.reason, "") == 0 && form.data != NULL);
  uint16_t* const back = calloc(kRows * kColumns, sizeof *back);
  CHECK_OK(hoist_packed_unpack(matrix, NULL, back));
  CHECK(memcmp(back, weights, kRows * kColumns * sizeof *back) == 0);
  const int64_t rows[] = {299, 0, 2};
  CHECK_OK(hoist_packed_unpack_rows(matrix, NULL, rows, 3, back));
  for (int i = 0; i < 3; ++i) {
    CHECK(memcmp(back + i * kColumns, weights + rows[i] * kColumns, kColumns * 2) == 0);
  }
  const int64_t none = kRows;
  CHECK(hoist_packed_unpack_rows(matrix, NULL, &none, 1, back) == HOIST_INVALID_ARGUMENT);
  CHECK(strstr(hoist_error_message(), "300") != NULL);
  hoist_packed_matrix* copy;
  CHECK_OK(hoist_packed_import("cpu", form.data, form.bytes, kRows, kColumns, form.escapes, &copy));
  memset(back, 0, kRows * kColumns * sizeof *back);
  CHECK_OK(hoist_packed_unpack(copy, NULL, back));
  CHECK(memcmp(back, weights, kRows * kColumns * sizeof *back) == 0);
  hoist_packed_free(copy);
  free(back);
}

static void test_products(const hoist_packed_matrix* matrix, const uint16_t* weights) {
  uint16_t* const x = calloc(kCount * kColumns, sizeof *x);
  uint16_t* const y = calloc(kCount * (kRows + 7), sizeof *y);
  uint64_t state = 9;
  for (int i = 0; i < kCount * kColumns; ++i) {
    const float value = (float)(next_random(&state) >> 40) / (float)(1 << 24) - 0.5f;
    memcpy(&x[i], (const char*)&value + 2, sizeof *x);
  }
  hoist_packed_product product = {.size = sizeof product, .x = x, .count = kCount, .y = y};
  product.y_stride = kRows + 7;
  product.activation = "relu";
  CHECK_OK(hoist_packed_multiply(matrix, &product));
  for (int i = 0; i < kCount; ++i) {
    for (int row = 0; row < kRows; ++row) {
      double sum = 0;
      for (int k = 0; k < kColumns; ++k) {
        sum += (double)f32_of(weights[row * kColumns + k]) * (double)f32_of(x[i * kColumns + k]);
      }
      const double got = (double)f32_of(y[i * (kRows + 7) + row]);
      if (sum != sum) {
        CHECK(got != got);
        continue;
      }
      if (sum < 0) sum = 0;
      CHECK(got - sum < 0.01 * sum + 1e-4 && sum - got < 0.01 * sum + 1e-4);
    }
    CHECK(y[i * (kRows + 7) + kRows] == 0);
  }
  product.activation = "tanh";
  CHECK(hoist_packed_multiply(matrix, &product) == HOIST_INVALID_ARGUMENT);
  product.activation = NULL;
  product.y_stride = kRows - 1;
  CHECK(hoist_packed_multiply(matrix, &product) == HOIST_INVALID_ARGUMENT);
  product.y_stride = 0;
  product.x = NULL;
  CHECK(hoist_packed_multiply(matrix, &product) == HOIST_INVALID_ARGUMENT);
  free(x);
  free(y);
}

static void test_what_is_refused(const uint16_t* weights) {
  hoist_packed_form form = {.size = sizeof form};
  CHECK_OK(hoist_packed_plan("cpu", weights, 2, 3, NULL, &form));
  CHECK(strcmp(form.reason, "") != 0 && form.data == NULL && form.bytes > form.plain_bytes);
  CHECK(hoist_packed_plan("cpu", NULL, 2, 3, NULL, &form) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_packed_plan("cpu", weights, 1, UINT64_MAX, NULL, &form) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_packed_plan("no such", weights, 2, 3, NULL, &form) == HOIST_INVALID_ARGUMENT);
  CHECK(form.rows == 0);
  hoist_packed_matrix* matrix = NULL;
  CHECK(hoist_packed_pack("cpu", weights, 2, 3, NULL, NULL) == HOIST_INVALID_ARGUMENT);
  CHECK_OK(hoist_packed_pack("cpu", NULL, 0, 5, NULL, &matrix));
  hoist_packed_free(matrix);
  hoist_packed_free(NULL);
  unsigned char* const bytes = calloc(1, form.plain_bytes + 8192);
  CHECK(hoist_packed_import("cpu", bytes, 7, 2, 3, 0, &matrix) == HOIST_INVALID_ARGUMENT);
  CHECK_OK(hoist_packed_plan("cpu", weights, 2, 3, NULL, &form));
  CHECK(hoist_packed_import("cpu", bytes, form.bytes, 2, 3, form.escapes, &matrix) ==
        HOIST_CORRUPT);
  CHECK(matrix == NULL);
  free(bytes);
}

/* Needs no memory of the GPU's but the library's own. */
static void test_on_gpu(const hoist_packed_matrix* matrix) {
  hoist_packed_form form = {.size = sizeof form};
  CHECK_OK(hoist_packed_describe(matrix, &form));
  hoist_packed_matrix* there = NULL;
  const hoist_status status =
      hoist_packed_import("cuda", form.data, form.bytes, kRows, kColumns, form.escapes, &there);
  if (status == HOIST_UNAVAILABLE) {
    printf("on a GPU: skipped: %s\n", hoist_error_message());
    CHECK(there == NULL);
    return;
  }
  CHECK(status == HOIST_OK);
  hoist_packed_form same = {.size = sizeof same};
  CHECK_OK(hoist_packed_describe(there, &same));
  CHECK(same.bytes == form.bytes && same.escapes == form.escapes && same.data != form.data);
  hoist_packed_free(there);
  unsigned char* const damaged = malloc(form.bytes);
  memcpy(damaged, form.data, form.bytes);
  memset(damaged + form.bytes - 256, 0xff, 256);
  CHECK(hoist_packed_import("cuda", damaged, form.bytes, kRows, kColumns, form.escapes, &there) ==
        HOIST_CORRUPT);
  free(damaged);
}

int main(void) {
  uint16_t* const weights = make_weights();
  hoist_packed_matrix* matrix;
  CHECK_OK(hoist_packed_pack("cpu", weights, kRows, kColumns, NULL, &matrix));
  test_there_and_back(matrix, weights);
  test_products(matrix, weights);
  test_what_is_refused(weights);
  test_on_gpu(matrix);
  hoist_packed_free(matrix);
  free(weights);
  puts("packed: ok");
  return 0;
}
