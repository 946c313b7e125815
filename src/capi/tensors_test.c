/* hoist/tensors.h as a program of C uses it. */
#include "hoist/tensors.h"

#include <math.h>

#include "capi/tensors_testing.h"

static const char* folder;

static void test_description(const hoist_tensors_file* file, const sample* samples) {
  CHECK(hoist_tensors_count(file) == kTensors);
  for (int i = 0; i < kTensors; ++i) {
    size_t number = 99;
    CHECK_OK(hoist_tensors_find(file, samples[i].name, &number));
    hoist_tensor tensor = {.size = sizeof tensor};
    CHECK_OK(hoist_tensors_describe(file, number, &tensor));
    CHECK(strcmp(tensor.name, samples[i].name) == 0);
    CHECK(strcmp(tensor.dtype, samples[i].dtype) == 0);
    CHECK(tensor.rank == samples[i].rank && tensor.bytes == samples[i].bytes);
    for (size_t d = 0; d < tensor.rank; ++d) CHECK(tensor.shape[d] == samples[i].shape[d]);
    CHECK(strcmp(tensor.encoding, i < 2 ? "embedded" : "lossless") == 0);
    CHECK(tensor.any_subset == 0 && strcmp(tensor.stored_as, "") == 0);
    double before = 0;
    for (size_t part = 0; part < tensor.parts; ++part) {
      hoist_tensor_part layer = {.size = sizeof layer};
      CHECK_OK(hoist_tensors_part(file, number, part, &layer));
      CHECK(layer.quality > before && layer.quality <= 1 && layer.share == 0);
      before = layer.quality;
    }
    CHECK(before == 1);
    hoist_tensor_part none = {.size = sizeof none, .quality = 3};
    CHECK(hoist_tensors_part(file, number, tensor.parts, &none) == HOIST_NOT_FOUND);
    CHECK(none.quality == 0);
  }
  size_t number = 99;
  CHECK(hoist_tensors_find(file, "no such", &number) == HOIST_NOT_FOUND);
  CHECK(number == 0 && strstr(hoist_error_message(), "no such") != NULL);
}

static int stop_at_end(void* context, uint64_t done, uint64_t total) {
  (void)context;
  return done == total;
}

