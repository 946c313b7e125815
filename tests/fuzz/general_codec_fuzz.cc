// The first byte chooses a codec, the next two the raw size; the rest is decompressed. What a codec
// accepts must be repeatable and come back after compression; what it refuses must be `corrupt`.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "codec/general.h"

namespace {

using namespace hoist::codec;

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const Codec& codec = codecs()[data[0] % codecs().size()];
  const size_t raw_size = data[1] | data[2] << 8;
  // In heap blocks of their exact sizes, so that a sanitizer sees a step too far.
  const auto* first = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> stored(first + 3, first + size);
  std::vector<std::byte> out(raw_size);
  if (const hoist::Status status = codec.decompress(stored, out); !status) {
    require(status.error().code == hoist::ErrorCode::corrupt);
    return 0;
  }
  std::vector<std::byte> again(raw_size, std::byte{0xff});
  require(codec.decompress(stored, again) && again == out);

  const hoist::Result<std::vector<std::byte>> compressed = codec.compress(out, codec.default_level);
  require(compressed && codec.decompress(*compressed, again) && again == out);
  return 0;
}
