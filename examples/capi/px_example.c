/* Kernels of px from C: what a text takes, a launch on the CPU or a GPU, and an error with its
 * place.
 *
 *   cc -std=c99 px_example.c $(pkg-config --cflags --libs hoist) */
#include <hoist/px.h>
#include <stdio.h>
#include <stdlib.h>

static const char kText[] =
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

static void must(hoist_status status) {
  if (status == HOIST_OK) return;
  fprintf(stderr, "%s\n", hoist_error_message());
  exit(1);
}

static void print_parameters(const hoist_px_program* program, size_t kernel) {
  static const char* const directions[] = {"in", "out", "inout"};
  size_t count;
  const hoist_px_parameter* const all = hoist_px_kernel_parameters(program, kernel, &count);
  printf("%s takes", hoist_px_kernel_name(program, kernel));
  for (size_t i = 0; i < count; ++i) {
    printf("%s %s %s %s%s", i == 0 ? "" : ",", all[i].name, directions[all[i].direction],
           all[i].type, all[i].is_array ? "[]" : "");
  }
  printf("\n");
}

/* A text with a mistake: each error has its line, its column and what would help. */
static void print_errors(void) {
  static const char wrong[] =
      "GPU_KERNEL k\n    GPU_PARAM n i32\n    THREAD_ID -> tid\n    IF tdi < n:\n    ENDIF\n"
      "GPU_END\n";
  hoist_px_program* program;
  hoist_px_messages* messages;
  if (hoist_px_compile(wrong, NULL, &program, &messages) == HOIST_OK) exit(1);
  size_t count;
  const hoist_px_message* const list = hoist_px_messages_list(messages, &count);
  for (size_t i = 0; i < count; ++i) {
    printf("line %u, column %u: %s; %s\n", list[i].line, list[i].column, list[i].what,
           list[i].mend);
  }
  hoist_px_messages_free(messages);
}

int main(void) {
  const hoist_px_compile_options how = {.size = sizeof how, .name = "saxpy.px"};
  hoist_px_program* program;
  must(hoist_px_compile(kText, &how, &program, NULL));
  size_t saxpy;
  must(hoist_px_find_kernel(program, "saxpy", &saxpy));
  print_parameters(program, saxpy);

  enum { kElements = 1000 };
  float x[kElements], y[kElements];
  for (int i = 0; i < kElements; ++i) {
    x[i] = (float)i;
    y[i] = 1;
  }
  const float a = 2;
  const int32_t n = kElements;
  const hoist_px_argument arguments[] = {
      {x, sizeof x}, {y, sizeof y}, {&a, sizeof a}, {&n, sizeof n}};
  hoist_px_launched launched = {.size = sizeof launched};
  must(hoist_px_launch(program, saxpy, arguments, 4, NULL, &launched));
  printf("2 x + 1: %g %g %g ... %g, on %s\n", y[0], y[1], y[2], y[kElements - 1],
         launched.on_gpu ? "a GPU" : "the CPU");

  char* why;
  must(hoist_px_explain(program, saxpy, arguments, 4, NULL, &why));
  printf("%s\n", why);
  hoist_text_free(why);
  hoist_px_free(program);
  print_errors();
  return 0;
}
