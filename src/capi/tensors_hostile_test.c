/* hoist/tensors.h with arguments that are wrong, and from many threads. */
#include <errno.h>
#include <math.h>
#include <pthread.h>

#include "capi/tensors_testing.h"

static const char* folder;

static void test_writer_errors(void) {
  char* const path = path_in(folder, "capi_never.holo");
  remove(path);
  const hoist_tensors_write_options wrong[] = {{.size = sizeof *wrong, .encoding = "mp3"},
                                               {.size = sizeof *wrong, .order = "size"},
                                               {.size = sizeof *wrong, .precision = "F64"},
                                               {.size = sizeof *wrong, .fragments = 300},
                                               {.size = sizeof *wrong, .parity = 250}};
  hoist_tensors_writer* writer;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    CHECK(hoist_tensors_writer_create(path, &wrong[i], &writer) == HOIST_INVALID_ARGUMENT);
    CHECK(writer == NULL);
  }
  CHECK(hoist_tensors_writer_create("/no/such/folder/x.holo", NULL, &writer) == HOIST_NOT_FOUND);
  CHECK(hoist_error_errno() == ENOENT);
  const float values[4] = {1, 2, 3, 4};
  const uint64_t shapes[][2] = {{4, 0}, {UINT64_MAX, 0}, {UINT64_MAX, UINT64_MAX}, {5, 0}};
  for (size_t i = 0; i < 4; ++i) {
    CHECK_OK(hoist_tensors_writer_create(path, NULL, &writer));
    const size_t rank = i == 2 ? 2 : 1;
    const hoist_status added =
        hoist_tensors_writer_add(writer, "x", "F32", shapes[i], rank, values, sizeof values);
    CHECK(added == (i == 0 ? HOIST_OK : HOIST_INVALID_ARGUMENT));
    if (i == 0) { /* the same name again */
      CHECK(hoist_tensors_writer_add(writer, "x", "F32", shapes[0], 1, values, sizeof values) ==
            HOIST_INVALID_ARGUMENT);
    }
    hoist_tensors_writer_free(writer);
    CHECK(!is_there(path));
  }
  CHECK_OK(hoist_tensors_writer_create(path, NULL, &writer));
  CHECK(hoist_tensors_writer_add(writer, "\xff", "F32", shapes[0], 1, values, 16) ==
        HOIST_INVALID_ARGUMENT);
  CHECK(hoist_tensors_writer_add(writer, "x", "F31", shapes[0], 1, values, 16) ==
        HOIST_UNSUPPORTED);
  CHECK(hoist_tensors_writer_add(writer, "x", "F32", shapes[0], 65, values, 16) ==
        HOIST_INVALID_ARGUMENT);
  hoist_tensors_writer_free(writer);
  free(path);
}

