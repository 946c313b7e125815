// What is of no part of its own.
#include <cstdlib>

#include "hoist/hoist.h"

extern "C" {

const char* hoist_version(void) { return HOIST_VERSION; }

void hoist_text_free(char* text) { std::free(text); }

}  // extern "C"
