/* hoist/graph.h with arguments that are wrong, from many threads, and in a child. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capi/testing.h"
#include "hoist/graph.h"

static const char kText[] =
    "hoist graph 1\n"
    "%x = input : f32[300,200]\n"
    "%w = input : f32[200,150]\n"
    "%2 = matmul %x, %w : f32[300,150]\n"
    "%3 = tanh %2 : f32[300,150]\n"
    "return %3\n";
enum { kX = 300 * 200, kW = 200 * 150, kY = 300 * 150 };

static void test_null(void) {
  hoist_graph *graph, *parsed;
  CHECK_OK(hoist_graph_create(&graph));
  hoist_graph_node node = 7;
  char* text;
  hoist_graph_program* program;
  const hoist_graph_evaluation* evaluation;
  hoist_graph_array array;
  const int64_t shape[] = {2};
  const hoist_status answers[] = {hoist_graph_create(NULL),
                                  hoist_graph_input(NULL, NULL, "f32", shape, 1, &node),
                                  hoist_graph_input(graph, NULL, NULL, shape, 1, &node),
                                  hoist_graph_input(graph, NULL, "f32", NULL, 1, &node),
                                  hoist_graph_input(graph, NULL, "f32", shape, 1, NULL),
                                  hoist_graph_constant(graph, "f32", shape, 1, NULL, 8, &node),
                                  hoist_graph_number(NULL, "f32", 1, &node),
                                  hoist_graph_apply(graph, NULL, NULL, 0, &node),
                                  hoist_graph_apply(graph, "add", NULL, 2, &node),
                                  hoist_graph_reduce(NULL, "sum", 0, NULL, 0, 0, &node),
                                  hoist_graph_concatenate(graph, NULL, 1, 0, &node),
                                  hoist_graph_concatenate(graph, NULL, 0, 0, &node),
                                  hoist_graph_output(NULL, NULL, 0),
                                  hoist_graph_describe(NULL, 0, &array),
                                  hoist_graph_describe(graph, 0, NULL),
                                  hoist_graph_parse(NULL, NULL, &parsed),
                                  hoist_graph_parse(kText, NULL, NULL),
                                  hoist_graph_text(NULL, &text),
                                  hoist_graph_compile(NULL, NULL, &program),
                                  hoist_graph_explain(NULL, &text),
                                  hoist_graph_svg(NULL, NULL, &text),
                                  hoist_graph_run(NULL, NULL, 0, NULL, 0),
                                  hoist_graph_canon(NULL, NULL, &text),
                                  hoist_graph_canon("mark@c21", NULL, NULL),
                                  hoist_graph_eval(NULL, NULL, &evaluation)};
  for (size_t i = 0; i < sizeof answers / sizeof *answers; ++i) {
    CHECK(answers[i] == HOIST_INVALID_ARGUMENT);
  }
  CHECK(node == 0 && text == NULL && program == NULL && evaluation == NULL && parsed == NULL);
  CHECK(hoist_graph_input_count(NULL) == 0 && hoist_graph_output_count(NULL) == 0);
  CHECK(hoist_graph_input_array(NULL, 0) == NULL && hoist_graph_output_array(NULL, 0) == NULL);
  hoist_graph_free(graph);
  hoist_graph_free(NULL);
  hoist_graph_program_free(NULL);
  hoist_graph_evaluation_free(NULL);
}

static void test_wrong_nodes(void) {
  hoist_graph* graph;
  CHECK_OK(hoist_graph_create(&graph));
  const int64_t shape[9] = {2, 3, 1, 1, 1, 1, 1, 1, 1};
  const int64_t negative[] = {-1}, huge[] = {INT64_MAX, INT64_MAX}, far[] = {INT64_MAX, 0};
  const int64_t twice[] = {0, 0}, many[] = {1 << 30, 1 << 30};
  hoist_graph_node x, node;
  CHECK_OK(hoist_graph_input(graph, "x", "f32", shape, 2, &x));
  const hoist_graph_node wrong[] = {x, x + 1}, last = UINT32_MAX;
  const float data[] = {1, 2};
  CHECK(hoist_graph_input(graph, NULL, "f32", shape, 9, &node) == HOIST_UNSUPPORTED);
  CHECK(hoist_graph_input(graph, NULL, "f32", negative, 1, &node) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_input(graph, NULL, "f32", huge, 2, &node) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_input(graph, NULL, "f31", shape, 2, &node) == HOIST_NOT_FOUND);
  CHECK(hoist_graph_input(graph, NULL, "c64", shape, 2, &node) == HOIST_NOT_FOUND);
  CHECK(hoist_graph_input(graph, "2x", "f32", shape, 2, &node) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_constant(graph, "f32", huge, 2, data, 8, &node) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_constant(graph, "f32", many, 2, data, 0, &node) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_constant(graph, "f32", shape, 1, data, 7, &node) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_apply(graph, "add", wrong, 2, &node) == HOIST_INVALID_ARGUMENT);
  CHECK(strstr(hoist_error_message(), "no node 1") != NULL);
  CHECK(hoist_graph_apply(graph, "add", &x, 1, &node) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_apply(graph, "ad", wrong, 2, &node) == HOIST_NOT_FOUND);
  CHECK(strstr(hoist_error_message(), "is it add?") != NULL);
  CHECK(hoist_graph_apply(graph, "sum", &x, 1, &node) == HOIST_NOT_FOUND);
  CHECK(hoist_graph_apply(graph, "input", &x, 0, &node) == HOIST_NOT_FOUND);
  CHECK(hoist_graph_reduce(graph, "add", x, NULL, 0, 0, &node) == HOIST_NOT_FOUND);
  CHECK(hoist_graph_reduce(graph, "sum", x, far, 1, 0, &node) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_reduce(graph, "sum", last, NULL, 0, 0, &node) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_reshape(graph, x, huge, 2, &node) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_permute(graph, x, twice, 2, &node) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_permute(graph, x, twice, 1, &node) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_broadcast(graph, x, far, 2, &node) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_slice(graph, x, far, shape, far, 2, &node) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_slice(graph, x, far, shape, far, 1, &node) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_concatenate(graph, wrong, 1, INT64_MIN, &node) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_softmax(graph, x, 2, &node) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_output(graph, NULL, last) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_output(graph, "a b", x) == HOIST_INVALID_ARGUMENT);
  CHECK(node == 0);
  hoist_graph_program* program;
  CHECK(hoist_graph_compile(graph, NULL, &program) == HOIST_INVALID_ARGUMENT);
  CHECK(strstr(hoist_error_message(), "outputs") != NULL && program == NULL);
  hoist_graph_free(graph);
}

static hoist_graph_program* compiled(const char* text) {
  hoist_graph* graph;
  CHECK_OK(hoist_graph_parse(text, NULL, &graph));
  hoist_graph_program* program;
  CHECK_OK(hoist_graph_compile(graph, NULL, &program));
  hoist_graph_free(graph);
  return program;
}

static void test_options(void) {
  hoist_graph* graph;
  CHECK_OK(hoist_graph_parse(kText, NULL, &graph));
  hoist_graph_program* program;
  const hoist_graph_compile_options no_size = {.size = 0};
  CHECK(hoist_graph_compile(graph, &no_size, &program) == HOIST_INVALID_ARGUMENT);
  struct {
    hoist_graph_compile_options options;
    size_t newer;
  } longer = {{.size = sizeof longer, .threads = UINT32_MAX}, 0};
  CHECK_OK(hoist_graph_compile(graph, &longer.options, &program));
  hoist_graph_report report = {.size = 3};
  CHECK(hoist_graph_get_report(program, &report) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_get_report(program, NULL) == HOIST_INVALID_ARGUMENT);
  hoist_graph_program_free(program);
  longer.newer = 1;
  CHECK(hoist_graph_compile(graph, &longer.options, &program) == HOIST_UNSUPPORTED);
  hoist_graph_free(graph);
  char* text;
  const hoist_graph_circuit_options grammar = {.size = sizeof grammar, .grammar = "other"};
  CHECK(hoist_graph_canon("mark@c21", &grammar, &text) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_canon("mark@c96", NULL, &text) == HOIST_INVALID_ARGUMENT);
  CHECK(strstr(hoist_error_message(), "1:6: error: no such class") != NULL);
}

static void test_wrong_memory(void) {
  hoist_graph_program* const program = compiled(
      "hoist graph 1\n%x = input : f32[2,3]\n%0 = input : f32[0]\n"
      "%1 = exp %x : f32[2,3]\nreturn y = %1, %0\n");
  float x[7] = {0}, y[6];
  const int64_t negative[] = {-1, 1}, far[] = {INT64_MAX, INT64_MAX}, beyond[] = {4, 2};
  const hoist_graph_memory none = {NULL, 0, NULL}, good = {x, 24, NULL}, result = {y, 24, NULL};
  const hoist_graph_memory wrong[] = {
      {NULL, 24, NULL},  {x, 23, NULL},      {x, 28, NULL},  {(char*)x + 1, 24, NULL},
      {x, 24, negative}, {x, SIZE_MAX, far}, {x, 28, beyond}};
  const char* const said[] = {
      "null",      "23 bytes, not 24",       "28 bytes", "aligned", "negative",
      "too large", "28 bytes, and element 8"};
  const hoist_graph_memory outputs[] = {result, none};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    const hoist_graph_memory inputs[] = {wrong[i], none};
    CHECK(hoist_graph_run(program, inputs, 2, outputs, 2) == HOIST_INVALID_ARGUMENT);
    CHECK(strstr(hoist_error_message(), "input x") != NULL);
    CHECK(strstr(hoist_error_message(), said[i]) != NULL);
    const hoist_graph_memory bad_outputs[] = {wrong[i], none}, inputs_too[] = {good, none};
    CHECK(hoist_graph_run(program, inputs_too, 2, bad_outputs, 2) == HOIST_INVALID_ARGUMENT);
    CHECK(strstr(hoist_error_message(), "output y") != NULL);
  }
  const hoist_graph_memory inputs[] = {good, none};
  CHECK(hoist_graph_run(program, inputs, 1, outputs, 2) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_run(program, inputs, 2, outputs, 0) == HOIST_INVALID_ARGUMENT);
  CHECK(hoist_graph_run(program, NULL, 2, outputs, 2) == HOIST_INVALID_ARGUMENT);
  CHECK_OK(hoist_graph_run(program, inputs, 2, outputs, 2));
  for (int i = 0; i < 6; ++i) CHECK(y[i] == 1);
  hoist_graph_program_free(program);
}

/* More memory than any machine has: only its description is made. */
static void test_large_arrays(void) {
  hoist_graph_program* const program = compiled(
      "hoist graph 1\n%x = input : f64[1,1000000000000]\n%1 = exp %x : f64[1,1000000000000]\n"
      "%2 = sum %1 over [0,1] : f64[1,1]\n"
      "%3 = divide %1, %2 : f64[1,1000000000000]\nreturn %3\n");
  CHECK(hoist_graph_input_array(program, 0)->bytes == (size_t)8000000000000);
  hoist_graph_program_free(program);
}