static void test_reading(const hoist_tensors_file* file, const sample* samples) {
  void* elements[kTensors];
  uint64_t bytes[kTensors];
  double qualities[kTensors];
  for (int i = 0; i < kTensors; ++i) {
    size_t number;
    CHECK_OK(hoist_tensors_find(file, samples[i].name, &number));
    elements[number] = calloc(samples[i].bytes + 1, 1);
    bytes[number] = samples[i].bytes;
    double quality = 0;
    CHECK_OK(hoist_tensors_read(file, number, NULL, elements[number], bytes[number], &quality));
    CHECK(quality == 1 && memcmp(elements[number], samples[i].elements, bytes[number]) == 0);
    memset(elements[number], 0, bytes[number]);
    CHECK(hoist_tensors_read(file, number, NULL, elements[number], bytes[number] + 1, NULL) ==
          HOIST_INVALID_ARGUMENT);
  }
  CHECK_OK(hoist_tensors_read_all(file, NULL, elements, bytes, NULL));
  for (int i = 0; i < kTensors; ++i) {
    size_t number;
    CHECK_OK(hoist_tensors_find(file, samples[i].name, &number));
    CHECK(memcmp(elements[number], samples[i].elements, bytes[number]) == 0);
  }

  /* Less than everything, each way of saying so. */
  const sample* const mlp = &samples[1];
  const float* const exact = (const float*)(const void*)mlp->elements;
  size_t number;
  CHECK_OK(hoist_tensors_find(file, mlp->name, &number));
  float* const some = elements[number];
  double quality = 0;
  const hoist_tensors_read_options target = {.size = sizeof target, .target = 0.99, .threads = 1};
  CHECK_OK(hoist_tensors_read(file, number, &target, some, mlp->bytes, &quality));
  CHECK(quality >= 0.99 && quality < 1);
  CHECK(fabs(1 - distance(exact, some, kRows * kColumns) - quality) < 1e-9);
  const hoist_tensors_read_options layers = {.size = sizeof layers, .layers = 1};
  double first = 0;
  CHECK_OK(hoist_tensors_read(file, number, &layers, some, mlp->bytes, &first));
  CHECK(first > 0.9 && first < quality);
  const char* const rules[] = {"attention.*=1", "*mlp*=0.98@3"};
  const hoist_tensors_read_options policy = {
      .size = sizeof policy, .policy = rules, .policy_count = 2, .target = 0.5};
  CHECK_OK(hoist_tensors_read_all(file, &policy, elements, bytes, qualities));
  CHECK(qualities[number] >= 0.98 && qualities[number] < 1);
  size_t attention;
  CHECK_OK(hoist_tensors_find(file, samples[0].name, &attention));
  CHECK(qualities[attention] == 1);
  free(elements[number]);
  elements[number] = NULL;
  CHECK_OK(hoist_tensors_read_all(file, NULL, elements, bytes, qualities));
  CHECK(qualities[number] == 0 && qualities[attention] == 1);
  const hoist_tensors_read_options last = {.size = sizeof last, .progress = stop_at_end};
  CHECK(hoist_tensors_read_all(file, &last, elements, bytes, NULL) == HOIST_CANCELLED);

  const hoist_tensors_read_options wrong[] = {
      {.size = sizeof target, .target = 0.5, .layers = 2},
      {.size = sizeof target, .target = 1.5},
      {.size = sizeof target, .target = NAN},
      {.size = sizeof target, .min_quality = -1},
      {.size = sizeof target, .fragment_count = 1},
      {.size = sizeof target, .policy_count = 1},
      {.size = sizeof target, .policy = (const char* const[]){"no quality"}, .policy_count = 1},
      {.size = 0},
      {.size = SIZE_MAX}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    CHECK(hoist_tensors_read(file, attention, &wrong[i], elements[attention], bytes[attention],
                             NULL) == HOIST_INVALID_ARGUMENT);
  }
  for (int i = 0; i < kTensors; ++i) free(elements[i]);
}

/* A caller of another version: its struct is shorter, or longer. */
static void test_versions(const hoist_tensors_file* file, const sample* samples) {
  struct {
    hoist_tensors_read_options known;
    uint64_t unknown;
  } newer = {{.size = sizeof newer, .layers = 1}, 0};
  size_t number;
  CHECK_OK(hoist_tensors_find(file, samples[0].name, &number));
  unsigned char* const out = malloc(samples[0].bytes);
  CHECK_OK(hoist_tensors_read(file, number, &newer.known, out, samples[0].bytes, NULL));
  newer.unknown = 1;
  CHECK(hoist_tensors_read(file, number, &newer.known, out, samples[0].bytes, NULL) ==
        HOIST_UNSUPPORTED);
  struct {
    size_t size;
    double target;
  } older = {sizeof older, 0.97};
  double quality = 0;
  CHECK_OK(hoist_tensors_read(file, number, (const hoist_tensors_read_options*)(const void*)&older,
                              out, samples[0].bytes, &quality));
  CHECK(quality >= 0.97 && quality < 1);
  struct {
    size_t size;
    const char* name;
    const char* behind;
  } short_tensor = {2 * sizeof(size_t), NULL, "stays"};
  CHECK_OK(hoist_tensors_describe(file, number, (hoist_tensor*)(void*)&short_tensor));
  CHECK(strcmp(short_tensor.name, samples[0].name) == 0);
  CHECK(strcmp(short_tensor.behind, "stays") == 0);
  free(out);
}

static int count_calls(void* context, uint64_t done, uint64_t total) {
  CHECK(done <= total);
  ++*(int*)context;
  return 0;
}

static int stop_at_once(void* context, uint64_t done, uint64_t total) {
  (void)done;
  (void)total;
  ++*(int*)context;
  return 1;
}

