/* Tensor programs: graphs of operations on arrays that are compiled into few fused loops
 * (docs/reference/graph-programs.md), and circuits over the 96 classes of bytes. hoist/hoist.h says
 * what holds for all calls: errors, structs with sizes, threads.
 *
 *   hoist_graph* graph;
 *   hoist_graph_create(&graph);
 *   const int64_t shape_x[] = {2, 3}, shape_w[] = {3, 4};
 *   hoist_graph_node x, w, y;
 *   hoist_graph_input(graph, "x", "f32", shape_x, 2, &x);
 *   hoist_graph_input(graph, "w", "f32", shape_w, 2, &w);
 *   hoist_graph_apply(graph, "matmul", (hoist_graph_node[]){x, w}, 2, &y);
 *   hoist_graph_apply(graph, "relu", &y, 1, &y);
 *   hoist_graph_output(graph, "y", y);
 *
 *   hoist_graph_program* program;
 *   hoist_graph_compile(graph, NULL, &program);
 *   hoist_graph_free(graph);
 *   const hoist_graph_memory inputs[] = {{x_data, sizeof x_data}, {w_data, sizeof w_data}};
 *   const hoist_graph_memory output = {y_data, sizeof y_data};
 *   hoist_graph_run(program, inputs, 2, &output, 1);
 *   hoist_graph_program_free(program);
 *
 * A graph is for one thread at a time. Any number of threads may run one program. A child after
 * fork() may build, compile and run, also with the programs of its parent.
 *
 * Types are "bool" (bytes, 0 or 1), "i8" to "i64", "u8" to "u64", "f16", "bf16", "f32" and "f64".
 * Shapes have at most HOIST_GRAPH_AXES axes; 0 axes are a single number, whose shape may be null. A
 * function that adds a node sets `node` to 0 where it fails. */
#ifndef HOIST_GRAPH_H
#define HOIST_GRAPH_H

#include "hoist/hoist.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Building ---- */

#define HOIST_GRAPH_AXES 8

typedef struct hoist_graph hoist_graph;
typedef uint32_t hoist_graph_node; /* of one graph */

hoist_status hoist_graph_create(hoist_graph** graph);
void hoist_graph_free(hoist_graph* graph);

/* `name`, which is optional, is for texts: letters, digits, _ and . behind a letter or _. */
hoist_status hoist_graph_input(hoist_graph* graph, const char* name, const char* type,
                               const int64_t* shape, size_t axes, hoist_graph_node* node);
/* Copies `data`: the elements in row-major order, `bytes` of them in all. */
hoist_status hoist_graph_constant(hoist_graph* graph, const char* type, const int64_t* shape,
                                  size_t axes, const void* data, size_t bytes,
                                  hoist_graph_node* node);
/* A constant without axes, rounded, or wrapped, to the type. */
hoist_status hoist_graph_number(hoist_graph* graph, const char* type, double value,
                                hoist_graph_node* node);

/* An element-wise operation, or matmul, by its name in docs/reference/graph-text.md: "add", "exp",
 * "where". HOIST_NOT_FOUND names the nearest that there is. Shapes are broadcast as NumPy does. */
hoist_status hoist_graph_apply(hoist_graph* graph, const char* operation,
                               const hoist_graph_node* inputs, size_t count,
                               hoist_graph_node* node);
/* "sum", "mean", "min", "max", "argmin", "argmax" over `axes`, which may be negative; none: over
 * all. `keep`: 1 keeps them, with length 1. */
hoist_status hoist_graph_reduce(hoist_graph* graph, const char* operation, hoist_graph_node input,
                                const int64_t* axes, size_t count, int keep,
                                hoist_graph_node* node);
hoist_status hoist_graph_cast(hoist_graph* graph, hoist_graph_node input, const char* type,
                              hoist_graph_node* node);

/* Views, which cost nothing but where their result must be copied. */

/* One extent may be -1. */
hoist_status hoist_graph_reshape(hoist_graph* graph, hoist_graph_node input, const int64_t* shape,
                                 size_t axes, hoist_graph_node* node);
/* Where each axis of the result comes from. */
hoist_status hoist_graph_permute(hoist_graph* graph, hoist_graph_node input, const int64_t* from,
                                 size_t axes, hoist_graph_node* node);
hoist_status hoist_graph_broadcast(hoist_graph* graph, hoist_graph_node input, const int64_t* shape,
                                   size_t axes, hoist_graph_node* node);
/* `lengths` elements of each axis from `begins` on, `steps` (not 0) apart; all must lie inside. */
hoist_status hoist_graph_slice(hoist_graph* graph, hoist_graph_node input, const int64_t* begins,
                               const int64_t* lengths, const int64_t* steps, size_t axes,
                               hoist_graph_node* node);
hoist_status hoist_graph_cumulative_sum(hoist_graph* graph, hoist_graph_node input, int64_t axis,
                                        hoist_graph_node* node);
/* Along `axis` the elements at these places; negative ones count from the end. One outside makes
 * hoist_graph_run() HOIST_INVALID_ARGUMENT. */
hoist_status hoist_graph_take_along(hoist_graph* graph, hoist_graph_node input,
                                    hoist_graph_node indices, int64_t axis, hoist_graph_node* node);
hoist_status hoist_graph_concatenate(hoist_graph* graph, const hoist_graph_node* inputs,
                                     size_t count, int64_t axis, hoist_graph_node* node);

/* Made of several nodes. */

/* `exact`: 1 by erf, 0 by tanh. */
hoist_status hoist_graph_gelu(hoist_graph* graph, hoist_graph_node input, int exact,
                              hoist_graph_node* node);
hoist_status hoist_graph_softmax(hoist_graph* graph, hoist_graph_node input, int64_t axis,
                                 hoist_graph_node* node);
