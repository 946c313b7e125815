/* A first look at the arguments: is there work that pays for starting an engine? This does not
 * parse the command line. A wrong guess costs a millisecond, never an answer: the original is
 * always right, and an engine that is not sure execs it. */
#include <stdlib.h>
#include <string.h>

#include "intercept/break_even.h"
#include "intercept/inputs.h"
#include "intercept/preload.h"
#include "takeover/operations.h"

/* Many small files pay too: opening them is spread over the cores. */
enum { kManyFiles = 512 };

static const char kInformation[] = "prints only help or a version";

/* Whether `word` is the long option `name` or an abbreviation of it, at least `shortest` long. */
static bool is_long(const char* word, const char* name, size_t shortest) {
  const size_t length = strcspn(word, "=");
  return length >= shortest && strncmp(word, name, length) == 0;
}

static bool is_information(const char* word) {
  return is_long(word, "--help", 3) || strcmp(word, "--version") == 0;
}

/* Walks the letters of a short option word such as "-bnk2". `*skip_next` is set where the last
 * letter takes its argument (one of `with_argument`) from the next word; the argument within the
 * word, or "", is returned in `*argument`. Null where `wanted` is not among the letters. */
static const char* find_letter(const char* word, const char* wanted, const char* with_argument,
                               const char** argument, bool* skip_next) {
  const char* found = NULL;
  *argument = "";
  for (const char* letter = word + 1; *letter != '\0'; ++letter) {
    if (found == NULL && strchr(wanted, *letter) != NULL) found = letter;
    if (strchr(with_argument, *letter) != NULL) {
      *argument = letter + 1;
      *skip_next = letter[1] == '\0';
      break;
    }
  }
  return found;
}

static bool sort_takes_next(const char* word) {
  static const char* const kNames[] = {
      "--key",         "--output",        "--buffer-size",        "--field-separator",
      "--parallel",    "--sort",          "--batch-size",         "--compress-program",
      "--files0-from", "--random-source", "--temporary-directory"};
  if (strchr(word, '=') != NULL) return false;
  for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
    if (is_long(word, kNames[i], 4)) return true;
  }
  return false;
}

static const char* sort_word(const char* word, const char* next, struct inputs* inputs,
                             struct usage* usage, bool* skip_next) {
  static const char kRandom[] = "random order";
  static const char kNumeric[] = "ngh"; /* the letters of orders by number */
  if (word[1] == '-') {
    usage->numeric |= is_long(word, "--numeric-sort", 3) || is_long(word, "--general-", 3) ||
                      is_long(word, "--human-", 4);
    if (is_information(word)) return kInformation;
    if (is_long(word, "--debug", 4)) return "--debug";
    if (is_long(word, "--random-sort", 9) || strncmp(word, "--sort=r", 8) == 0) return kRandom;
    if (is_long(word, "--files0-from", 3)) inputs->unbounded = true;
    *skip_next = sort_takes_next(word);
    return NULL;
  }
  const char* argument;
  if (find_letter(word, "R", "koStT", &argument, skip_next) != NULL) return kRandom;
  usage->numeric |= find_letter(word, kNumeric, "koStT", &argument, skip_next) != NULL;
  const bool is_key = strcspn(word, "k") < strcspn(word, "oStT");
  const char* key = *skip_next ? next : argument;
  if (!is_key || key == NULL) return NULL;
  usage->numeric |= strpbrk(key, kNumeric) != NULL;
  return strchr(key, 'R') != NULL ? kRandom : NULL;
}

static const char* hash_word(const char* word, struct inputs* inputs, bool* skip_next) {
  if (word[1] == '-') {
    if (is_information(word)) return kInformation;
    /* A short list of checksums may name long files. */
    if (is_long(word, "--check", 3)) inputs->unbounded = true;
    *skip_next = strcmp(word, "--algorithm") == 0 || strcmp(word, "--length") == 0;
    return NULL;
  }
  const char* argument;
  if (find_letter(word, "c", "al", &argument, skip_next) != NULL) inputs->unbounded = true;
  return NULL;
}

static const char* gzip_word(const char* word, bool* decompress, bool* skip_next) {
  if (word[1] == '-') {
    if (is_information(word) || is_long(word, "--license", 5)) return kInformation;
    *decompress |= is_long(word, "--decompress", 3) || is_long(word, "--uncompress", 3) ||
                   is_long(word, "--test", 3) || is_long(word, "--list", 5);
    *skip_next = strcmp(word, "--suffix") == 0 || strcmp(word, "--bits") == 0;
    return NULL;
  }
  const char* argument;
  *decompress |= find_letter(word, "dtl", "Sb", &argument, skip_next) != NULL;
  return find_letter(word, "hHVL?", "Sb", &argument, skip_next) != NULL ? kInformation : NULL;
}

/* gzip decompresses by itself under the names gunzip, zcat and the like. */
static bool named_for_decompression(const char* path) {
  const char* slash = strrchr(path, '/');
  const char* name = slash != NULL ? slash + 1 : path;
  return strncmp(name, "un", 2) == 0 || strncmp(name, "gun", 3) == 0 || strcmp(name, "zcat") == 0 ||
         strcmp(name, "gzcat") == 0;
}

/* Whether there are so many operands that a look at each would take long, and not be needed. */
static bool names_many_files(int argc, char** argv) {
  int names = 0;
  for (int i = 1; i < argc; ++i) names += argv[i][0] != '-';
  return names >= kManyFiles;
}

const char* arguments_objection(const struct identity* identity, int argc, char** argv) {
  const bool is_sort = hoist_is_operation(identity->operation, HOIST_SORT);
  const bool is_hash = hoist_is_operation(identity->operation, HOIST_HASH);
  bool decompress = named_for_decompression(argv[0]);
  bool options_ended = false;
  struct inputs inputs = {0};
  struct usage usage = {0};
  const bool many_files = is_hash && names_many_files(argc, argv);
  for (int i = 1; i < argc; ++i) {
    const char* word = argv[i];
    if (options_ended || word[0] != '-' || word[1] == '\0') {
      /* Sorting's obsolete keys, +POS1, are not files. */
      if (is_sort && word[0] == '+') continue;
      if (!many_files) add_operand(&inputs, word, is_sort || is_hash ? NULL : ".gz");
      continue;
    }
    if (strcmp(word, "--") == 0) {
      options_ended = true;
      continue;
    }
    bool skip_next = false;
    const char* reason = is_sort   ? sort_word(word, argv[i + 1], &inputs, &usage, &skip_next)
                         : is_hash ? hash_word(word, &inputs, &skip_next)
                                   : gzip_word(word, &decompress, &skip_next);
    if (reason != NULL) return reason;
    if (skip_next) ++i;
  }
  if (!is_sort && !is_hash && !decompress) return "compression";
  if (many_files) return NULL;
  usage.several_inputs = inputs.operands > 1;
  return small_input(&inputs, break_even(identity, &usage));
}
