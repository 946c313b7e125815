/* The programs that Hoist can take over (operations.def), and the builds whose behaviour the
 * engines were checked against. Plain C: the preload library, the CLI and the tests read the same
 * tables. */
#ifndef HOIST_TAKEOVER_PROGRAMS_H
#define HOIST_TAKEOVER_PROGRAMS_H

#include <stddef.h>
#include <string.h>

#include "takeover/operations.h"

#define HOIST_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct hoist_program {
  const char* name;
  enum hoist_operation_id operation;
  const char* package;
};

static const struct hoist_program kHoistPrograms[] = {
#define HOIST_PROGRAM(name, id, package) {name, HOIST_##id, package},
#include "takeover/operations.def"
};

struct hoist_build {
  const char* build_id; /* GNU build-id note, lower-case hex */
  const char* program;
  const char* version; /* of the package, as `PROGRAM --version` prints it */
};

static const struct hoist_build kHoistBuilds[] = {
    /* Debian 12 amd64: coreutils 9.1-1, gzip 1.12-1 */
    {"628e28329c2296b3a0e66712bfeb89b5ba24e930", "sort", "9.1"},
    {"2c819708bbd173d9c46964cbd622ea916d9b8846", "md5sum", "9.1"},
    {"59309bc264e17dac7ac08456b0abdb5787e8327c", "sha1sum", "9.1"},
    {"a5e30f2c0e31b0dd51e945e27f5000635a87c260", "sha224sum", "9.1"},
    {"27be6e4fdbd1b91e74ef11ac76129c1757362d49", "sha256sum", "9.1"},
    {"45aa62b0bd006c7ddc85c817b5797983b42ead05", "sha384sum", "9.1"},
    {"63390c2e52c69f183a066caa4c7c6ab641ddd899", "sha512sum", "9.1"},
    {"dbbb1b2608d5c58b685aa19597da38252fe2923e", "b2sum", "9.1"},
    {"0f959da75a6ace50039042f2fc306229cf44e4b6", "cksum", "9.1"},
    {"5dc767c02e183bb92c91cd56be96c493d8255f86", "gzip", "1.12"},
    /* Ubuntu 24.04 amd64: coreutils 9.4-3ubuntu6.1, gzip 1.12-1ubuntu3.1 */
    {"dcd90bd55d80b0825fb9c796b62d6e04bd398101", "sort", "9.4"},
    {"8fda069099e53e31047b6f20de80f0a536d8786f", "md5sum", "9.4"},
    {"6de02fec566f9018573495cf56a2a5960166dd77", "sha1sum", "9.4"},
    {"3281815b6e515fc5f46c7f82786a5f413b5f758f", "sha224sum", "9.4"},
    {"75fa70131bd62f11faba476020deb4caa356579a", "sha256sum", "9.4"},
    {"456504daa7f680d9d1a4272d5a6e8047b9a8339e", "sha384sum", "9.4"},
    {"202a4af06b3fc9c65cfacd5d3d44cf592562f764", "sha512sum", "9.4"},
    {"9066b6f3192ad03f6475cafd151f1104d517571e", "b2sum", "9.4"},
    {"b402151f2038ed05be7042da14c3bc03d9d9103e", "cksum", "9.4"},
    {"49fb42c6a907e8b14c260f70e144a801759f4c7d", "gzip", "1.12"},
};

/* Null where no program or build of that name is known. */
static inline const struct hoist_program* hoist_find_program(const char* name) {
  for (size_t i = 0; i < HOIST_COUNT_OF(kHoistPrograms); ++i) {
    if (strcmp(kHoistPrograms[i].name, name) == 0) return &kHoistPrograms[i];
  }
  return NULL;
}

static inline const struct hoist_build* hoist_find_build(const char* build_id) {
  for (size_t i = 0; i < HOIST_COUNT_OF(kHoistBuilds); ++i) {
    if (strcmp(kHoistBuilds[i].build_id, build_id) == 0) return &kHoistBuilds[i];
  }
  return NULL;
}

#endif
