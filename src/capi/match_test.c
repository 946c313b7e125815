/* hoist/match.h as a program of C sees it. */
#include "hoist/match.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capi/testing.h"

static const char* folder;

static const hoist_match_events kShop = {(const char* const[]){"shoe", "sock", "hat"},
                                         (const size_t[]){1, 2}, 2};
static const hoist_match_events kState = {(const char* const[]){"shoe", "hat"},
                                          (const size_t[]){1, 1}, 2};

static hoist_match_index* in_memory(void) {
  const hoist_match_open_options create = {.size = sizeof create, .create = 1};
  hoist_match_index* index;
  CHECK_OK(hoist_match_open(NULL, &create, &index));
  return index;
}

static char* numbered_name(int number) {
  char* const name = malloc(32);
  sprintf(name, "pattern-%05d", number);
  return name;
}

/* Pattern i is the symbols of i's decimal digits, each an event. */
static void learn_numbers(hoist_match_index* index, int begin, int end) {
  for (int i = begin; i < end; ++i) {
    char digits[5][2];
    const char* symbols[5];
    const size_t sizes[5] = {1, 1, 1, 1, 1};
    for (int d = 0, rest = i; d < 5; ++d, rest /= 10) {
      digits[d][0] = (char)('0' + rest % 10);
      digits[d][1] = '\0';
      symbols[d] = digits[d];
    }
    const hoist_match_events pattern = {symbols, sizes, 5};
    char* const name = numbered_name(i);
    const hoist_match_learn_options options = {.size = sizeof options, .name = name};
    CHECK_OK(hoist_match_learn(index, &pattern, &options, NULL));
    free(name);
  }
}

static void test_learning(void) {
  hoist_match_index* const index = in_memory();
  hoist_match_learned learned = {.size = sizeof learned};
  CHECK_OK(hoist_match_learn(index, &kShop, NULL, &learned));
  /* SHA-1 of [['shoe'], ['hat', 'sock']], as Python writes it. */
  CHECK(strlen(learned.name) == 40 && learned.is_new == 1 && learned.frequency == 1);
  char first[41];
  strcpy(first, learned.name);
  const hoist_match_learn_options more = {.size = sizeof more,
                                          .frequency = 4,
                                          .emotive_names = (const char* const[]){"zeal", "joy"},
                                          .emotive_values = (const double[]){0.25, 0.5},
                                          .emotives = 2,
                                          .metadata = "{\"from\": [1, 2]}"};
  CHECK_OK(hoist_match_learn(index, &kShop, &more, &learned));
  CHECK(strcmp(learned.name, first) == 0 && learned.is_new == 0 && learned.frequency == 5);

  const hoist_match_learn_options named = {.size = sizeof named, .name = "other"};
  CHECK(hoist_match_learn(index, &kState, &named, &learned) == HOIST_OK);
  CHECK(strcmp(learned.name, "") == 0 && learned.is_new == 1);
  CHECK(hoist_match_learn(index, &kShop, &named, &learned) == HOIST_INVALID_ARGUMENT);
  CHECK(learned.frequency == 0);

  const hoist_match_events wrong[] = {
      {(const char* const[]){"alone"}, (const size_t[]){1}, 1},
      {(const char* const[]){"\xff", "b"}, (const size_t[]){2}, 1},
      {(const char* const[]){"a", NULL}, (const size_t[]){2}, 1},
      {NULL, (const size_t[]){2}, 1},
      {(const char* const[]){"a", "b"}, NULL, 1},
      {(const char* const[]){"a", "b"}, (const size_t[]){SIZE_MAX}, 1},
      {NULL, NULL, 0}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    CHECK(hoist_match_learn(index, &wrong[i], NULL, NULL) == HOIST_INVALID_ARGUMENT);
  }
  const hoist_match_learn_options bad[] = {{.size = sizeof *bad, .name = ""},
                                           {.size = sizeof *bad, .name = "\xc3"},
                                           {.size = sizeof *bad, .metadata = "{no json"},
                                           {.size = sizeof *bad, .emotives = 1},
                                           {.size = sizeof *bad,
                                            .emotive_names = (const char* const[]){"joy", "joy"},
                                            .emotive_values = (const double[]){1, 2},
                                            .emotives = 2},
                                           {.size = sizeof *bad,
                                            .emotive_names = (const char* const[]){"joy"},
                                            .emotive_values = (const double[]){NAN},
                                            .emotives = 1},
                                           {.size = 3}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    CHECK(hoist_match_learn(index, &kShop, &bad[i], NULL) == HOIST_INVALID_ARGUMENT);
  }
  hoist_match_stats stats = {.size = sizeof stats};
  CHECK_OK(hoist_match_statistics(index, &stats));
  CHECK(stats.patterns == 2 && stats.frequencies == 6 && stats.symbols == 3);
  CHECK(stats.keep_order == 0 && stats.persistence == 5 && stats.search_only == 0);
  CHECK_OK(hoist_match_remove(index, "other"));
  CHECK(hoist_match_remove(index, "other") == HOIST_NOT_FOUND);
  CHECK_OK(hoist_match_statistics(index, &stats));
  CHECK(stats.patterns == 1);
  hoist_match_close(index);
}

