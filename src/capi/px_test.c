/* hoist/px.h as a program in C uses it. With "gpu" behind the folder: on a GPU. */
#include "hoist/px.h"

#include <sys/wait.h>
#include <unistd.h>

#include "capi/testing.h"

enum { kElements = 10000 };

static const char kSaxpy[] =
    "GPU_KERNEL saxpy\n"
    "    GPU_PARAM x in f32[]\n"
    "    GPU_PARAM y inout f32[]\n"
    "    GPU_PARAM a f32\n"
    "    GPU_PARAM n i32\n"
    "    GPU_THREAD_CODE:\n"
    "        THREAD_ID -> tid\n"
    "        IF tid < n:\n"
    "            STORE a * x[tid] + y[tid] -> y[tid]\n"
    "        ENDIF\n"
    "GPU_END\n";

/* Each kind of scalar, and a grid of two dimensions. */
static const char kKinds[] =
    "GPU_KERNEL kinds\n"
    "    GPU_PARAM out out i64[]\n"
    "    GPU_PARAM flag bool\n"
    "    GPU_PARAM small i8\n"
    "    GPU_PARAM wide u64\n"
    "    GPU_PARAM real f64\n"
    "    GPU_THREAD_CODE:\n"
    "        LET at i32 = thread_id(1) * 4 + thread_id(0)\n"
    "        LET sum i64 = i64(small) + i64(wide) + i64(real)\n"
    "        IF flag AND at < i32(len(out)):\n"
    "            STORE sum + i64(at) -> out[at]\n"
    "        ENDIF\n"
    "GPU_END\n"
    "GPU_KERNEL nothing\n"
    "    GPU_THREAD_CODE:\n"
    "        THREAD_ID -> _tid\n"
    "GPU_END\n";

static float x[kElements];
static float y[kElements];

static void fill(void) {
  for (int i = 0; i < kElements; ++i) {
    x[i] = (float)i;
    y[i] = 0.5F;
  }
}

static hoist_px_program* compile(const char* text, const char* target, int check_bounds) {
  const hoist_px_compile_options options = {
      .size = sizeof options, .name = "k.px", .target = target, .check_bounds = check_bounds};
  hoist_px_program* program;
  CHECK_OK(hoist_px_compile(text, &options, &program, NULL));
  return program;
}

static size_t kernel_of(const hoist_px_program* program, const char* name) {
  size_t kernel;
  CHECK_OK(hoist_px_find_kernel(program, name, &kernel));
  return kernel;
}

static void test_saxpy(const char* target, int on_gpu) {
  hoist_px_program* const program = compile(kSaxpy, target, 0);
  const float a = 2;
  const int32_t n = kElements - 1;
  const hoist_px_argument arguments[] = {
      {x, sizeof x}, {y, sizeof y}, {&a, sizeof a}, {&n, sizeof n}};
  hoist_px_launched launched = {.size = sizeof launched};
  fill();
  CHECK_OK(hoist_px_launch(program, 0, arguments, 4, NULL, &launched));
  for (int i = 0; i < n; ++i) CHECK(y[i] == 2 * x[i] + 0.5F);
  CHECK(y[n] == 0.5F);
  CHECK(launched.on_gpu == on_gpu && launched.has_fault == 0);

  /* a grid that does half of them, with one thread of the CPU */
  const hoist_px_launch_options half = {
      .size = sizeof half, .blocks = {kElements / 2 / 100}, .threads = {100}, .cpu_threads = 1};
  fill();
  CHECK_OK(hoist_px_launch(program, 0, arguments, 4, &half, NULL));
  CHECK(y[kElements / 2 - 1] == 2 * x[kElements / 2 - 1] + 0.5F && y[kElements / 2] == 0.5F);
  const hoist_px_launch_options threads = {.size = sizeof threads, .threads = {64}};
  fill();
  CHECK_OK(hoist_px_launch(program, 0, arguments, 4, &threads, NULL));
  CHECK(y[n - 1] == 2 * x[n - 1] + 0.5F && y[n] == 0.5F);
  hoist_px_free(program);
}

