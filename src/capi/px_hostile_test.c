/* hoist/px.h with arguments that are wrong, from many threads, and stopped. */
#include <pthread.h>
#include <time.h>

#include "capi/testing.h"
#include "hoist/px.h"

static const char kText[] =
    "GPU_KERNEL raise\n"
    "    GPU_PARAM v inout u32[]\n"
    "    GPU_PARAM by u32\n"
    "    GPU_THREAD_CODE:\n"
    "        THREAD_ID -> tid\n"
    "        IF tid < i32(len(v)):\n"
    "            STORE v[tid] + by -> v[tid]\n"
    "        ENDIF\n"
    "GPU_END\n"
    "GPU_KERNEL slow\n"
    "    GPU_PARAM v out u32[]\n"
    "    GPU_THREAD_CODE:\n"
    "        LET value u32 = u32(thread_id())\n"
    "        FOR i FROM 0 TO 20000:\n"
    "            value = (value ^ (value >> 7)) * 2654435761\n"
    "        ENDFOR\n"
    "        STORE value | 1 -> v[block_id() % i32(len(v))]\n"
    "GPU_END\n";

static hoist_px_program* program;

static void test_null(void) {
  size_t kernel;
  char* text;
  hoist_px_program* made = (hoist_px_program*)(void*)&kernel; /* anything but null */
  const hoist_px_argument none = {NULL, 0};
  const hoist_status answers[] = {hoist_px_compile(NULL, NULL, &made, NULL),
                                  hoist_px_compile(kText, NULL, NULL, NULL),
                                  hoist_px_find_kernel(NULL, "raise", &kernel),
                                  hoist_px_find_kernel(program, NULL, &kernel),
                                  hoist_px_find_kernel(program, "raise", NULL),
                                  hoist_px_launch(NULL, 0, &none, 1, NULL, NULL),
                                  hoist_px_launch(program, 0, NULL, 2, NULL, NULL),
                                  hoist_px_explain(NULL, 0, &none, 1, NULL, &text),
                                  hoist_px_explain(program, 0, &none, 1, NULL, NULL)};
  for (size_t i = 0; i < sizeof answers / sizeof *answers; ++i) {
    CHECK(answers[i] == HOIST_INVALID_ARGUMENT);
  }
  CHECK(made == NULL && text == NULL);
  CHECK(hoist_px_kernel_count(NULL) == 0 && hoist_px_kernel_name(NULL, 0) == NULL);
  size_t count = 7;
  CHECK(hoist_px_kernel_parameters(NULL, 0, &count) == NULL && count == 0);
  CHECK(hoist_px_kernel_parameters(program, 9, NULL) == NULL);
  hoist_px_free(NULL);
  hoist_px_messages_free(NULL);
}

static void test_compile_options(void) {
  const char* const targets[] = {"", "gpu", "cuda:", "cuda:-1", "cuda:x", "cuda:1x", "CPU"};
  for (size_t i = 0; i < sizeof targets / sizeof *targets; ++i) {
    const hoist_px_compile_options options = {.size = sizeof options, .target = targets[i]};
    hoist_px_program* made;
    CHECK(hoist_px_compile(kText, &options, &made, NULL) == HOIST_INVALID_ARGUMENT);
    CHECK(made == NULL && strstr(hoist_error_message(), "no target") != NULL);
  }
  const hoist_px_compile_options no_size = {.size = 0};
  hoist_px_program* made;
  CHECK(hoist_px_compile(kText, &no_size, &made, NULL) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_px_compile("", NULL, &made, NULL) != HOIST_INTERNAL);
  hoist_px_free(made);
  struct {
    hoist_px_compile_options options;
    int newer;
  } longer = {{.size = sizeof longer, .target = "interpreter"}, 0};
  CHECK_OK(hoist_px_compile(kText, &longer.options, &made, NULL));
  hoist_px_free(made);
  longer.newer = 1;
  CHECK(hoist_px_compile(kText, &longer.options, &made, NULL) == HOIST_UNSUPPORTED);
}