static void test_device(const char* path, const sample* samples, bool exact) {
  hoist_tensors_file* file;
  CHECK_OK(hoist_tensors_open(path, NULL, &file));
  int calls = 0;
  hoist_tensors_load_options options = {
      .size = sizeof options, .progress = count_calls, .progress_context = &calls};
  if (!exact) options.target = 0.98;
  hoist_tensors_model* model;
  CHECK_OK(hoist_tensors_load(file, "cpu", &options, &model));
  CHECK(calls > 0 && strcmp(hoist_tensors_model_device(model), "cpu") == 0);
  size_t numbers[kTensors];
  for (int i = 0; i < kTensors; ++i) {
    CHECK_OK(hoist_tensors_find(file, samples[i].name, &numbers[i]));
  }
  options.progress = stop_at_once;
  hoist_tensors_model* none = model;
  CHECK(hoist_tensors_load(file, "cpu", &options, &none) == HOIST_CANCELLED && none == NULL);
  CHECK(hoist_tensors_load(file, "cuda:77", NULL, &none) != HOIST_OK);
  CHECK(hoist_tensors_load(file, "abacus", NULL, &none) == HOIST_INVALID_ARGUMENT);
  hoist_tensors_close(file); /* the model stays */

  for (int i = 0; i < kTensors; ++i) {
    hoist_device_tensor tensor = {.size = sizeof tensor};
    CHECK_OK(hoist_tensors_model_tensor(model, numbers[i], &tensor));
    CHECK(tensor.bytes == samples[i].bytes && (uintptr_t)tensor.data % 256 == 0);
    const bool same =
        tensor.bytes == 0 || memcmp(tensor.data, samples[i].elements, tensor.bytes) == 0;
    CHECK(same == (exact || i > 1) && (tensor.quality == 1) == same);
    unsigned char* const copy = malloc(tensor.bytes + 1);
    CHECK_OK(hoist_tensors_model_download(model, numbers[i], copy, tensor.bytes));
    CHECK(tensor.bytes == 0 || memcmp(copy, tensor.data, tensor.bytes) == 0);
    CHECK(hoist_tensors_model_download(model, numbers[i], copy, tensor.bytes + 1) ==
          HOIST_INVALID_ARGUMENT);
    free(copy);
  }
  hoist_device_tensor tensor = {.size = sizeof tensor};
  CHECK(hoist_tensors_model_tensor(model, kTensors, &tensor) == HOIST_NOT_FOUND);
  hoist_tensors_model_free(model);
}

/* Any three of four fragments are about three quarters of a projection. */
static void test_fragments(const sample* samples) {
  char* const path = path_in(folder, "capi_fragments.holo");
  const hoist_tensors_write_options options = {
      .size = sizeof options, .encoding = "rph", .fragments = 4, .seed = 7, .order = "tensor"};
  write_samples(path, &options, samples, NULL);
  hoist_tensors_file* file;
  CHECK_OK(hoist_tensors_open(path, NULL, &file));
  size_t number;
  CHECK_OK(hoist_tensors_find(file, samples[1].name, &number));
  hoist_tensor tensor = {.size = sizeof tensor};
  CHECK_OK(hoist_tensors_describe(file, number, &tensor));
  CHECK(tensor.parts == 4 && tensor.any_subset == 1 && strcmp(tensor.encoding, "rph") == 0);
  const size_t which[] = {3, 0, 2, 3};
  const hoist_tensors_read_options some = {
      .size = sizeof some, .fragments = which, .fragment_count = 4};
  float* const out = malloc(tensor.bytes);
  double quality = 0;
  CHECK_OK(hoist_tensors_read(file, number, &some, out, tensor.bytes, &quality));
  const float* const exact = (const float*)(const void*)samples[1].elements;
  CHECK(quality > 0.7 && quality < 0.8);
  CHECK(fabs(1 - distance(exact, out, kRows * kColumns) - quality) < 1e-3);
  CHECK_OK(hoist_tensors_read(file, number, NULL, out, tensor.bytes, &quality));
  CHECK(distance(exact, out, kRows * kColumns) < 1e-10);
  free(out);
  hoist_tensors_close(file);
  remove(path);
  free(path);
}

