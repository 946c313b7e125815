/* hoist/graph.h as it is meant to be used. */
#include "hoist/graph.h"

#include <math.h>

#include "capi/testing.h"

static hoist_graph* new_graph(void) {
  hoist_graph* graph;
  CHECK_OK(hoist_graph_create(&graph));
  return graph;
}

static hoist_graph_program* compiled(const hoist_graph* graph,
                                     const hoist_graph_compile_options* options) {
  hoist_graph_program* program;
  CHECK_OK(hoist_graph_compile(graph, options, &program));
  return program;
}

/* relu(x w + b), with x of 2 x 3 and w of 3 x 2. */
static hoist_graph* layer(void) {
  hoist_graph* const graph = new_graph();
  const int64_t x_shape[] = {2, 3}, w_shape[] = {3, 2}, b_shape[] = {2};
  const float b_data[] = {0.5f, -100};
  hoist_graph_node x, w, b, y;
  CHECK_OK(hoist_graph_input(graph, "x", "f32", x_shape, 2, &x));
  CHECK_OK(hoist_graph_input(graph, "w", "f32", w_shape, 2, &w));
  CHECK_OK(hoist_graph_constant(graph, "f32", b_shape, 1, b_data, sizeof b_data, &b));
  const hoist_graph_node factors[] = {x, w};
  CHECK_OK(hoist_graph_apply(graph, "matmul", factors, 2, &y));
  const hoist_graph_node terms[] = {y, b};
  CHECK_OK(hoist_graph_apply(graph, "add", terms, 2, &y));
  CHECK_OK(hoist_graph_apply(graph, "relu", &y, 1, &y));
  CHECK_OK(hoist_graph_output(graph, "y", y));
  return graph;
}

static void test_layer(void) {
  hoist_graph* const graph = layer();
  hoist_graph_program* const program = compiled(graph, NULL);
  hoist_graph_free(graph);

  CHECK(hoist_graph_input_count(program) == 2 && hoist_graph_output_count(program) == 1);
  const hoist_graph_array* const x = hoist_graph_input_array(program, 0);
  CHECK(strcmp(x->name, "x") == 0 && strcmp(x->type, "f32") == 0 && x->axes == 2);
  CHECK(x->shape[0] == 2 && x->shape[1] == 3 && x->bytes == 24);
  CHECK(strcmp(hoist_graph_output_array(program, 0)->name, "y") == 0);

  float x_data[] = {1, 2, 3, 4, 5, 6}, w_data[] = {1, 0, 0, 1, 1, 1}, y_data[4];
  const hoist_graph_memory inputs[] = {{x_data, sizeof x_data, NULL},
                                       {w_data, sizeof w_data, NULL}};
  const hoist_graph_memory output = {y_data, sizeof y_data, NULL};
  CHECK_OK(hoist_graph_run(program, inputs, 2, &output, 1));
  CHECK(y_data[0] == 4.5f && y_data[1] == 0 && y_data[2] == 10.5f && y_data[3] == 0);

  hoist_graph_report report = {.size = sizeof report};
  CHECK_OK(hoist_graph_get_report(program, &report));
  CHECK(report.nodes_traced == 3 && report.kernels == 1 && report.bytes_moved == 24 + 24 + 8 + 16);
  char* text;
  CHECK_OK(hoist_graph_explain(program, &text));
  CHECK(strstr(text, "3 nodes traced, 3 left, 1 kernel") != NULL);
  CHECK(strstr(text, "matmul add relu") != NULL);
  hoist_text_free(text);
  CHECK_OK(hoist_graph_svg(program, "a < b", &text));
  CHECK(strncmp(text, "<svg ", 5) == 0 && strstr(text, "<title>a &lt; b</title>") != NULL);
  hoist_text_free(text);
  hoist_graph_program_free(program);
}

/* Inputs and outputs with gaps, turned round, or repeated. */
static void test_strides(void) {
  hoist_graph* const graph = layer();
  hoist_graph_program* const program = compiled(graph, NULL);
  hoist_graph_free(graph);
  /* x by columns; w two equal columns; y with gaps. */
  float x_data[] = {1, 4, 2, 5, 3, 6}, w_data[] = {1, 2, 3}, y_data[7];
  const int64_t by_columns[] = {1, 2}, repeated[] = {1, 0}, apart[] = {4, 2};
  for (int i = 0; i < 7; ++i) y_data[i] = -1;
  const hoist_graph_memory inputs[] = {{x_data, sizeof x_data, by_columns},
                                       {w_data, sizeof w_data, repeated}};
  const hoist_graph_memory output = {y_data, sizeof y_data, apart};
  CHECK_OK(hoist_graph_run(program, inputs, 2, &output, 1));
  const float expected[] = {14.5f, -1, 0, -1, 32.5f, -1, 0};
  CHECK(memcmp(y_data, expected, sizeof expected) == 0);
  hoist_graph_program_free(program);
}

