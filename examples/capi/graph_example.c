/* Tensor programs from C: a layer that is built, compiled into one loop, and run; its text; and a
 * circuit.
 *
 *   cc -std=c99 graph_example.c $(pkg-config --cflags --libs hoist) */
#include <hoist/graph.h>
#include <stdio.h>
#include <stdlib.h>

static void must(hoist_status status) {
  if (status == HOIST_OK) return;
  fprintf(stderr, "%s\n", hoist_error_message());
  exit(1);
}

/* softmax(x w + b) */
static hoist_graph* classifier(void) {
  const int64_t x_shape[] = {2, 3}, w_shape[] = {3, 2}, b_shape[] = {2};
  const float b_data[] = {0.5F, -0.5F};
  hoist_graph* graph;
  must(hoist_graph_create(&graph));
  hoist_graph_node x, w, b, y;
  must(hoist_graph_input(graph, "x", "f32", x_shape, 2, &x));
  must(hoist_graph_input(graph, "w", "f32", w_shape, 2, &w));
  must(hoist_graph_constant(graph, "f32", b_shape, 1, b_data, sizeof b_data, &b));
  const hoist_graph_node factors[] = {x, w};
  must(hoist_graph_apply(graph, "matmul", factors, 2, &y));
  const hoist_graph_node terms[] = {y, b};
  must(hoist_graph_apply(graph, "add", terms, 2, &y));
  must(hoist_graph_softmax(graph, y, -1, &y));
  must(hoist_graph_output(graph, "y", y));
  return graph;
}

static void print_and_free(char* text) {
  fputs(text, stdout);
  hoist_text_free(text);
}

int main(void) {
  hoist_graph* const graph = classifier();
  char* text;
  must(hoist_graph_text(graph, &text));
  print_and_free(text);

  hoist_graph_program* program;
  must(hoist_graph_compile(graph, NULL, &program));
  hoist_graph_free(graph);
  must(hoist_graph_explain(program, &text));
  print_and_free(text);

  float x[] = {1, 2, 3, 4, 5, 6}, w[] = {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F}, y[4];
  const hoist_graph_memory inputs[] = {{x, sizeof x, NULL}, {w, sizeof w, NULL}};
  const hoist_graph_memory output = {y, sizeof y, NULL};
  must(hoist_graph_run(program, inputs, 2, &output, 1));
  printf("%.3f %.3f\n%.3f %.3f\n", y[0], y[1], y[2], y[3]);
  hoist_graph_program_free(program);

  must(hoist_graph_canon("mark@c21 . mark@c21 . mark@c07", NULL, &text));
  printf("%s\n", text);
  hoist_text_free(text);
  return 0;
}