static void test_damage(const char* path, const sample* samples) {
  char* const broken = path_in(folder, "capi_broken.holo");
  size_t size;
  unsigned char* const bytes = read_whole(path, &size);
  bytes[size / 2] ^= 0x10;
  FILE* const out = fopen(broken, "wb");
  CHECK(out != NULL && fwrite(bytes, 1, size, out) == size && fclose(out) == 0);
  free(bytes);

  int calls = 0;
  hoist_tensors_check_options options = {
      .size = sizeof options, .progress = count_calls, .progress_context = &calls};
  hoist_tensors_check check = {.size = sizeof check};
  CHECK_OK(hoist_tensors_verify(path, &options, &check));
  CHECK(check.ok == 1 && check.bytes == size && check.lost_shards == 0 && calls > 0);
  CHECK_OK(hoist_tensors_verify(broken, NULL, &check));
  CHECK(check.ok == 0 && check.repairable == 1 && check.lost_shards == 1 && check.damages > 0);
  hoist_tensors_file* file;
  CHECK_OK(hoist_tensors_open(broken, NULL, &file)); /* mended through parity on the way */
  test_reading(file, samples);
  hoist_tensors_close(file);

  options.progress = stop_at_once;
  CHECK(hoist_tensors_verify(path, &options, &check) == HOIST_CANCELLED && check.ok == 0);
  CHECK(hoist_tensors_repair(broken, broken, &options, NULL) == HOIST_CANCELLED);
  CHECK(!same_files(path, broken));
  uint64_t repaired = 0;
  CHECK(hoist_tensors_repair(broken, path, NULL, &repaired) == HOIST_INVALID_ARGUMENT);
  CHECK_OK(hoist_tensors_repair(broken, broken, NULL, &repaired));
  CHECK(repaired == 1 && same_files(path, broken));
  remove(broken);
  free(broken);
}

/* The samples as a .safetensors file, by hand. */
static void write_safetensors(const char* path, const sample* samples) {
  char header[1024] = "{\"__metadata__\":{\"by\":\"hand\"}";
  uint64_t offset = 0;
  for (int i = 0; i < kTensors; ++i) {
    char shape[64] = "";
    if (samples[i].rank == 1) sprintf(shape, "%d", (int)samples[i].shape[0]);
    if (samples[i].rank == 2) {
      sprintf(shape, "%d,%d", (int)samples[i].shape[0], (int)samples[i].shape[1]);
    }
    sprintf(header + strlen(header),
            ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%d,%d]}", samples[i].name,
            samples[i].dtype, shape, (int)offset, (int)(offset + samples[i].bytes));
    offset += samples[i].bytes;
  }
  strcat(header, "}");
  const uint64_t size = strlen(header);
  FILE* const file = fopen(path, "wb");
  CHECK(file != NULL && fwrite(&size, 8, 1, file) == 1 && fputs(header, file) >= 0);
  for (int i = 0; i < kTensors; ++i) {
    CHECK(fwrite(samples[i].elements, 1, samples[i].bytes, file) == samples[i].bytes);
  }
  CHECK(fclose(file) == 0);
}