static void test_kinds(const char* target) {
  hoist_px_program* const program = compile(kKinds, target, 0);
  CHECK(hoist_px_kernel_count(program) == 2);
  CHECK(strcmp(hoist_px_kernel_name(program, 1), "nothing") == 0);
  CHECK(hoist_px_kernel_name(program, 2) == NULL);
  size_t count;
  const hoist_px_parameter* const parameters =
      hoist_px_kernel_parameters(program, kernel_of(program, "kinds"), &count);
  CHECK(count == 5);
  CHECK(strcmp(parameters[0].name, "out") == 0 && strcmp(parameters[0].type, "i64") == 0);
  CHECK(parameters[0].is_array && parameters[0].direction == HOIST_PX_OUT);
  CHECK(parameters[0].bytes == 8 && parameters[1].bytes == 1 && parameters[2].bytes == 1);
  CHECK(!parameters[4].is_array && parameters[4].direction == HOIST_PX_IN);
  CHECK(strcmp(parameters[4].type, "f64") == 0);
  (void)hoist_px_kernel_parameters(program, 1, &count);
  CHECK(count == 0);

  int64_t out[8] = {0};
  const char flag = 1;
  const int8_t small = -3;
  const uint64_t wide = 1000000000000;
  const double real = 7.9;
  const hoist_px_argument arguments[] = {{out, sizeof out},
                                         {&flag, sizeof flag},
                                         {&small, sizeof small},
                                         {&wide, sizeof wide},
                                         {&real, sizeof real}};
  const hoist_px_launch_options grid = {.size = sizeof grid, .blocks = {2, 1}, .threads = {2, 2}};
  CHECK_OK(hoist_px_launch(program, 0, arguments, 5, &grid, NULL));
  for (int i = 0; i < 8; ++i) CHECK(out[i] == 1000000000004 + i);
  CHECK_OK(hoist_px_launch(program, 1, NULL, 0, NULL, NULL));
  hoist_px_free(program);
}

static void test_messages(void) {
  static const char wrong[] =
      "GPU_KERNEL k\n    GPU_PARAM n i32\n    IF tdi < n:\n    ENDIF\nGPU_END\n";
  const hoist_px_compile_options options = {.size = sizeof options, .name = "w.px"};
  hoist_px_program* program;
  hoist_px_messages* messages;
  CHECK(hoist_px_compile(wrong, &options, &program, &messages) == HOIST_INVALID_ARGUMENT);
  CHECK(program == NULL);
  CHECK(strstr(hoist_error_message(), "w.px:3:8: error: ") != NULL);
  size_t count;
  const hoist_px_message* const list = hoist_px_messages_list(messages, &count);
  CHECK(count >= 1 && list[0].is_error && list[0].line == 3 && list[0].column == 8);
  CHECK(strstr(list[0].what, "tdi") != NULL);
  CHECK(list[0].mend != NULL);
  hoist_px_messages_free(messages);

  /* a warning leaves a program */
  static const char unused[] =
      "GPU_KERNEL k\n    GPU_PARAM v inout i32[]\n    ADD 1 2 -> unused\n"
      "    STORE 5 -> v[0]\nGPU_END\n";
  CHECK_OK(hoist_px_compile(unused, &options, &program, &messages));
  const hoist_px_message* const warning = hoist_px_messages_list(messages, &count);
  CHECK(count == 1 && !warning->is_error && warning->line == 3);
  hoist_px_messages_free(messages);
  hoist_px_free(program);
  CHECK_OK(hoist_px_compile(kSaxpy, NULL, &program, &messages));
  CHECK(messages == NULL && hoist_px_messages_list(messages, &count) == NULL && count == 0);
  size_t kernel;
  CHECK(hoist_px_find_kernel(program, "saxpi", &kernel) == HOIST_NOT_FOUND);
  CHECK(strstr(hoist_error_message(), "is it saxpy?") != NULL);
  hoist_px_free(program);
}

