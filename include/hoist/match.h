/* Exact similarity search over sequences of symbols. hoist/hoist.h says what holds for all calls:
 * errors, structs with sizes, threads.
 *
 *   hoist_match_index* index;
 *   hoist_match_open_options create = {.size = sizeof create, .create = 1};
 *   if (hoist_match_open("shop.index", &create, &index) != HOIST_OK) ...
 *
 *   const char* symbols[] = {"shoe", "sock", "hat"};       // [["shoe"], ["sock", "hat"]]
 *   const size_t sizes[] = {1, 2};
 *   hoist_match_learn(index, &(hoist_match_events){symbols, sizes, 2}, NULL, NULL);
 *
 *   hoist_match_search_options options = {.size = sizeof options, .threshold = 0.5, .top = 10};
 *   hoist_match_result* result;
 *   hoist_match_search(index, &state, 1, &options, &result);
 *   size_t count;
 *   const hoist_match_hit* hits = hoist_match_result_hits(result, 0, &count);
 *   hoist_match_result_free(result);
 *   hoist_match_close(index);
 *
 * A pattern is a list of events, an event a list of symbols, which are strings. Every pattern that
 * reaches the threshold is found. What is learned is in the very next query.
 * docs/reference/match.md describes the index, docs/reference/match-scoring.md how scores and
 * records are made.
 *
 * Any number of threads may use one index, for anything but closing it. One process may have it
 * open for writing, others read-only meanwhile. A child after fork() can search and predict in it,
 * and learns in an index of its own (hoist/hoist.h). */
#ifndef HOIST_MATCH_H
#define HOIST_MATCH_H

#include "hoist/hoist.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hoist_match_index hoist_match_index;

/* A pattern, or the state of a query: `symbols` has the symbols of all events, one event after the
 * other, and `event_sizes` how many each has. Empty events are dropped; symbols inside an event are
 * sorted unless the index keeps their order. At most 65 535 symbols; a pattern has at least 2.
 * Anything that is not UTF-8 is HOIST_INVALID_ARGUMENT. This struct never grows. */
typedef struct hoist_match_events {
  const char* const* symbols;
  const size_t* event_sizes;
  size_t events;
} hoist_match_events;

/* ---- The index ---- */

typedef struct hoist_match_open_options {
  size_t size;
  int create;             /* 1: make one; HOIST_INVALID_ARGUMENT where there is something already */
  int read_only;          /* 1: what is there now; changes are HOIST_UNAVAILABLE */
  int search_only;        /* 1, with `create`: without a store; it learns in one bulk, then never */
  int keep_order;         /* 1, with `create`: symbols inside events keep their order */
  uint32_t persistence;   /* with `create`: how many learnings' emotives are kept; default 5 */
  int survive_power_cut;  /* 1: what was acknowledged survives a power cut, not only the process */
  uint64_t max_memory;    /* bytes above which opening and learning are HOIST_EXHAUSTED */
  uint32_t sync_patterns; /* a sync begins by itself at so many recent patterns; default 65536 */
  uint32_t sync_seconds;  /* and so long after the last; default 300 */
  int no_automatic_sync;  /* 1: neither */
  const char* device;     /* "auto" (default), "cpu", "cuda:0" or "cuda:0,cuda:1": where large
                             segments are searched; answers are the same (docs/design/match-gpu.md) */
} hoist_match_open_options;

/* `path` is a folder; null: in memory only, gone when it is closed. */
hoist_status hoist_match_open(const char* path, const hoist_match_open_options* options,
                              hoist_match_index** index);
/* Waits for what is under way in the background. */
void hoist_match_close(hoist_match_index* index);

typedef struct hoist_match_learn_options {
  size_t size;
  const char* name;                 /* default: SHA-1 of the pattern's text, in hexadecimal */
  uint32_t frequency;               /* by which the pattern's rises; default 1 */
  const char* const* emotive_names; /* of `emotives` values; each name once */
  const double* emotive_values;
  size_t emotives;
  const char* metadata; /* any JSON text; it replaces what was there */
} hoist_match_learn_options;

typedef struct hoist_match_learned {
  size_t size;
  uint32_t frequency; /* of the pattern now */
  int is_new;
  char name[41]; /* that the index gave; empty where the caller gave one */
} hoist_match_learned;

/* When it returns, the pattern is durable (as opened) and found by every query. `learned` is
 * optional. HOIST_INVALID_ARGUMENT also where the name stands for another pattern. */