/* An output in the place of an input. */
static void test_in_place(void) {
  hoist_graph* const graph = new_graph();
  const int64_t shape[] = {1000};
  hoist_graph_node x, y;
  CHECK_OK(hoist_graph_input(graph, NULL, "f32", shape, 1, &x));
  CHECK_OK(hoist_graph_apply(graph, "sqrt", &x, 1, &y));
  CHECK_OK(hoist_graph_output(graph, NULL, y));
  hoist_graph_program* const program = compiled(graph, NULL);
  hoist_graph_free(graph);
  CHECK(strcmp(hoist_graph_input_array(program, 0)->name, "") == 0);
  float data[1000];
  for (int i = 0; i < 1000; ++i) data[i] = (float)i;
  const hoist_graph_memory memory = {data, sizeof data, NULL};
  CHECK_OK(hoist_graph_run(program, &memory, 1, &memory, 1));
  for (int i = 0; i < 1000; ++i) CHECK(data[i] == sqrtf((float)i));
  hoist_graph_program_free(program);
}

/* Each function that adds a node. */
static void test_nodes(void) {
  hoist_graph* const graph = new_graph();
  const int64_t shape[] = {2, 3}, turned[] = {3, 2}, flat[] = {-1}, wide[] = {4, 2, 3};
  const int64_t order[] = {1, 0}, begins[] = {1, 0}, lengths[] = {2, 2}, steps[] = {-1, 2};
  const int64_t axis[] = {-1};
  const int64_t places_shape[] = {2, 1};
  const int32_t places_data[] = {2, -1};
  hoist_graph_node x, n, places, made[16];
  CHECK_OK(hoist_graph_input(graph, "x", "f64", shape, 2, &x));
  CHECK_OK(hoist_graph_number(graph, "f64", 0.25, &n));
  const hoist_graph_node both[] = {x, n}, twice[] = {x, x};
  CHECK_OK(hoist_graph_apply(graph, "multiply", both, 2, &made[0]));
  CHECK_OK(hoist_graph_reduce(graph, "sum", x, axis, 1, 0, &made[1]));
  CHECK_OK(hoist_graph_reduce(graph, "max", x, NULL, 0, 1, &made[2]));
  CHECK_OK(hoist_graph_cast(graph, x, "i32", &made[3]));
  CHECK_OK(hoist_graph_reshape(graph, x, flat, 1, &made[4]));
  CHECK_OK(hoist_graph_permute(graph, x, order, 2, &made[5]));
  CHECK_OK(hoist_graph_broadcast(graph, x, wide, 3, &made[6]));
  CHECK_OK(hoist_graph_slice(graph, x, begins, lengths, steps, 2, &made[7]));
  CHECK_OK(hoist_graph_concatenate(graph, twice, 2, 0, &made[8]));
  CHECK_OK(hoist_graph_gelu(graph, x, 0, &made[9]));
  CHECK_OK(hoist_graph_gelu(graph, x, 1, &made[10]));
  CHECK_OK(hoist_graph_softmax(graph, x, -1, &made[11]));
  CHECK_OK(hoist_graph_log_softmax(graph, x, 0, &made[12]));
  CHECK_OK(hoist_graph_layer_norm(graph, x, 1e-5, &made[13]));
  CHECK_OK(hoist_graph_cumulative_sum(graph, x, 1, &made[14]));
  CHECK_OK(hoist_graph_constant(graph, "i32", places_shape, 2, places_data, 8, &places));
  CHECK_OK(hoist_graph_take_along(graph, x, places, 1, &made[15]));
  hoist_graph_array array;
  CHECK_OK(hoist_graph_describe(graph, made[5], &array));
  CHECK(memcmp(array.shape, turned, sizeof turned) == 0 && array.bytes == 48);
  CHECK_OK(hoist_graph_describe(graph, made[3], &array));
  CHECK(strcmp(array.type, "i32") == 0);

  for (size_t i = 0; i < 16; ++i) CHECK_OK(hoist_graph_output(graph, NULL, made[i]));
  hoist_graph_program* const program = compiled(graph, NULL);
  hoist_graph_free(graph);
  double x_data[] = {0.5, -1, 2, 3, -4, 5};
  double results[16][24];
  hoist_graph_memory outputs[16];
  for (size_t i = 0; i < 16; ++i) {
    outputs[i].data = results[i];
    outputs[i].bytes = hoist_graph_output_array(program, i)->bytes;
    outputs[i].strides = NULL;
  }
  const hoist_graph_memory input = {x_data, sizeof x_data, NULL};
  CHECK_OK(hoist_graph_run(program, &input, 1, outputs, 16));
  CHECK(results[0][5] == 1.25 && results[1][0] == 1.5 && results[2][0] == 5);
  int32_t truncated[6];
  memcpy(truncated, results[3], sizeof truncated);
  CHECK(truncated[0] == 0 && truncated[4] == -4);
  CHECK(results[4][3] == 3 && results[5][1] == 3 && results[6][18] == 0.5);
  CHECK(results[7][0] == 3 && results[7][1] == 5 && results[7][2] == 0.5 && results[7][3] == 2);
  CHECK(results[8][6] == 0.5);
  CHECK(fabs(results[9][2] - results[10][2]) < 1e-3 && fabs(results[10][2] - 1.9544997) < 1e-6);
  CHECK(fabs(results[11][0] + results[11][1] + results[11][2] - 1) < 1e-12);
  CHECK(fabs(exp(results[12][0]) + exp(results[12][3]) - 1) < 1e-12);
  CHECK(fabs(results[13][0] + results[13][1] + results[13][2]) < 1e-12);
  CHECK(results[14][2] == 1.5 && results[15][0] == 2 && results[15][1] == 5);
  hoist_graph_program_free(program);
}