static void test_bounds(const char* target) {
  hoist_px_program* const program = compile(kSaxpy, target, 1);
  const float a = 1;
  const int32_t n = kElements + 5;
  const hoist_px_argument arguments[] = {
      {x, sizeof x}, {y, sizeof y}, {&a, sizeof a}, {&n, sizeof n}};
  const hoist_px_launch_options grid = {
      .size = sizeof grid, .blocks = {kElements / 100 + 1}, .threads = {100}};
  hoist_px_launched launched = {.size = sizeof launched};
  fill();
  CHECK(hoist_px_launch(program, 0, arguments, 4, &grid, &launched) == HOIST_INVALID_ARGUMENT);
  CHECK(strstr(hoist_error_message(), "k.px:9:") != NULL);
  CHECK(launched.has_fault && launched.fault_line == 9 && launched.fault_column > 1);
  CHECK(launched.fault_index >= kElements && launched.fault_index < n);
  CHECK(launched.fault_length == kElements);
  CHECK(y[kElements - 1] == x[kElements - 1] + 0.5F); /* the others ran */
  const int32_t right = kElements;
  const hoist_px_argument again[] = {
      {x, sizeof x}, {y, sizeof y}, {&a, sizeof a}, {&right, sizeof right}};
  CHECK_OK(hoist_px_launch(program, 0, again, 4, &grid, &launched));
  CHECK(!launched.has_fault);
  hoist_px_free(program);
}

static void test_explain(void) {
  hoist_px_program* const program = compile(kSaxpy, "auto", 0);
  const float a = 1;
  const int32_t n = kElements;
  const hoist_px_argument arguments[] = {
      {NULL, sizeof x}, {NULL, sizeof y}, {&a, sizeof a}, {&n, sizeof n}};
  char* text;
  CHECK_OK(hoist_px_explain(program, 0, arguments, 4, NULL, &text));
  CHECK(strncmp(text, "the CPU: ", 9) == 0); /* so little is never worth a GPU */
  hoist_text_free(text);
  CHECK(hoist_px_launch(program, 0, arguments, 4, NULL, NULL) == HOIST_INVALID_ARGUMENT);
  CHECK(strstr(hoist_error_message(), "saxpy: x is null") != NULL);
  hoist_px_free(program);
}

static void test_fork(void) {
  hoist_px_program* const program = compile(kKinds, "cpu", 0);
  CHECK_OK(hoist_px_launch(program, 1, NULL, 0, NULL, NULL));
  const pid_t child = fork();
  if (child == 0) {
    CHECK(strcmp(hoist_px_kernel_name(program, 0), "kinds") == 0);
    CHECK(hoist_px_launch(program, 1, NULL, 0, NULL, NULL) == HOIST_UNAVAILABLE);
    hoist_px_free(program);
    test_saxpy("cpu", 0);
    exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK_OK(hoist_px_launch(program, 1, NULL, 0, NULL, NULL));
  hoist_px_free(program);
}

int main(int count, char** words) {
  const int use_gpu = count > 2 && strcmp(words[2], "gpu") == 0;
  char* const cache = path_in(words[1], "capi_px_cache");
  CHECK(setenv("XDG_CACHE_HOME", cache, 1) == 0);
  free(cache);
  const char* const targets[] = {use_gpu ? "cuda" : "cpu", use_gpu ? "cuda:0" : "interpreter"};
  for (int i = 0; i < 2; ++i) {
    test_saxpy(targets[i], use_gpu);
    test_kinds(targets[i]);
    test_bounds(targets[i]);
  }
  if (use_gpu) return 0;
  test_saxpy("auto", 0);
  test_messages();
  test_explain();
  test_fork();
  return 0;
}