static void test_search(void) {
  hoist_match_index* const index = in_memory();
  learn_numbers(index, 0, 2000);
  CHECK_OK(hoist_match_sync(index)); /* half of them in a segment, half recent */
  learn_numbers(index, 2000, 4000);
  const char* const symbols[] = {"4", "3", "2", "1", "0"};
  const size_t sizes[] = {1, 1, 1, 1, 1};
  const hoist_match_events states[] = {{symbols, sizes, 5}, {symbols, sizes, 4}};
  hoist_match_search_options options = {.size = sizeof options, .scorer = "lcs", .threshold = 0.8};
  hoist_match_result* result;
  CHECK_OK(hoist_match_search(index, states, 2, &options, &result));
  size_t count = 0;
  const hoist_match_hit* const hits = hoist_match_result_hits(result, 0, &count);
  CHECK(count > 4 && hits[0].score == 5 && hits[0].normalized == 1 && hits[1].normalized < 1);
  for (size_t i = 0; i < count; ++i) CHECK(hits[i].normalized >= 0.8);
  char* name;
  CHECK_OK(hoist_match_result_name(result, 0, 0, &name));
  CHECK(strcmp(name, "pattern-01234") == 0);
  hoist_text_free(name);
  CHECK(hoist_match_result_name(result, 0, count, &name) == HOIST_NOT_FOUND && name == NULL);
  CHECK(hoist_match_result_hits(result, 2, &count) == NULL && count == 0);
  CHECK(hoist_match_result_hits(result, 1, &count)[0].score == 4);
  hoist_match_result_free(result);

  CHECK_OK(hoist_match_search(index, states, 1, NULL, &result));
  CHECK(hoist_match_result_hits(result, 0, &count) != NULL && count == 4000);
  hoist_match_result_free(result);
  options.top = 3;
  options.scorer = "levenshtein";
  CHECK_OK(hoist_match_search(index, states, 2, &options, &result));
  CHECK(hoist_match_result_hits(result, 0, &count) != NULL && count == 3);
  hoist_match_result_free(result);
  CHECK_OK(hoist_match_search(index, NULL, 0, &options, &result));
  hoist_match_result_free(result);

  const hoist_match_search_options wrong[] = {{.size = sizeof *wrong, .scorer = "best"},
                                              {.size = sizeof *wrong, .threshold = 1.1},
                                              {.size = sizeof *wrong, .threshold = NAN},
                                              {.size = 1},
                                              {.size = sizeof *wrong - 4, .scorer = "lcs"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    CHECK(hoist_match_search(index, states, 1, &wrong[i], &result) == HOIST_INVALID_ARGUMENT);
    CHECK(result == NULL);
  }
  hoist_cancellation* cancellation;
  CHECK_OK(hoist_cancellation_create(&cancellation));
  options.cancellation = cancellation;
  CHECK_OK(hoist_match_search(index, states, 2, &options, &result));
  hoist_match_result_free(result);
  hoist_cancellation_request(cancellation);
  CHECK(hoist_match_search(index, states, 2, &options, &result) == HOIST_CANCELLED);
  const hoist_match_predict_options predict = {.size = sizeof predict,
                                               .cancellation = cancellation};
  char* json = NULL;
  CHECK(hoist_match_predict(index, states, &predict, &json, NULL) == HOIST_CANCELLED);
  hoist_cancellation_free(cancellation);
  hoist_match_close(index);
}

static void test_prediction(void) {
  hoist_match_index* const index = in_memory();
  const char* const quoted[] = {"say \"hi\"", "sock", "hat\\"};
  const hoist_match_events odd = {quoted, (const size_t[]){1, 0, 2}, 3};
  CHECK_OK(hoist_match_learn(index, &kShop, NULL, NULL));
  CHECK_OK(hoist_match_learn(index, &odd, NULL, NULL));
  char* json;
  size_t bytes = 0;
  const hoist_match_predict_options options = {.size = sizeof options, .threshold = 0.1};
  CHECK_OK(hoist_match_predict(index, &kState, &options, &json, &bytes));
  CHECK(strlen(json) == bytes && json[0] == '[' && json[bytes - 1] == ']');
  CHECK(strstr(json, "\"matches\": [\"shoe\", \"hat\"]") != NULL);
  CHECK(strstr(json, "\"missing\": [[], [\"sock\"]]") != NULL);
  CHECK(strstr(json, "\"similarity\": 0.8") != NULL);
  hoist_text_free(json);
  const hoist_match_events state = {&quoted[1], (const size_t[]){1, 1}, 2};
  CHECK_OK(hoist_match_predict(index, &state, &options, &json, NULL));
  CHECK(strstr(json, "[\"say \\\"hi\\\"\"]") != NULL && strstr(json, "\"hat\\\\\"") != NULL);
  hoist_text_free(json);
  const hoist_match_events nothing = {NULL, NULL, 0};
  CHECK_OK(hoist_match_predict(index, &nothing, NULL, &json, &bytes));
  CHECK(strcmp(json, "[]") == 0 && bytes == 2);
  hoist_text_free(json);
  const hoist_match_predict_options wrong[] = {{.size = sizeof *wrong, .rank = "beauty"},
                                               {.size = sizeof *wrong, .fuzzy = 2},
                                               {.size = sizeof *wrong, .threshold = -1}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    CHECK(hoist_match_predict(index, &kState, &wrong[i], &json, NULL) == HOIST_INVALID_ARGUMENT);
    CHECK(json == NULL);
  }
  hoist_match_close(index);
}

static void remove_folder(const char* path) {
  char command[1024];
  snprintf(command, sizeof command, "rm -rf '%s'", path);
  CHECK(system(command) == 0);
}

static void test_disk(void) {
  char* const path = path_in(folder, "capi_match.index");
  remove_folder(path);
  hoist_match_index* index;
  CHECK(hoist_match_open(path, NULL, &index) != HOIST_OK && index == NULL);
  const hoist_match_open_options create = {.size = sizeof create,
                                           .create = 1,
                                           .keep_order = 1,
                                           .persistence = 2,
                                           .survive_power_cut = 1,
                                           .device = "cpu",
                                           .no_automatic_sync = 1};
  CHECK_OK(hoist_match_open(path, &create, &index));
  hoist_match_learned learned = {.size = sizeof learned};
  const hoist_match_learn_options options = {.size = sizeof options, .metadata = "[1, \"two\"]"};
  CHECK_OK(hoist_match_learn(index, &kShop, &options, &learned));
  CHECK_OK(hoist_match_begin_bulk(index));
  learn_numbers(index, 0, 500);
  CHECK_OK(hoist_match_end_bulk(index));
  CHECK_OK(hoist_match_sync(index));
  hoist_match_close(index);

  CHECK(hoist_match_open(path, &create, &index) == HOIST_INVALID_ARGUMENT);
  const hoist_match_open_options look = {.size = sizeof look, .read_only = 1};
  CHECK_OK(hoist_match_open(path, &look, &index));
  CHECK(hoist_match_learn(index, &kState, NULL, NULL) == HOIST_UNAVAILABLE);
  uint64_t compared = 0;
  CHECK_OK(hoist_match_verify(index, &compared));
  CHECK(compared == 501);
  char* json;
  CHECK_OK(hoist_match_metadata(index, learned.name, &json));
  CHECK(strcmp(json, "[1, \"two\"]") == 0);
  hoist_text_free(json);
  CHECK(hoist_match_metadata(index, "nobody", &json) == HOIST_NOT_FOUND && json == NULL);
  hoist_match_stats stats = {.size = sizeof stats};
  CHECK_OK(hoist_match_statistics(index, &stats));
  CHECK(stats.patterns == 501 && stats.keep_order == 1 && stats.persistence == 2);
  hoist_match_close(index);
  const hoist_match_open_options nowhere = {.size = sizeof nowhere, .device = "abacus"};
  CHECK(hoist_match_open(path, &nowhere, &index) == HOIST_INVALID_ARGUMENT && index == NULL);
  const hoist_match_open_options small = {.size = sizeof small, .max_memory = 1000};
  CHECK(hoist_match_open(path, &small, &index) == HOIST_EXHAUSTED);
  remove_folder(path);
  free(path);
}

static void test_null(void) {
  hoist_match_index* const index = in_memory();
  hoist_match_result* result;
  char* text;
  const hoist_status answers[] = {
      hoist_match_open(NULL, NULL, NULL),
      hoist_match_open("", NULL, (hoist_match_index*[]){NULL}),
      hoist_match_learn(NULL, &kShop, NULL, NULL),
      hoist_match_learn(index, NULL, NULL, NULL),
      hoist_match_learn(index, &kShop, NULL, &(hoist_match_learned){.size = 0}),
      hoist_match_begin_bulk(NULL),
      hoist_match_end_bulk(NULL),
      hoist_match_remove(NULL, "x"),
      hoist_match_remove(index, NULL),
      hoist_match_metadata(NULL, "x", &text),
      hoist_match_metadata(index, NULL, &text),
      hoist_match_metadata(index, "x", NULL),
      hoist_match_sync(NULL),
      hoist_match_verify(NULL, NULL),
      hoist_match_statistics(NULL, NULL),
      hoist_match_statistics(index, NULL),
      hoist_match_search(NULL, &kState, 1, NULL, &result),
      hoist_match_search(index, NULL, 1, NULL, &result),
      hoist_match_search(index, &kState, 1, NULL, NULL),
      hoist_match_result_name(NULL, 0, 0, &text),
      hoist_match_predict(NULL, &kState, NULL, &text, NULL),
      hoist_match_predict(index, NULL, NULL, &text, NULL),
      hoist_match_predict(index, &kState, NULL, NULL, NULL)};
  for (size_t i = 0; i < sizeof answers / sizeof *answers; ++i) {
    CHECK(answers[i] == HOIST_INVALID_ARGUMENT);
  }
  size_t count = 1;
  CHECK(hoist_match_result_hits(NULL, 0, &count) == NULL && count == 0);
  hoist_match_result_free(NULL);
  hoist_match_close(NULL);
  hoist_match_close(index);
}

/* Patterns and states of any shape: an answer or an error, and what is learned is found. */
static void test_any_events(uint64_t seed) {
  static const char* const kSymbols[] = {"a",        "b",    "c",  "",
                                         "\xc3\xa4", "\xff", NULL, "long symbol"};
  hoist_match_index* const index = in_memory();
  int learned = 0;
  for (int i = 0; i < 3000; ++i) {
    const char* symbols[12];
    size_t sizes[4];
    size_t total = 0;
    const size_t events = next_random(&seed) % 5;
    bool valid = true;
    for (size_t e = 0; e < events; ++e) {
      sizes[e] = next_random(&seed) % 4;
      total += sizes[e];
    }
    for (size_t s = 0; s < total; ++s) {
      const size_t which = next_random(&seed) % (next_random(&seed) % 4 == 0 ? 8 : 5);
      symbols[s] = kSymbols[which];
      valid = valid && which != 5 && which != 6;
    }
    const hoist_match_events text = {symbols, sizes, events};
    const hoist_status status = hoist_match_learn(index, &text, NULL, NULL);
    CHECK(status == (valid && total >= 2 ? HOIST_OK : HOIST_INVALID_ARGUMENT));
    learned += status == HOIST_OK;
    const hoist_match_search_options options = {.size = sizeof options, .threshold = 1};
    hoist_match_result* result;
    const hoist_status searched = hoist_match_search(index, &text, 1, &options, &result);
    CHECK(searched == (valid ? HOIST_OK : HOIST_INVALID_ARGUMENT));
    size_t count = 0;
    hoist_match_result_hits(result, 0, &count);
    CHECK(status != HOIST_OK || count >= 1);
    hoist_match_result_free(result);
  }
  CHECK(learned > 500);
  hoist_match_close(index);
}

typedef struct worker {
  hoist_match_index* index;
  int begin, end;
} worker;

static void* learn_in_thread(void* context) {
  const worker* const it = context;
  for (int i = it->begin; i < it->end; ++i) {
    learn_numbers(it->index, i, i + 1);
    hoist_match_result* result;
    const hoist_match_search_options options = {.size = sizeof options, .threshold = 0.9};
    CHECK_OK(hoist_match_search(it->index, &kState, 1, &options, &result));
    hoist_match_result_free(result);
  }
  return NULL;
}

static void test_threads(void) {
  hoist_match_index* const index = in_memory();
  pthread_t threads[3];
  worker workers[3];
  for (int i = 0; i < 3; ++i) {
    workers[i] = (worker){index, 200 * i, 200 * (i + 1)};
    CHECK(pthread_create(&threads[i], NULL, learn_in_thread, &workers[i]) == 0);
  }
  CHECK_OK(hoist_match_sync(index));
  for (int i = 0; i < 3; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  hoist_match_stats stats = {.size = sizeof stats};
  CHECK_OK(hoist_match_statistics(index, &stats));
  CHECK(stats.patterns == 600);
  hoist_match_close(index);
}

/* The status that a child ends with, by exit(); what hangs is killed. */
static int status_of_child(hoist_match_index* index, bool closes) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    hoist_match_result* result;
    const hoist_match_search_options options = {.size = sizeof options, .threshold = 0.1};
    CHECK_OK(hoist_match_search(index, &kShop, 1, &options, &result));
    size_t count;
    CHECK(hoist_match_result_hits(result, 0, &count) != NULL && count == 1);
    hoist_match_result_free(result);
    char* json;
    CHECK_OK(hoist_match_predict(index, &kShop, NULL, &json, NULL));
    hoist_text_free(json);
    hoist_match_stats stats = {.size = sizeof stats};
    CHECK_OK(hoist_match_statistics(index, &stats));
    CHECK(stats.patterns >= 1);
    CHECK(hoist_match_learn(index, &kState, NULL, NULL) == HOIST_UNAVAILABLE);
    CHECK(strstr(hoist_error_message(), "fork") != NULL);
    CHECK(hoist_match_remove(index, "x") == HOIST_UNAVAILABLE);
    CHECK(hoist_match_sync(index) == HOIST_UNAVAILABLE);
    CHECK(hoist_match_begin_bulk(index) == HOIST_UNAVAILABLE);
    CHECK(hoist_match_end_bulk(index) == HOIST_UNAVAILABLE);
    if (closes) hoist_match_close(index);
    exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  return status;
}

static void test_fork(void) {
  char* const path = path_in(folder, "capi_match_fork.index");
  remove_folder(path);
  const hoist_match_open_options create = {.size = sizeof create, .create = 1, .sync_patterns = 50};
  hoist_match_index* index;
  CHECK_OK(hoist_match_open(path, &create, &index));
  CHECK_OK(hoist_match_learn(index, &kShop, NULL, NULL));
  worker learner = {index, 0, 400};
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, learn_in_thread, &learner) == 0);
#ifdef __SANITIZE_ADDRESS__
  /* Its allocator takes no locks for a fork (tests/sanitized_fork.cc): nobody may be inside it. */
  CHECK(pthread_join(thread, NULL) == 0);
#endif
  for (int i = 0; i < 20; ++i) CHECK(status_of_child(index, i % 2 == 0) == 0);
#ifndef __SANITIZE_ADDRESS__
  CHECK(pthread_join(thread, NULL) == 0);
#endif
  hoist_match_close(index);
  const hoist_match_open_options again = {.size = sizeof again};
  CHECK_OK(hoist_match_open(path, &again, &index));
  uint64_t compared = 0;
  CHECK_OK(hoist_match_verify(index, &compared));
  CHECK(compared == 401);
  hoist_match_close(index);
  remove_folder(path);
  free(path);
}

int main(int argc, char** argv) {
  folder = argc > 1 ? argv[1] : "/tmp";
  test_learning();
  test_search();
  test_prediction();
  test_disk();
  test_null();
  test_any_events(7);
  test_threads();
#if !defined(__SANITIZE_THREAD__) /* which allows children no threads */
  test_fork();
#endif
  puts("match: all as it should be");
  return 0;
}