typedef struct Runner {
  const hoist_graph_program* program;
  const float* x;
  const float* w;
  const float* expected;
} Runner;

static void* run_often(void* data) {
  const Runner* const own = data;
  float* const y = malloc(sizeof(float) * kY);
  CHECK(y != NULL);
  const hoist_graph_memory inputs[] = {{(void*)own->x, sizeof(float) * kX, NULL},
                                       {(void*)own->w, sizeof(float) * kW, NULL}};
  const hoist_graph_memory output = {y, sizeof(float) * kY, NULL};
  for (int i = 0; i < 20; ++i) {
    CHECK_OK(hoist_graph_run(own->program, inputs, 2, &output, 1));
    CHECK(memcmp(y, own->expected, sizeof(float) * kY) == 0);
  }
  free(y);
  return NULL;
}

static void test_threads_and_fork(void) {
  hoist_graph_program* const program = compiled(kText);
  float* const all = malloc(sizeof(float) * (kX + kW + kY));
  CHECK(all != NULL);
  uint64_t state = 7;
  for (int i = 0; i < kX + kW; ++i) all[i] = (float)(next_random(&state) % 1000) / 5000 - 0.1f;
  float* const y = all + kX + kW;
  const hoist_graph_memory inputs[] = {{all, sizeof(float) * kX, NULL},
                                       {all + kX, sizeof(float) * kW, NULL}};
  const hoist_graph_memory output = {y, sizeof(float) * kY, NULL};
  CHECK_OK(hoist_graph_run(program, inputs, 2, &output, 1));
  Runner runner = {program, all, all + kX, y};
  pthread_t threads[6];
  for (int i = 0; i < 6; ++i) CHECK(pthread_create(&threads[i], NULL, run_often, &runner) == 0);
  for (int i = 0; i < 6; ++i) CHECK(pthread_join(threads[i], NULL) == 0);

  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    run_often(&runner);
    hoist_graph_program* const own = compiled(kText);
    runner.program = own;
    run_often(&runner);
    hoist_graph_program_free(own);
    _exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  hoist_graph_program_free(program);
  free(all);
}

int main(void) {
  test_null();
  test_wrong_nodes();
  test_options();
  test_wrong_memory();
  test_large_arrays();
  test_threads_and_fork();
  return 0;
}
