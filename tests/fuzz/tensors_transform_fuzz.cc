// Arbitrary bytes as a transformed tensor to be decoded, or as elements to be encoded: the first
// byte says which. Both begin with
//   u8 way (0: decode, 1: encode) | u8 encoding | u8 dtype | u8 rows | u8 columns | u8 fragments
// and go on, to decode, with  u16 bytes of parameters | the sizes of the fragments, u16 each |
// parameters | fragments;  to encode, with elements.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "tensors/transform/transform.h"

namespace {

using namespace hoist;
using namespace hoist::tensors;

using Bytes = std::vector<std::byte>;

void check(bool holds) {
  if (!holds) std::abort();
}

Bytes take(ByteReader& reader, size_t size) {
  const std::span<const std::byte> bytes = reader.take(std::min(size, reader.remaining()));
  return {bytes.begin(), bytes.end()};
}

void decode(TensorDescription description, size_t fragments, ByteReader& reader) {
  const size_t parameter_bytes = reader.read<uint16_t>();
  for (size_t f = 0; f < fragments; ++f) {
    description.part_bytes.push_back(reader.read<uint16_t>());
  }
  description.parameters = take(reader, parameter_bytes);
  description.curve.prefixes.resize(fragments);
  description.curve.energies.resize(fragments);
  const auto decoder = transform_decoder(description);
  if (!decoder) return;
  std::vector<Bytes> parts;
  for (const uint64_t bytes : description.part_bytes) parts.push_back(take(reader, bytes));
  for (size_t f = 0; f < fragments; ++f) (void)(*decoder)->add(f, parts[f]);
  Bytes out(*element_count(description.shape) * properties(description.dtype).bytes);
  check((*decoder)->reconstruct(out).has_value() == (*decoder)->can_reconstruct());
}

// Whatever the elements, one fragment gives finite ones in the place of finite ones, and the very
// bits of the others.
void round_trip(const TensorDescription& like, uint32_t fragments, ByteReader& reader) {
  const size_t size = properties(like.dtype).bytes;
  Bytes bytes = take(reader, reader.remaining());
  bytes.resize(*element_count(like.shape) * size);
  EncodeOptions options;
  options.encoding = like.encoding;
  options.fragments = fragments;
  const auto encoded = transform_encode({like.dtype, like.shape, bytes}, options);
  if (!encoded) return;
  const auto decoder = transform_decoder(encoded->description);
  check(decoder.has_value());
  check((*decoder)->add(fragments - 1, encoded->parts[fragments - 1]).has_value());
  Bytes out(bytes.size());
  check((*decoder)->reconstruct(out).has_value());
  if (like.dtype == DType::f64) return;  // floats cannot tell
  std::vector<float> before(bytes.size() / size);
  std::vector<float> after(before.size());
  check(to_f32(like.dtype, bytes, before).has_value());
  check(to_f32(like.dtype, out, after).has_value());
  for (size_t i = 0; i < before.size(); ++i) {
    check(std::isfinite(before[i]) ? std::isfinite(after[i])
                                   : std::memcmp(&bytes[i * size], &out[i * size], size) == 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ByteReader reader(data, size);
  const auto way = reader.read<uint8_t>();
  TensorDescription description;
  const auto encoding = reader.read<uint8_t>();
  description.encoding = static_cast<HolographicEncoding>(2 + encoding % 3);
  const DTypeProperties* const dtype = find_dtype(reader.read<uint8_t>());
  description.shape.push_back(reader.read<uint8_t>());
  description.shape.push_back(reader.read<uint8_t>());
  const auto fragments = reader.read<uint8_t>();
  if (!reader.ok() || dtype == nullptr) return 0;
  description.dtype = dtype->dtype;
  if (way % 2 == 0) {
    decode(std::move(description), fragments, reader);
  } else {
    round_trip(description, fragments, reader);
  }
  return 0;
}
