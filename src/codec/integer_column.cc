#include "codec/integer_column.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "codec/bitpack.h"
#include "codec/dictionary.h"
#include "codec/run_length.h"

namespace hoist::codec {
namespace {

struct Header {
  char magic[2];  // "IC"
  uint8_t version;
  uint8_t coding;
  uint8_t value_bytes;
  uint8_t zero[3];
  uint64_t count;
};
static_assert(sizeof(Header) == 16);

// More entries than this are rarely worth the search for them.
constexpr size_t kMaxDictionary = 65536;

Error corrupt(const char* what) {
  return fail(ErrorCode::corrupt, fmt::format("{} (integer column)", what));
}

template <typename T>
std::vector<std::byte> with_header(IntegerCoding coding, size_t count,
                                   std::span<const std::byte> payload) {
  const Header header{{'I', 'C'}, 0, static_cast<uint8_t>(coding), sizeof(T), {}, count};
  std::vector<std::byte> stream(sizeof header + payload.size());
  std::memcpy(stream.data(), &header, sizeof header);
  std::copy(payload.begin(), payload.end(), stream.begin() + sizeof header);
  return stream;
}

template <typename T>
bool is_constant(std::span<const T> values) {
  return std::all_of(values.begin(), values.end(), [&](T value) { return value == values[0]; });
}

template <typename T>
std::vector<std::byte> encode_constant(std::span<const T> values) {
  std::byte value[16] = {};
  if (!values.empty()) std::memcpy(value, values.data(), sizeof(T));
  return with_header<T>(IntegerCoding::constant, values.size(), value);
}

template <typename T>
Status decode_constant(std::span<const std::byte> payload, std::span<T> out) {
  std::byte bytes[16];
  if (payload.size() != sizeof bytes) return corrupt("wrong size");
  std::memcpy(bytes, payload.data(), sizeof bytes);
  const auto is_set = [](std::byte byte) { return byte != std::byte{0}; };
  if (std::any_of(bytes + sizeof(T), std::end(bytes), is_set)) return corrupt("damaged constant");
  T value;
  std::memcpy(&value, bytes, sizeof value);
  std::fill(out.begin(), out.end(), value);
  return {};
}

}  // namespace

std::string_view name(IntegerCoding coding) {
  constexpr std::string_view kNames[] = {"constant", "bitpack", "dictionary", "run_length"};
  return kNames[static_cast<size_t>(coding)];
}

template <typename T>
Result<std::vector<std::byte>> encode_integers(std::span<const T> values) {
  if (is_constant(values)) return encode_constant(values);
  Result<std::vector<std::byte>> best = encode_bitpack<T>(values);
  if (!best) return best;
  IntegerCoding coding = IntegerCoding::bitpack;
  if (count_runs(values) < values.size() / 2) {
    if (const Runs<T> runs = find_runs(values); run_length_size(runs) < best->size()) {
      best = encode_runs(runs);
      if (!best) return best;
      coding = IntegerCoding::run_length;
    }
  }
  if (const auto dictionary = make_dictionary(values, std::min(kMaxDictionary, values.size() / 2));
      dictionary && dictionary_size(*dictionary) < best->size()) {
    best = encode_dictionary(*dictionary);
    if (!best) return best;
    coding = IntegerCoding::dictionary;
  }
  return with_header<T>(coding, values.size(), *best);
}

Result<IntegerColumnInfo> inspect_integers(std::span<const std::byte> stream) {
  Header header;
  if (stream.size() < sizeof header) return corrupt("shorter than its header");
  std::memcpy(&header, stream.data(), sizeof header);
  if (header.magic[0] != 'I' || header.magic[1] != 'C') return corrupt("no such stream");
  if (header.version != 0) {
    return fail(ErrorCode::unsupported,
                fmt::format("version {} (integer column): a newer Hoist reads it", header.version));
  }
  const unsigned bytes = header.value_bytes;
  if (header.coding > static_cast<uint8_t>(IntegerCoding::run_length) || bytes == 0 || bytes > 8 ||
      (bytes & (bytes - 1)) != 0 || (header.zero[0] | header.zero[1] | header.zero[2]) != 0) {
    return corrupt("damaged header");
  }
  return IntegerColumnInfo{static_cast<IntegerCoding>(header.coding), bytes, header.count};
}

template <typename T>
Status decode_integers(std::span<const std::byte> stream, std::span<T> out) {
  const Result<IntegerColumnInfo> info = inspect_integers(stream);
  if (!info) return info.error();
  if (info->value_bytes != sizeof(T) || info->count != out.size()) {
    return corrupt("another type or count than expected");
  }
  const std::span<const std::byte> payload = stream.subspan(sizeof(Header));
  switch (info->coding) {
    case IntegerCoding::constant:
      return decode_constant(payload, out);
    case IntegerCoding::bitpack:
      return decode_bitpack(payload, out);
    case IntegerCoding::dictionary:
      return decode_dictionary(payload, out);
    case IntegerCoding::run_length:
      return decode_runs(payload, out);
  }
  return fail(ErrorCode::internal, "unknown coding (integer column)");
}

template Result<std::vector<std::byte>> encode_integers(std::span<const uint8_t>);
template Result<std::vector<std::byte>> encode_integers(std::span<const uint16_t>);
template Result<std::vector<std::byte>> encode_integers(std::span<const uint32_t>);
template Result<std::vector<std::byte>> encode_integers(std::span<const uint64_t>);
template Status decode_integers(std::span<const std::byte>, std::span<uint8_t>);
template Status decode_integers(std::span<const std::byte>, std::span<uint16_t>);
template Status decode_integers(std::span<const std::byte>, std::span<uint32_t>);
template Status decode_integers(std::span<const std::byte>, std::span<uint64_t>);

}  // namespace hoist::codec