hoist_status hoist_match_learn(hoist_match_index* index, const hoist_match_events* pattern,
                               const hoist_match_learn_options* options,
                               hoist_match_learned* learned);
/* Between the two, learning writes nothing: hoist_match_end_bulk() makes it durable all together,
 * and much faster. A crash before leaves the index as it was, or with some of the patterns. */
hoist_status hoist_match_begin_bulk(hoist_match_index* index);
hoist_status hoist_match_end_bulk(hoist_match_index* index);

/* HOIST_NOT_FOUND where there is no such pattern. */
hoist_status hoist_match_remove(hoist_match_index* index, const char* name);
/* A pattern's metadata, JSON text, empty where there is none; hoist_text_free() frees it. */
hoist_status hoist_match_metadata(const hoist_match_index* index, const char* name, char** json);

/* When it returns, all that was learned before is laid out for the scan and in the snapshot. */
hoist_status hoist_match_sync(hoist_match_index* index);
/* Compares memory, snapshot and store; `patterns`, which is optional, is how many were compared.
 * HOIST_CORRUPT where they disagree or are damaged. So does hoist_match_open() where something that
 * was acknowledged is missing; `hoist match repair` makes a new index of the rest. */
hoist_status hoist_match_verify(const hoist_match_index* index, uint64_t* patterns);

typedef struct hoist_match_stats {
  size_t size;
  uint64_t patterns;
  uint64_t recent_patterns;  /* of these, not laid out yet */
  uint64_t removed_patterns; /* still in segments */
  uint64_t frequencies;      /* their sum */
  uint64_t symbols;          /* different ones */
  uint64_t memory;           /* bytes */
  uint64_t segments;
  uint64_t syncs; /* since it was opened */
  double last_sync_seconds;
  uint32_t persistence;
  int keep_order;
  int search_only;
} hoist_match_stats;

hoist_status hoist_match_statistics(const hoist_match_index* index, hoist_match_stats* stats);

/* ---- Queries ---- */

typedef struct hoist_match_search_options {
  size_t size;
  const char* scorer; /* "kato" (default), "lcs", "indel", "levenshtein", "difflib" (the pattern is
                         its first sequence), "difflib-autojunk" */
  double threshold;   /* the least normalised score, 0 to 1; at 0 every pattern is found */
  size_t top;         /* the best so many; default all */
  hoist_cancellation* cancellation;
} hoist_match_search_options;

/* This struct never grows. */
typedef struct hoist_match_hit {
  double score;      /* as the scorer defines it: a count for lcs, indel and levenshtein */
  double normalized; /* 0 to 1, 1 for equal sequences */
  uint64_t id;       /* of the pattern, for as long as it is in the index */
} hoist_match_hit;

/* What a search found. Immutable; it may outlive neither the index nor be used after it. */
typedef struct hoist_match_result hoist_match_result;

/* Patterns that resemble each of `count` states. Many states in one call take much less time than
 * one by one. Without options: everything, by "kato". */
hoist_status hoist_match_search(const hoist_match_index* index, const hoist_match_events* states,
                                size_t count, const hoist_match_search_options* options,
                                hoist_match_result** result);
/* The hits of a state, by its number, by descending normalised score, then by ascending name. They
 * stay until the result is freed. Null and no hits where there is no such state. */
const hoist_match_hit* hoist_match_result_hits(const hoist_match_result* result, size_t state,
                                               size_t* count);
/* The name of a hit, by its place among the hits; hoist_text_free() frees it. */
hoist_status hoist_match_result_name(const hoist_match_result* result, size_t state, size_t hit,
                                     char** name);
void hoist_match_result_free(hoist_match_result* result);

typedef struct hoist_match_predict_options {
  size_t size;
  double threshold; /* as above */
  size_t top;       /* records; default 100 */
  const char* rank; /* "potential" (default), "similarity", another number of a record */
  double fuzzy;     /* above 0: also match symbols whose texts are that similar, to 1 */
  int characters;   /* 1: similarity of texts instead of symbols */
  const char* affinity_emotive; /* weighs records by their symbols' affinity to it */
  hoist_cancellation* cancellation;
} hoist_match_predict_options;

/* Records of the patterns that the state recalls, best first, as a JSON array. Its keys are those
 * that `hoist match query --json` prints. hoist_text_free() frees it; `bytes`, which is optional,
 * is its length. */
hoist_status hoist_match_predict(const hoist_match_index* index, const hoist_match_events* state,
                                 const hoist_match_predict_options* options, char** json,
                                 size_t* bytes);

#ifdef __cplusplus
}
#endif

#endif