static void test_null(const char* path) {
  size_t number;
  hoist_tensors_file* file = (hoist_tensors_file*)(void*)&number; /* anything but null */
  hoist_tensor tensor = {.size = sizeof tensor};
  hoist_tensors_model* model;
  hoist_tensors_writer* writer;
  const hoist_status answers[] = {hoist_tensors_open(NULL, NULL, &file),
                                  hoist_tensors_open(path, NULL, NULL),
                                  hoist_tensors_find(NULL, "x", &number),
                                  hoist_tensors_describe(NULL, 0, &tensor),
                                  hoist_tensors_part(NULL, 0, 0, NULL),
                                  hoist_tensors_read(NULL, 0, NULL, NULL, 0, NULL),
                                  hoist_tensors_read_all(NULL, NULL, NULL, NULL, NULL),
                                  hoist_tensors_load(NULL, "cpu", NULL, &model),
                                  hoist_tensors_model_tensor(NULL, 0, NULL),
                                  hoist_tensors_model_download(NULL, 0, NULL, 0),
                                  hoist_tensors_writer_create(NULL, NULL, &writer),
                                  hoist_tensors_writer_create(path, NULL, NULL),
                                  hoist_tensors_writer_add(NULL, "x", "F32", NULL, 0, NULL, 0),
                                  hoist_tensors_writer_finish(NULL, NULL),
                                  hoist_tensors_pack(NULL, 1, path, NULL),
                                  hoist_tensors_unpack(NULL, path, NULL),
                                  hoist_tensors_unpack(path, NULL, NULL),
                                  hoist_tensors_verify(path, NULL, NULL),
                                  hoist_tensors_repair(NULL, path, NULL, NULL),
                                  hoist_tensors_repair(path, NULL, NULL, NULL),
                                  hoist_cancellation_create(NULL)};
  for (size_t i = 0; i < sizeof answers / sizeof *answers; ++i) {
    CHECK(answers[i] == HOIST_INVALID_ARGUMENT);
  }
  CHECK(file == NULL && hoist_tensors_count(NULL) == 0);
  CHECK(hoist_tensors_model_device(NULL) == NULL);
  hoist_tensors_close(NULL);
  hoist_tensors_model_free(NULL);
  hoist_tensors_writer_free(NULL);
  hoist_cancellation_request(NULL);
  hoist_cancellation_free(NULL);
  hoist_text_free(NULL);

  CHECK_OK(hoist_tensors_open(path, NULL, &file));
  CHECK(hoist_tensors_find(file, NULL, &number) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_tensors_read(file, 0, NULL, NULL, 2 * kRows * kColumns, NULL) ==
        HOIST_INVALID_ARGUMENT);
  CHECK(hoist_tensors_read_all(file, NULL, NULL, NULL, NULL) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_tensors_load(file, NULL, NULL, &model) == HOIST_INVALID_ARGUMENT);
  hoist_tensors_close(file);
}

/* Options of any bits: every answer is one of the header's, and no byte outside is touched. */
static void test_any_options(const char* path, uint64_t seed) {
  hoist_tensors_file* file;
  CHECK_OK(hoist_tensors_open(path, NULL, &file));
  const size_t room = 4 * kRows * kColumns;
  unsigned char* const out = malloc(room + 16);
  memset(out + room, 0x5a, 16);
  const size_t numbers[] = {0, 1, 2, 3, 255, SIZE_MAX};
  const double levels[] = {0, 0.5, 0.97, 1, 2, -1, NAN, INFINITY, 1e-320};
  const char* const rules[] = {"*=0.9", "", "=", "a=b", "*=1@9999999999999999999", "x=0.5@-1"};
  int good = 0;
  for (int i = 0; i < 3000; ++i) {
    hoist_tensors_read_options options = {.size = sizeof options};
    if (next_random(&seed) % 3 == 0) options.target = levels[next_random(&seed) % 9];
    if (next_random(&seed) % 3 == 0) options.layers = numbers[next_random(&seed) % 6];
    if (next_random(&seed) % 3 == 0) options.fragments = numbers;
    if (next_random(&seed) % 3 == 0) options.fragment_count = next_random(&seed) % 7;
    if (next_random(&seed) % 4 == 0) options.policy = rules;
    if (next_random(&seed) % 4 == 0) options.policy_count = next_random(&seed) % 7;
    if (next_random(&seed) % 3 == 0) options.min_quality = levels[next_random(&seed) % 9];
    options.skip_damaged = (int)next_random(&seed);
    options.threads = 1 + (unsigned)next_random(&seed) % 3;
    if (next_random(&seed) % 8 == 0) options.size = next_random(&seed) % sizeof options;
    const size_t tensor = numbers[next_random(&seed) % 6] % 7;
    hoist_tensor about = {.size = sizeof about};
    const hoist_status described = hoist_tensors_describe(file, tensor, &about);
    CHECK(described == (tensor < kTensors ? HOIST_OK : HOIST_NOT_FOUND));
    const uint64_t bytes = next_random(&seed) % 8 == 0 ? next_random(&seed) : about.bytes;
    if (bytes > room && bytes != about.bytes) {
      /* A size that is not the tensor's is refused before anything is written. */
      CHECK(hoist_tensors_read(file, tensor, &options, out, bytes, NULL) != HOIST_OK);
      continue;
    }
    double quality = -1;
    const hoist_status status = hoist_tensors_read(file, tensor, &options, out, bytes, &quality);
    CHECK(status >= HOIST_OK && status < HOIST_INTERNAL);
    CHECK(quality >= 0 && quality <= 1);
    good += status == HOIST_OK;
  }
  CHECK(good > 100);
  for (int i = 0; i < 16; ++i) CHECK(out[room + i] == 0x5a);
  free(out);
  hoist_tensors_close(file);
}