static void test_texts(void) {
  hoist_graph* graph = layer();
  char* text;
  CHECK_OK(hoist_graph_text(graph, &text));
  hoist_graph_free(graph);
  static const char expected[] =
      "hoist graph 1\n"
      "%x = input : f32[2,3]\n"
      "%w = input : f32[3,2]\n"
      "%2 = constant [0.5, -100] : f32[2]\n"
      "%3 = matmul %x, %w : f32[2,2]\n"
      "%4 = add %2, %3 : f32[2,2]\n"
      "%5 = relu %4 : f32[2,2]\n"
      "return y = %5\n";
  CHECK(strcmp(text, expected) == 0);
  CHECK_OK(hoist_graph_parse(text, NULL, &graph));
  hoist_text_free(text);
  /* It can be built on. */
  hoist_graph_node node;
  CHECK_OK(hoist_graph_input(graph, "z", "bool", NULL, 0, &node));
  CHECK_OK(hoist_graph_output(graph, "same", node));
  CHECK_OK(hoist_graph_text(graph, &text));
  CHECK(strstr(text, "%z = input : bool\nreturn y = %5, same = %z\n") != NULL);
  hoist_text_free(text);
  hoist_graph_free(graph);

  CHECK(hoist_graph_parse("hoist graph 1\n%x = inptu : f32\n", "a.graph", &graph) ==
        HOIST_INVALID_ARGUMENT);
  CHECK(graph == NULL);
  CHECK(strstr(hoist_error_message(), "a.graph:2:6: error: no operation inptu") != NULL);
}

static void test_fusion(void) {
  hoist_graph* const graph = layer();
  const hoist_graph_compile_options apart = {.size = sizeof apart, .no_fusion = 1, .threads = 1};
  hoist_graph_program* const program = compiled(graph, &apart);
  hoist_graph_free(graph);
  hoist_graph_report report = {.size = sizeof report};
  CHECK_OK(hoist_graph_get_report(program, &report));
  CHECK(report.kernels == 3);
  hoist_graph_program_free(program);
}

static void test_circuits(void) {
  char* text;
  CHECK_OK(hoist_graph_canon("mark@c21 . mark@c21 . mark@c21", NULL, &text));
  CHECK(strcmp(text, "mark@c21") == 0);
  hoist_text_free(text);
  const hoist_graph_circuit_options memory = {.size = sizeof memory, .no_gates = 1};
  CHECK_OK(hoist_graph_canon("mark@c21 . mark@c21 . mark@c21", &memory, &text));
  CHECK(strcmp(text, "mark@c21 . mark@c21 . mark@c21") == 0);
  hoist_text_free(text);

  const hoist_graph_evaluation* evaluation;
  const hoist_graph_circuit_options spec = {.size = sizeof spec, .grammar = "spec"};
  CHECK_OK(hoist_graph_eval("R+1@ (copy@c05 . evaluate@c21)", &spec, &evaluation));
  CHECK(evaluation->byte_count == 2 && evaluation->bytes[0] == 0x4a);
  CHECK(evaluation->address_count == 0 && evaluation->word_count == 5);
  CHECK(strcmp(evaluation->words[2], "evaluate") == 0);
  hoist_graph_evaluation_free(evaluation);
  CHECK_OK(hoist_graph_eval("mark@c42@17", NULL, &evaluation));
  CHECK(evaluation->address_count == 1 && evaluation->addresses[0] >> 8 == 17);
  hoist_graph_evaluation_free(evaluation);
}

int main(void) {
  test_layer();
  test_strides();
  test_in_place();
  test_nodes();
  test_texts();
  test_fusion();
  test_circuits();
  return 0;
}
