// Arbitrary bytes as a stream of mixed predictions, and as a text: the first byte says which (even,
// odd), two more how many bytes the stream is to give.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "codec/mixing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hoist::codec;
  if (size < 3) return 0;
  const std::span<const uint8_t> rest(data + 3, std::min<size_t>(size - 3, 4096));
  if (data[0] % 2 == 0) {
    std::vector<uint8_t> out((data[1] << 8 | data[2]) % 4096);
    static_cast<void>(unmix_bytes(std::as_bytes(rest), out).has_value());
    return 0;
  }
  const std::string stream = mix_bytes(rest);
  std::vector<uint8_t> again(rest.size());
  const bool same = unmix_bytes(std::as_bytes(std::span(stream)), again).has_value() &&
                    std::equal(rest.begin(), rest.end(), again.begin());
  if (!same) std::abort();
  return 0;
}
