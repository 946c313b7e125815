// Fuzzes the merging of OpenSSL configurations: whatever the program's own holds, what is added
// names our provider once, and none of the bytes of the other but section names that are plain.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/openssl_config.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

size_t count(std::string_view text, std::string_view word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++found;
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const hoist::Result<std::string> merged =
      hoist::cli::merged_openssl_configuration(text, "/etc/own.cnf", "/lib/hoist.so");
  if (!merged) return 0;
  require(merged->starts_with(".include /etc/own.cnf\n"));
  require(count(*merged, "module = /lib/hoist.so\n") == 1);
  require(count("\n" + *merged, "\n.include") == 1);  // names of sections may hold the word
  require(merged->find_first_of("\\$#\r") == merged->npos);
  return 0;
}
