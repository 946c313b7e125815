/* Weights that load progressively, and a search that loses nothing, from C:
 *
 *   cc -std=c99 capi_example.c -o capi_example $(pkg-config --cflags --libs hoist) -lm
 *   ./capi_example weights.holo
 */
#include <hoist/match.h>
#include <hoist/tensors.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRows = 256, kColumns = 512, kCount = kRows * kColumns };

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, hoist_error_message());
  return 1;
}

/* As many layers as are there, one after the other; each makes all elements better. */
static int read_progressively(const char* path, const float* weights) {
  hoist_tensors_file* file;
  if (hoist_tensors_open(path, NULL, &file) != HOIST_OK) return fail("open");
  size_t number;
  hoist_tensor tensor = {.size = sizeof tensor};
  if (hoist_tensors_find(file, "weight", &number) != HOIST_OK) return fail("find");
  if (hoist_tensors_describe(file, number, &tensor) != HOIST_OK) return fail("describe");
  float* const loaded = malloc(tensor.bytes);
  for (size_t layers = 1; layers <= tensor.parts; layers *= 2) {
    hoist_tensors_read_options options = {.size = sizeof options, .layers = layers};
    double quality;
    if (hoist_tensors_read(file, number, &options, loaded, tensor.bytes, &quality) != HOIST_OK) {
      return fail("read");
    }
    printf("%zu of %zu layers: quality %.6f\n", layers, tensor.parts, quality);
  }
  if (hoist_tensors_read(file, number, NULL, loaded, tensor.bytes, NULL) != HOIST_OK) {
    return fail("read");
  }
  const int same = memcmp(loaded, weights, tensor.bytes) == 0;
  printf("all layers: %s\n", same ? "bit for bit" : "DIFFERENT");
  free(loaded);
  hoist_tensors_close(file);
  return same ? 0 : 1;
}

static int write_weights(const char* path, const float* weights) {
  const uint64_t shape[] = {kRows, kColumns};
  hoist_tensors_writer* writer;
  if (hoist_tensors_writer_create(path, NULL, &writer) != HOIST_OK) return fail("create");
  if (hoist_tensors_writer_add(writer, "weight", "F32", shape, 2, weights,
                               kCount * sizeof *weights) != HOIST_OK ||
      hoist_tensors_writer_finish(writer, NULL) != HOIST_OK) {
    fail("write");
    hoist_tensors_writer_free(writer);
    return 1;
  }
  hoist_tensors_writer_free(writer);
  return 0;
}

static int search_patterns(void) {
  const hoist_match_open_options create = {.size = sizeof create, .create = 1};
  hoist_match_index* index;
  if (hoist_match_open(NULL, &create, &index) != HOIST_OK) return fail("index");
  const char* const days[][3] = {{"coffee", "mail", "meeting"}, {"coffee", "meeting", "lunch"}};
  const size_t one_each[] = {1, 1, 1};
  for (int i = 0; i < 2; ++i) {
    const hoist_match_events day = {days[i], one_each, 3};
    if (hoist_match_learn(index, &day, NULL, NULL) != HOIST_OK) return fail("learn");
  }
  const char* const now[] = {"coffee", "lunch"};
  const hoist_match_events state = {now, one_each, 2};
  const hoist_match_predict_options options = {.size = sizeof options, .threshold = 0.5, .top = 1};
  char* records;
  if (hoist_match_predict(index, &state, &options, &records, NULL) != HOIST_OK) {
    return fail("predict");
  }
  printf("%s\n", records);
  hoist_text_free(records);
  hoist_match_close(index);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s FILE.holo\n", argv[0]);
    return 2;
  }
  float* const weights = malloc(kCount * sizeof *weights);
  for (int i = 0; i < kCount; ++i) weights[i] = 0.02f * sinf((float)i * (float)i);
  const int status =
      write_weights(argv[1], weights) || read_progressively(argv[1], weights) || search_patterns();
  free(weights);
  return status;
}
