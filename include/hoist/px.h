/* Kernels of px, Hoist's kernel language (docs/reference/px.md), on the CPU's cores or a GPU.
 * hoist/hoist.h says what holds for all calls: errors, structs with sizes, threads.
 *
 *   const char* text = "GPU_KERNEL saxpy ...";
 *   hoist_px_program* program;
 *   const hoist_px_compile_options how = {.size = sizeof how, .name = "saxpy.px"};
 *   if (hoist_px_compile(text, &how, &program, NULL) != HOIST_OK)
 *     puts(hoist_error_message());  // each error with its line, a caret and what to do
 *
 *   size_t saxpy;
 *   hoist_px_find_kernel(program, "saxpy", &saxpy);
 *   const float a = 2;
 *   const int32_t n = 1000;
 *   const hoist_px_argument arguments[] = {
 *       {x, sizeof x}, {y, sizeof y}, {&a, sizeof a}, {&n, sizeof n}};
 *   hoist_px_launch(program, saxpy, arguments, 4, NULL, NULL);
 *   hoist_px_free(program);
 *
 * Any number of threads may launch kernels of one program. In a child after fork() a program of the
 * parent's still says what its kernels take; launching is HOIST_UNAVAILABLE: the child compiles the
 * text itself.
 *
 * Compilers: kernels for the CPU are compiled by the system's C++ compiler (c++, g++ or clang++ in
 * PATH), those for a GPU by NVRTC; what they make is kept in $XDG_CACHE_HOME/hoist. */
#ifndef HOIST_PX_H
#define HOIST_PX_H

#include "hoist/hoist.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Compiling ---- */

typedef struct hoist_px_program hoist_px_program;

/* What is wrong, or doubtful, in a text. Line and column count from 1. This struct never grows. */
typedef struct hoist_px_message {
  int is_error; /* else a warning */
  uint32_t line;
  uint32_t column;
  const char* what;
  const char* mend; /* what the author can do */
} hoist_px_message;
typedef struct hoist_px_messages hoist_px_messages;

typedef struct hoist_px_compile_options {
  size_t size;
  const char* name;   /* of the text, in messages; default "<text>" */
  const char* target; /* where its kernels run:
                         "auto" (default): arrays of host memory on the CPU, or on a GPU where the
                           estimate of docs/reference/px.md says that it is faster with the copies;
                           arrays of a GPU there
                         "cpu", without a C++ compiler HOIST_UNAVAILABLE
                         "cuda", "cuda:1": the GPU of that number; host memory is copied
                         "interpreter": slowly, without a compiler, with checked bounds */
  int check_bounds;   /* 1: accesses beyond an array's end are found, and dropped; costs time */
} hoist_px_compile_options;

/* For a target that is named the kernels are compiled at once, for "auto" when the first launch
 * needs it; without a C++ compiler "auto" takes the interpreter. HOIST_INVALID_ARGUMENT for a text
 * that is no px: the message is what `hoist px check` prints. `messages`, which is optional,
 * becomes its errors, or the warnings of a text that has none; to be freed whatever the call
 * returns. */
hoist_status hoist_px_compile(const char* text, const hoist_px_compile_options* options,
                              hoist_px_program** program, hoist_px_messages** messages);
/* Waits for no launch: only after the last one has ended. */
void hoist_px_free(hoist_px_program* program);

/* In the order of the text; they stay until they are freed. Null for none. */
const hoist_px_message* hoist_px_messages_list(const hoist_px_messages* messages, size_t* count);
void hoist_px_messages_free(hoist_px_messages* messages);

/* ---- Kernels and what they take ---- */

size_t hoist_px_kernel_count(const hoist_px_program* program);
/* Null: there is no such number. */
const char* hoist_px_kernel_name(const hoist_px_program* program, size_t kernel);
/* The number of a name; HOIST_NOT_FOUND names the nearest that there is. */
hoist_status hoist_px_find_kernel(const hoist_px_program* program, const char* name,
                                  size_t* kernel);

typedef enum hoist_px_direction {
  HOIST_PX_IN = 0, /* of scalars, too */
  HOIST_PX_OUT = 1,
  HOIST_PX_INOUT = 2
} hoist_px_direction;

/* This struct never grows. */
typedef struct hoist_px_parameter {
  const char* name;
  const char* type; /* "f32": of a scalar, or of an array's elements */
  size_t bytes;     /* of one such */
  int is_array;     /* 1: array; 0: scalar */
  hoist_px_direction direction;
} hoist_px_parameter;

/* In the order in which a launch takes them; they stay until the program is freed. Null and none
 * where there is no such kernel. */
const hoist_px_parameter* hoist_px_kernel_parameters(const hoist_px_program* program, size_t kernel,
                                                     size_t* count);

/* ---- Launching ---- */

/* An array, or a scalar of exactly the parameter's type (bool: a byte). Arrays that are written
 * must overlap no other. This struct never grows. */
typedef struct hoist_px_argument {
  const void* data; /* what the kernel writes must be writable */
  size_t bytes;     /* of an array: a multiple of its elements' */
} hoist_px_argument;

typedef struct hoist_px_launch_options {
  size_t size;
  uint32_t blocks[3];  /* x, y, z; a 0 behind x is 1. Without (x is 0): as many as the longest array
                          that the kernel writes needs */
  uint32_t threads[3]; /* of a block, likewise. Without both: those of the text's own launch where
                          the arguments decide it, else a thread for each element of that array */
  int on_device;       /* 1: arrays are memory of a GPU, and what writes them has ended or is on
                          `stream` */
  int device;          /* with `on_device`: number of that GPU */
  void* stream; /* with `on_device`: a cudaStream_t (cudaStreamLegacy for the default one). The
                   launch is enqueued and the call returns; with checked bounds it waits for
                   the stream. Null: the call returns when the kernel has ended */
  uint32_t cpu_threads; /* of the CPU, at most; default: as many as the process may use */
  hoist_cancellation* cancellation; /* between blocks on the CPU; a GPU's kernels run to their end.
                                       Arrays are then left half written */
} hoist_px_launch_options;

typedef struct hoist_px_launched {
  size_t size;
  int on_gpu;
  int device; /* with `on_gpu`: its number */
  /* With checked bounds: the first access beyond an array's end. */
  int has_fault;
  uint32_t fault_line;
  uint32_t fault_column;
  int64_t fault_index;
  uint64_t fault_length; /* elements of the array */
} hoist_px_launched;

/* `arguments`: the kernel's, in their order. `launched`, which is optional, is where the launch
 * ran. HOIST_INVALID_ARGUMENT also for an access beyond an array's end, with its place, which
 * `launched` has then, too. */
hoist_status hoist_px_launch(const hoist_px_program* program, size_t kernel,
                             const hoist_px_argument* arguments, size_t count,
                             const hoist_px_launch_options* options, hoist_px_launched* launched);

/* Where that launch would run, and why, as a line of text: "the CPU: 1.2 ms on the CPU, 310 ms on a
 * GPU ...". Arrays may be null. hoist_text_free() frees it. */
hoist_status hoist_px_explain(const hoist_px_program* program, size_t kernel,
                              const hoist_px_argument* arguments, size_t count,
                              const hoist_px_launch_options* options, char** text);

#ifdef __cplusplus
}
#endif

#endif