hoist_status hoist_graph_log_softmax(hoist_graph* graph, hoist_graph_node input, int64_t axis,
                                     hoist_graph_node* node);
/* (x - mean) / sqrt(variance + epsilon) along the last axis. */
hoist_status hoist_graph_layer_norm(hoist_graph* graph, hoist_graph_node input, double epsilon,
                                    hoist_graph_node* node);

/* Adds an output behind those that there are. `name` as of an input. */
hoist_status hoist_graph_output(hoist_graph* graph, const char* name, hoist_graph_node node);

/* An array of a graph or a program. This struct never grows. */
typedef struct hoist_graph_array {
  const char* name; /* "": none */
  const char* type;
  size_t axes;
  int64_t shape[HOIST_GRAPH_AXES];
  size_t bytes; /* without gaps */
} hoist_graph_array;

/* Type and shape of a node; `name` is "". */
hoist_status hoist_graph_describe(const hoist_graph* graph, hoist_graph_node node,
                                  hoist_graph_array* array);

/* ---- Texts (docs/reference/graph-text.md) ---- */

/* HOIST_INVALID_ARGUMENT for a text with an error: the message has the line, the column, a caret
 * and what to do. `name`, of the text, is for that message; null: "<text>". */
hoist_status hoist_graph_parse(const char* text, const char* name, hoist_graph** graph);
/* hoist_text_free() frees it. Parsing it gives the same graph, less what no output needs. */
hoist_status hoist_graph_text(const hoist_graph* graph, char** text);

/* ---- Compiling ---- */

typedef struct hoist_graph_program hoist_graph_program;

typedef struct hoist_graph_compile_options {
  size_t size;
  int fast_math;    /* 1: allows what rounds otherwise, or is wrong for infinities, NaN or -0 */
  uint32_t threads; /* at most; default: as many as the process may use. They change no result */
  int no_fusion;    /* 1: a kernel for each node, to compare with */
} hoist_graph_compile_options;

/* HOIST_INVALID_ARGUMENT for a graph without outputs. The program does not need the graph. */
hoist_status hoist_graph_compile(const hoist_graph* graph,
                                 const hoist_graph_compile_options* options,
                                 hoist_graph_program** program);
/* Only after the last run has returned. */
void hoist_graph_program_free(hoist_graph_program* program);

/* In their order; they stay until the program is freed. Null: there is no such number. */
size_t hoist_graph_input_count(const hoist_graph_program* program);
const hoist_graph_array* hoist_graph_input_array(const hoist_graph_program* program, size_t i);
size_t hoist_graph_output_count(const hoist_graph_program* program);
const hoist_graph_array* hoist_graph_output_array(const hoist_graph_program* program, size_t i);

/* How a program was made. */
typedef struct hoist_graph_report {
  size_t size;
  uint64_t nodes_traced; /* operations of the graph; views, inputs and constants do not count */
  uint64_t nodes_left;   /* after rewriting */
  uint64_t kernels;      /* loops over memory */
  uint64_t bytes_moved;  /* by all kernels, each element of an array once a kernel */
  uint64_t arena_bytes;  /* planned for results between kernels */
} hoist_graph_report;
hoist_status hoist_graph_get_report(const hoist_graph_program* program, hoist_graph_report* report);

/* What `hoist graph show` prints of it: its kernels, with their nodes and bytes.
 * hoist_text_free() frees this text and the next one. */
hoist_status hoist_graph_explain(const hoist_graph_program* program, char** text);
/* A picture of the nodes, grouped by kernel, as SVG. `title` is optional. */
hoist_status hoist_graph_svg(const hoist_graph_program* program, const char* title, char** svg);

/* ---- Running ---- */

/* Memory of an array. This struct never grows. */
typedef struct hoist_graph_memory {
  void* data;             /* that of inputs is only read; aligned to its type's size */
  size_t bytes;           /* without strides exactly the array's */
  const int64_t* strides; /* from one element to the next along each axis, in elements, not
                             negative; null: row-major without gaps. Others are copied */
} hoist_graph_memory;

/* All inputs and all outputs, in their order. An output may overlap inputs: the result is as if
 * these had been copied first. Outputs must not overlap each other. HOIST_EXHAUSTED where there is
 * no memory; outputs are then half written. */
hoist_status hoist_graph_run(const hoist_graph_program* program, const hoist_graph_memory* inputs,
                             size_t input_count, const hoist_graph_memory* outputs,
                             size_t output_count);

/* ---- Circuits (docs/reference/graph-circuits.md) ---- */

typedef struct hoist_graph_circuit_options {
  size_t size;
  const char* grammar; /* "compiler" (default) or "spec" */
  int no_gates;        /* 1: all marks and copies are operations on memory */
} hoist_graph_circuit_options;

/* The one text of all circuits that are known to do the same. HOIST_INVALID_ARGUMENT with place,
 * caret and mend for what is no circuit. hoist_text_free() frees it. */
hoist_status hoist_graph_canon(const char* circuit, const hoist_graph_circuit_options* options,
                               char** text);

/* What a circuit says. The library owns it. */
typedef struct hoist_graph_evaluation {
  const uint8_t* bytes; /* of its classes */
  size_t byte_count;
  const uint16_t* addresses; /* of classes with a page */
  size_t address_count;
  const char* const* words; /* for a machine */
  size_t word_count;
} hoist_graph_evaluation;
hoist_status hoist_graph_eval(const char* circuit, const hoist_graph_circuit_options* options,
                              const hoist_graph_evaluation** evaluation);
void hoist_graph_evaluation_free(const hoist_graph_evaluation* evaluation);

#ifdef __cplusplus
}
#endif

#endif