static void test_launch_options(void) {
  uint32_t v[64] = {0};
  const uint32_t by = 1;
  const hoist_px_argument right[] = {{v, sizeof v}, {&by, sizeof by}};
  const hoist_px_argument wrong[][2] = {
      {{v, 63}, {&by, sizeof by}}, {{NULL, 4}, {&by, sizeof by}},
      {{v, sizeof v}, {&by, 2}},   {{v, sizeof v}, {&by, 8}},
      {{v, sizeof v}, {NULL, 4}},  {{(char*)v + 1, 8}, {&by, sizeof by}}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    CHECK(hoist_px_launch(program, 0, wrong[i], 2, NULL, NULL) == HOIST_INVALID_ARGUMENT);
  }
  CHECK(hoist_px_launch(program, 0, right, 1, NULL, NULL) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_px_launch(program, 0, right, 3, NULL, NULL) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_px_launch(program, 9, right, 2, NULL, NULL) == HOIST_NOT_FOUND);
  const hoist_px_launch_options grids[] = {
      {.size = sizeof *grids, .blocks = {1}},
      {.size = sizeof *grids, .threads = {1025}},
      {.size = sizeof *grids, .threads = {0, 4}},
      {.size = sizeof *grids, .threads = {1, 1, 65}},
      {.size = sizeof *grids, .blocks = {UINT32_MAX}, .threads = {32}},
      {.size = sizeof *grids, .blocks = {1, 65536}, .threads = {32}},
      {.size = sizeof *grids, .on_device = 1}};
  for (size_t i = 0; i < sizeof grids / sizeof *grids; ++i) {
    CHECK(hoist_px_launch(program, 0, right, 2, &grids[i], NULL) == HOIST_INVALID_ARGUMENT);
  }
  for (int i = 0; i < 64; ++i) CHECK(v[i] == 0);
  hoist_px_launched small = {.size = 0};
  CHECK(hoist_px_launch(program, 0, right, 2, NULL, &small) == HOIST_INVALID_ARGUMENT);
  const hoist_px_argument empty[] = {{NULL, 0}, {&by, sizeof by}};
  CHECK_OK(hoist_px_launch(program, 0, empty, 2, NULL, NULL));
  const hoist_px_launch_options far_more = {.size = sizeof far_more, .cpu_threads = UINT32_MAX};
  CHECK_OK(hoist_px_launch(program, 0, right, 2, &far_more, NULL));
  CHECK(v[0] == 1 && v[63] == 1);
}

static void* launch_in_thread(void* context) {
  (void)context;
  uint32_t v[1000] = {0};
  const uint32_t by = 3;
  const hoist_px_argument arguments[] = {{v, sizeof v}, {&by, sizeof by}};
  const hoist_px_launch_options two = {.size = sizeof two, .cpu_threads = 2};
  for (int i = 0; i < 200; ++i) {
    CHECK_OK(hoist_px_launch(program, 0, arguments, 2, i % 2 ? &two : NULL, NULL));
  }
  for (int i = 0; i < 1000; ++i) CHECK(v[i] == 600);
  return NULL;
}

static void test_threads(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) {
    CHECK(pthread_create(&threads[i], NULL, launch_in_thread, NULL) == 0);
  }
  for (int i = 0; i < 4; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
}

static void* request_soon(void* cancellation) {
  const struct timespec pause = {0, 20000000};
  nanosleep(&pause, NULL);
  hoist_cancellation_request(cancellation);
  return NULL;
}

/* Minutes of work, unless it is stopped. */
static void test_cancellation(void) {
  static uint32_t v[1024];
  const hoist_px_argument arguments[] = {{v, sizeof v}};
  hoist_cancellation* cancellation;
  CHECK_OK(hoist_cancellation_create(&cancellation));
  const hoist_px_launch_options options = {
      .size = sizeof options, .blocks = {1000000}, .threads = {1024}, .cancellation = cancellation};
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, request_soon, cancellation) == 0);
  CHECK(hoist_px_launch(program, 1, arguments, 1, &options, NULL) == HOIST_CANCELLED);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(hoist_px_launch(program, 1, arguments, 1, &options, NULL) == HOIST_CANCELLED);
  hoist_cancellation_free(cancellation);
}

/* Texts that are cut or have a byte changed: an error or a program, never more. */
static void test_any_text(void) {
  uint64_t seed = 31;
  const hoist_px_compile_options options = {.size = sizeof options, .target = "interpreter"};
  for (int turn = 0; turn < 300; ++turn) {
    char text[sizeof kText];
    memcpy(text, kText, sizeof kText);
    if (turn % 3 == 0) text[next_random(&seed) % sizeof kText] = '\0';
    for (int i = 0; i < turn % 4; ++i) {
      text[next_random(&seed) % (sizeof kText - 1)] = (char)(next_random(&seed) % 255 + 1);
    }
    hoist_px_program* made;
    hoist_px_messages* messages;
    const hoist_status status = hoist_px_compile(text, &options, &made, &messages);
    CHECK(status == HOIST_OK || status == HOIST_INVALID_ARGUMENT);
    CHECK((status == HOIST_OK) == (made != NULL));
    size_t count;
    const hoist_px_message* const list = hoist_px_messages_list(messages, &count);
    CHECK(status == HOIST_OK || (count > 0 && list[0].line >= 1 && strlen(list[0].what) > 0));
    hoist_px_messages_free(messages);
    hoist_px_free(made);
  }
}

int main(int count, char** words) {
  (void)count;
  char* const cache = path_in(words[1], "capi_px_hostile_cache");
  CHECK(setenv("XDG_CACHE_HOME", cache, 1) == 0);
  free(cache);
  const hoist_px_compile_options options = {.size = sizeof options, .target = "cpu"};
  CHECK_OK(hoist_px_compile(kText, &options, &program, NULL));
  test_null();
  test_compile_options();
  test_launch_options();
  test_threads();
  test_cancellation();
  test_any_text();
  hoist_px_free(program);
  return 0;
}