/* Each thread has its own last error, and all of them may read one file. */
static void* read_in_thread(void* context) {
  const hoist_tensors_file* const file = context;
  CHECK(strcmp(hoist_error_message(), "") == 0);
  size_t number;
  CHECK(hoist_tensors_find(file, "nobody", &number) == HOIST_NOT_FOUND);
  for (int round = 0; round < 10; ++round) {
    hoist_tensor tensor = {.size = sizeof tensor};
    CHECK_OK(hoist_tensors_describe(file, 0, &tensor));
    void* const out = malloc(tensor.bytes);
    CHECK_OK(hoist_tensors_read(file, 0, NULL, out, tensor.bytes, NULL));
    free(out);
  }
  CHECK(strstr(hoist_error_message(), "nobody") != NULL);
  return NULL;
}

static void test_threads(const char* path) {
  hoist_tensors_file* file;
  CHECK_OK(hoist_tensors_open(path, NULL, &file));
  size_t number;
  CHECK(hoist_tensors_find(file, "mine", &number) == HOIST_NOT_FOUND);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) CHECK(pthread_create(&threads[i], NULL, read_in_thread, file) == 0);
  for (int i = 0; i < 4; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(strstr(hoist_error_message(), "mine") != NULL);
  hoist_tensors_close(file);
}

static void test_library(void) {
  char version[32];
  sprintf(version, "%d.%d.%d", HOIST_VERSION_MAJOR, HOIST_VERSION_MINOR, HOIST_VERSION_PATCH);
  CHECK(strcmp(version, hoist_version()) == 0);
  for (int i = HOIST_OK; i <= HOIST_INTERNAL; ++i) {
    CHECK(strcmp(hoist_status_name((hoist_status)i), "unknown") != 0);
  }
  CHECK(strcmp(hoist_status_name((hoist_status)77), "unknown") == 0);
  /* A message that must be cut, in the middle of no character. */
  char name[6000] = "";
  for (int i = 0; i < 1900; ++i) strcat(name, i % 2 == 0 ? "\xc3\xa4" : "\xe2\x82\xac");
  hoist_tensors_file* file;
  CHECK(hoist_tensors_open(name, NULL, &file) != HOIST_OK && file == NULL);
  const char* const message = hoist_error_message();
  const size_t length = strlen(message);
  CHECK(length > 1000 && length < 1024);
  CHECK((message[length - 1] & 0x80) == 0 || (message[length - 2] & 0xff) == 0xc3 ||
        (message[length - 3] & 0xff) == 0xe2);
}

int main(int argc, char** argv) {
  folder = argc > 1 ? argv[1] : "/tmp";
  test_library();
  sample samples[kTensors];
  make_samples(samples);
  char* const path = path_in(folder, "capi_hostile.holo");
  write_samples(path, NULL, samples, NULL);
  test_writer_errors();
  test_null(path);
  test_any_options(path, 99);
  test_threads(path);
  hoist_tensors_file* file;
  CHECK(hoist_tensors_open("/no/such/file.holo", NULL, &file) == HOIST_NOT_FOUND && file == NULL);
  remove(path);
  free(path);
  free_samples(samples);
  puts("hostile: all as it should be");
  return 0;
}
