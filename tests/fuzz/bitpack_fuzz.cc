// Arbitrary bytes as a bit-packed stream, an integer column and a string dictionary. Every set of
// kernels must give the same answer, and what decodes must encode and decode to itself. The same
// bytes as the values of a column: all encoders must give them back.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "codec/bitpack.h"
#include "codec/dictionary.h"
#include "codec/integer_column.h"
#include "codec/run_length.h"

namespace {

using namespace hoist;
using namespace hoist::codec;

// A stream may claim any count; a caller would know how many values it wants.
constexpr uint64_t kMaxValues = 1 << 16;

void require(bool holds) {
  if (!holds) std::abort();
}

template <typename T>
void decode_bitpacked(const BitpackView& view) {
  if (view.value_bytes() != sizeof(T) || view.count() > kMaxValues) return;
  std::vector<T> expected(view.count());
  const Status status = view.decode<T>(0, expected, *all_tile_kernels().front());
  for (const TileKernels* kernels : all_tile_kernels()) {
    std::vector<T> decoded(view.count());
    require(view.decode<T>(0, decoded, *kernels).has_value() == status.has_value());
    require(decoded == expected);
  }
  if (!status) return;
  const Result<std::vector<std::byte>> again = encode_bitpack<T>(expected);
  require(again && again->size() == bitpack_size<T>(expected));
  std::vector<T> decoded(expected.size());
  require(decode_bitpack<T>(*again, decoded) && decoded == expected);
}

template <typename T>
void decode_column(std::span<const std::byte> stream, const IntegerColumnInfo& info) {
  if (info.value_bytes != sizeof(T) || info.count > kMaxValues) return;
  std::vector<T> values(info.count);
  if (!decode_integers<T>(stream, values)) return;
  const Result<std::vector<std::byte>> again = encode_integers<T>(values);
  std::vector<T> decoded(values.size());
  require(again && decode_integers<T>(*again, decoded) && decoded == values);
}

template <typename T>
void encode_column(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  const std::span<const T> column(values);
  const auto decodes = [&](Status (*decode)(std::span<const std::byte>, std::span<T>),
                           const Result<std::vector<std::byte>>& stream) {
    std::vector<T> decoded(values.size());
    return stream && decode(*stream, decoded) && decoded == values;
  };
  require(decodes(decode_bitpack<T>, encode_bitpack<T>(column)));
  require(decodes(decode_runs<T>, encode_runs(find_runs<T>(column))));
  require(decodes(decode_dictionary<T>, encode_dictionary(*make_dictionary<T>(column, SIZE_MAX))));
  require(decodes(decode_integers<T>, encode_integers<T>(column)));
}

void decode_strings(std::span<const std::byte> stream) {
  const Result<StringDictionaryView> view = StringDictionaryView::open(stream);
  if (!view || view->count() > kMaxValues) return;
  std::vector<std::string_view> values(view->count());
  if (!view->decode(values)) return;
  for (const std::string_view value : values) {
    require(value.empty() || (value.data() >= reinterpret_cast<const char*>(stream.data()) &&
                              value.data() + value.size() <=
                                  reinterpret_cast<const char*>(stream.data() + stream.size())));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy of exactly this size lets AddressSanitizer see both ends.
  const std::unique_ptr<std::byte[]> bytes(new std::byte[size]);
  if (size != 0) std::memcpy(bytes.get(), data, size);
  const std::span<const std::byte> stream(bytes.get(), size);
  if (const Result<BitpackView> view = BitpackView::open(stream)) {
    decode_bitpacked<uint8_t>(*view);
    decode_bitpacked<uint16_t>(*view);
    decode_bitpacked<uint32_t>(*view);
    decode_bitpacked<uint64_t>(*view);
  }
  if (const Result<IntegerColumnInfo> info = inspect_integers(stream)) {
    decode_column<uint8_t>(stream, *info);
    decode_column<uint16_t>(stream, *info);
    decode_column<uint32_t>(stream, *info);
    decode_column<uint64_t>(stream, *info);
  }
  decode_strings(stream);
  encode_column<uint8_t>(stream);
  encode_column<uint16_t>(stream);
  encode_column<uint32_t>(stream);
  encode_column<uint64_t>(stream);
  return 0;
}
