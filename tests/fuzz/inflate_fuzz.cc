// inflate() and its relatives as `hoist run` has them, against zlib's own: streams, damage, pieces,
// flush modes and calls come from the input.
#include <cstdio>
#include <cstdlib>

#include "intercept/inflate_testing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hoist::intercept::Script script({data, size});
  const hoist::intercept::TestStream stream = hoist::intercept::make_stream(script);
  const std::string difference = hoist::intercept::compare_with_zlib(stream, script);
  if (difference.empty()) return 0;
  std::fprintf(stderr, "%s\n", difference.c_str());
  std::abort();
}
