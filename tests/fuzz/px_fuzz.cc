// Fuzzes px with whatever text (px_checks.h).
#include <cstdint>
#include <string>

#include "px_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hoist::px::check_text(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
