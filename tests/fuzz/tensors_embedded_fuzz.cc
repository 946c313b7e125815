// Arbitrary bytes as a description of an embedded tensor and its parts, or as a tensor. The first
// byte says which (even, odd), the second the type of elements; parts begin with two bytes of
// elements and two of parameters.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "tensors/embedded/embedded.h"
#include "tensors/embedded/layout.h"

namespace {

using namespace hoist::tensors;

constexpr DType kTypes[] = {DType::bf16,    DType::f16,     DType::f32, DType::f64,
                            DType::f8_e4m3, DType::f8_e5m2, DType::i8};

void check(bool holds) {
  if (!holds) std::abort();
}

void round_trip(DType dtype, std::span<const std::byte> bytes) {
  const size_t width = properties(dtype).bytes;
  bytes = bytes.first(bytes.size() / width * width);
  const TensorView tensor{.dtype = dtype, .shape = {bytes.size() / width}, .bytes = bytes};
  const auto encoded = embedded_encode(tensor);
  check(encoded.has_value());
  if (!*encoded) return;
  const auto decoder = embedded_decoder((*encoded)->description);
  check(decoder.has_value());
  std::vector<std::byte> out(bytes.size());
  for (size_t part = 0; part < (*encoded)->parts.size(); ++part) {
    check((*decoder)->add(part, (*encoded)->parts[part]).has_value());
    check((*decoder)->reconstruct(out).has_value());
  }
  check(std::equal(out.begin(), out.end(), bytes.begin(), bytes.end()));
  check((*decoder)->quality() == 1);
}

// Sizes are what the description needs, so that more than the rules about sizes is met.
void decode(DType dtype, std::span<const std::byte> bytes) {
  std::array<uint16_t, 2> sizes;
  if (bytes.size() < sizeof sizes) return;
  std::memcpy(sizes.data(), bytes.data(), sizeof sizes);
  bytes = bytes.subspan(sizeof sizes);
  const auto parameters = bytes.first(std::min<size_t>(bytes.size(), sizes[1]));
  bytes = bytes.subspan(parameters.size());
  EmbeddedHeader header{};
  std::memcpy(&header, parameters.data(), std::min(parameters.size(), sizeof header));
  const size_t plane = embedded_plane_bytes(sizes[0]);
  const size_t rest = header.planes * plane;

  TensorDescription description;
  description.encoding = HolographicEncoding::embedded;
  description.dtype = dtype;
  description.shape = {sizes[0]};
  description.parameters.assign(parameters.begin(), parameters.end());
  description.part_bytes.assign(size_t{header.planes} + 1, plane);
  description.part_bytes[0] = bytes.size() - std::min(bytes.size(), rest);
  const auto decoder = embedded_decoder(description);
  if (!decoder) {
    check(decoder.error().code == hoist::ErrorCode::corrupt);
    return;
  }
  std::vector<std::byte> out(sizes[0] * properties(dtype).bytes);
  for (size_t part = description.part_bytes.size(); part-- != 0;) {
    const size_t begin = part == 0 ? 0 : description.part_bytes[0] + (part - 1) * plane;
    if (begin + description.part_bytes[part] > bytes.size()) continue;
    (void)(*decoder)->add(part, bytes.subspan(begin, description.part_bytes[part]));
  }
  const auto status = (*decoder)->reconstruct(out);
  check(status.has_value() || (*decoder)->can_reconstruct() ||
        status.error().code == hoist::ErrorCode::invalid_argument);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const DType dtype = kTypes[data[1] % std::size(kTypes)];
  const std::span<const std::byte> rest = std::as_bytes(std::span(data, size)).subspan(2);
  if (data[0] % 2 != 0) {
    round_trip(dtype, rest);
  } else {
    decode(dtype, rest);
  }
  return 0;
}
