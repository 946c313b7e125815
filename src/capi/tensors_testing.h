/* Tensors that the tests of hoist/tensors.h write, and files as bytes. */
#ifndef HOIST_CAPI_TENSORS_TESTING_H
#define HOIST_CAPI_TENSORS_TESTING_H

#include <stdbool.h>

#include "capi/testing.h"
#include "hoist/tensors.h"

enum { kRows = 96, kColumns = 257, kTensors = 5 };

typedef struct sample {
  const char* name;
  const char* dtype;
  size_t rank;
  uint64_t shape[2];
  uint64_t bytes;
  unsigned char* elements;
} sample;

/* About Gaussian, around 0. */
static inline float weight(uint64_t* state) {
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += (float)(next_random(state) >> 40) / (float)(1 << 24) - 0.5f;
  return 0.02f * sum;
}

static inline void make_samples(sample* samples) {
  const sample made[kTensors] = {{"block.0.attention.w", "BF16", 2, {kRows, kColumns}, 0, NULL},
                                 {"block.0.mlp.w", "F32", 2, {kRows, kColumns}, 0, NULL},
                                 {"steps", "I64", 1, {1000, 0}, 0, NULL},
                                 {"flag", "BOOL", 0, {0, 0}, 0, NULL},
                                 {"nothing", "F32", 2, {0, 7}, 0, NULL}};
  uint64_t state = 1;
  for (int i = 0; i < kTensors; ++i) {
    samples[i] = made[i];
    uint64_t count = 1;
    for (size_t d = 0; d < made[i].rank; ++d) count *= made[i].shape[d];
    const size_t width = i == 0 ? 2 : i == 1 || i == 4 ? 4 : i == 2 ? 8 : 1;
    samples[i].bytes = count * width;
    samples[i].elements = calloc(count + 1, 8);
    CHECK(samples[i].elements != NULL);
    for (uint64_t e = 0; e < count; ++e) {
      const float value = weight(&state);
      const int64_t number = (int64_t)(next_random(&state) % 100);
      unsigned char* const at = samples[i].elements + e * width;
      if (i == 0) memcpy(at, (const char*)&value + 2, 2);
      if (i == 1) memcpy(at, &value, 4);
      if (i == 2) memcpy(at, &number, 8);
      if (i == 3) *at = 1;
    }
  }
}

static inline void free_samples(sample* samples) {
  for (int i = 0; i < kTensors; ++i) free(samples[i].elements);
}

static inline void write_samples(const char* path, const hoist_tensors_write_options* options,
                                 const sample* samples, uint8_t* root) {
  hoist_tensors_writer* writer;
  remove(path); /* of an earlier test */
  CHECK_OK(hoist_tensors_writer_create(path, options, &writer));
  for (int i = 0; i < kTensors; ++i) {
    const sample* const it = &samples[i];
    CHECK_OK(hoist_tensors_writer_add(writer, it->name, it->dtype, it->rank == 0 ? NULL : it->shape,
                                      it->rank, it->bytes == 0 ? NULL : it->elements, it->bytes));
  }
  CHECK_OK(hoist_tensors_writer_finish(writer, root));
  CHECK(hoist_tensors_writer_finish(writer, NULL) == HOIST_INVALID_ARGUMENT);
  hoist_tensors_writer_free(writer);
}

static inline unsigned char* read_whole(const char* path, size_t* size) {
  FILE* const file = fopen(path, "rb");
  CHECK(file != NULL);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char* const bytes = malloc(*size + 1);
  CHECK(bytes != NULL && fread(bytes, 1, *size, file) == *size);
  fclose(file);
  return bytes;
}

static inline bool is_there(const char* path) {
  FILE* const file = fopen(path, "rb");
  if (file != NULL) fclose(file);
  return file != NULL;
}

static inline bool same_files(const char* a, const char* b) {
  size_t size_a, size_b;
  unsigned char* const bytes_a = read_whole(a, &size_a);
  unsigned char* const bytes_b = read_whole(b, &size_b);
  const bool same = size_a == size_b && memcmp(bytes_a, bytes_b, size_a) == 0;
  free(bytes_a);
  free(bytes_b);
  return same;
}

static inline double distance(const float* a, const float* b, size_t count) {
  double error = 0, energy = 0;
  for (size_t i = 0; i < count; ++i) {
    error += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    energy += (double)a[i] * a[i];
  }
  return error / energy;
}

#endif