static void test_packing(const sample* samples) {
  char* const model = path_in(folder, "capi_model.safetensors");
  char* const packed = path_in(folder, "capi_model.holo");
  char* const back = path_in(folder, "capi_back.safetensors");
  remove(packed);
  remove(back);
  write_safetensors(model, samples);
  const char* const inputs[] = {model};
  int calls = 0;
  hoist_tensors_write_options options = {
      .size = sizeof options, .progress = stop_at_once, .progress_context = &calls};
  CHECK(hoist_tensors_pack(inputs, 1, packed, &options) == HOIST_CANCELLED);
  CHECK(!is_there(packed));
  hoist_cancellation* cancellation;
  CHECK_OK(hoist_cancellation_create(&cancellation));
  options.progress = count_calls;
  options.cancellation = cancellation;
  options.threads = 1;
  options.volatile_output = 1;
  CHECK_OK(hoist_tensors_pack(inputs, 1, packed, &options));
  CHECK(is_there(packed));
  CHECK(hoist_tensors_pack(inputs, 1, packed, NULL) == HOIST_INVALID_ARGUMENT);
  options.replace = 1;
  CHECK_OK(hoist_tensors_pack(inputs, 1, packed, &options));
  CHECK(hoist_tensors_pack(inputs, 1, model, &options) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_tensors_pack(inputs, 0, packed, NULL) == HOIST_INVALID_ARGUMENT);

  hoist_tensors_read_options how = {
      .size = sizeof how, .progress = stop_at_once, .progress_context = &calls};
  CHECK(hoist_tensors_unpack(packed, packed, &how) == HOIST_INVALID_ARGUMENT && is_there(packed));
  CHECK(hoist_tensors_unpack(packed, back, &how) == HOIST_CANCELLED && !is_there(back));
  how.progress = count_calls;
  how.cancellation = cancellation;
  CHECK_OK(hoist_tensors_unpack(packed, back, &how));
  CHECK(same_files(model, back));
  how.target = 0.97;
  CHECK(hoist_tensors_unpack(packed, back, &how) == HOIST_INVALID_ARGUMENT);
  CHECK(strstr(hoist_error_message(), "exists") != NULL && same_files(model, back));
  how.replace = 1;
  CHECK(hoist_tensors_unpack(packed, packed, &how) == HOIST_INVALID_ARGUMENT);
  CHECK_OK(hoist_tensors_unpack(packed, back, &how));
  CHECK(!same_files(model, back));
  remove(back);
  hoist_cancellation_request(cancellation);
  CHECK(hoist_tensors_unpack(packed, back, &how) == HOIST_CANCELLED && !is_there(back));
  remove(packed);
  CHECK(hoist_tensors_pack(inputs, 1, packed, &options) == HOIST_CANCELLED && !is_there(packed));
  hoist_cancellation_free(cancellation);

  /* The other format by itself. */
  hoist_tensors_file* file;
  CHECK_OK(hoist_tensors_open(model, NULL, &file));
  hoist_tensor tensor = {.size = sizeof tensor};
  CHECK_OK(hoist_tensors_describe(file, 0, &tensor));
  CHECK(strcmp(tensor.encoding, "stored") == 0 && tensor.parts == 0);
  unsigned char* const out = malloc(tensor.bytes);
  double quality = 0;
  CHECK_OK(hoist_tensors_read(file, 0, NULL, out, tensor.bytes, &quality));
  CHECK(quality == 1 && memcmp(out, samples[0].elements, tensor.bytes) == 0);
  free(out);
  hoist_tensors_close(file);
  test_device(model, samples, true);
  const hoist_tensors_open_options small = {.size = sizeof small, .max_tensor_bytes = 100};
  CHECK_OK(hoist_tensors_open(model, &small, &file));
  hoist_tensors_model* none;
  CHECK(hoist_tensors_load(file, "cpu", NULL, &none) == HOIST_EXHAUSTED);
  hoist_tensors_close(file);
  remove(model);
  free(model);
  free(packed);
  free(back);
}

int main(int argc, char** argv) {
  folder = argc > 1 ? argv[1] : "/tmp";
  sample samples[kTensors];
  make_samples(samples);
  char* const path = path_in(folder, "capi_tensors.holo");
  uint8_t root[32];
  const hoist_tensors_write_options options = {
      .size = sizeof options, .parity = 2, .fragments = 4, .digests = 1};
  write_samples(path, &options, samples, root);
  hoist_tensors_file* file;
  hoist_tensors_open_options trusted = {.size = sizeof trusted, .root = root};
  CHECK_OK(hoist_tensors_open(path, &trusted, &file));
  test_description(file, samples);
  test_reading(file, samples);
  test_versions(file, samples);
  hoist_tensors_close(file);
  root[5] ^= 1;
  CHECK(hoist_tensors_open(path, &trusted, &file) == HOIST_CORRUPT && file == NULL);
  test_device(path, samples, true);
  test_device(path, samples, false);
  test_fragments(samples);
  test_damage(path, samples);
  test_packing(samples);
  remove(path);
  free(path);
  free_samples(samples);
  puts("tensors: all as it should be");
  return 0;
}
