#include "records/integer_stream.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/varint.h"
#include "codec/integer_column.h"
#include "codec/numbering.h"
#include "records/tokens_and_bits.h"

namespace hoist::records {
namespace {

constexpr size_t kFewValues = 256;

Error damaged() { return fail(ErrorCode::corrupt, "a stream of integers in the block is damaged"); }

std::string method(IntegerMethod method) { return {static_cast<char>(method)}; }

std::string as_varints(std::span<const int64_t> values) {
  std::string out = method(IntegerMethod::varints);
  for (const int64_t value : values) write_varint(out, zigzag(value));
  return out;
}

std::string as_column(std::span<const int64_t> values) {
  std::vector<uint64_t> same(values.begin(), values.end());
  const auto stream = codec::encode_integers<uint64_t>(same);
  std::string out = method(IntegerMethod::column);
  if (stream) out.append(reinterpret_cast<const char*>(stream->data()), stream->size());
  return out;
}

std::optional<std::string> as_dictionary(std::span<const int64_t> values, Effort effort) {
  codec::Numbering<uint64_t> numbering(256);
  std::vector<uint8_t> codes(values.size());
  uint64_t last = ~static_cast<uint64_t>(values[0]);
  uint8_t code = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<uint64_t>(values[i]);
    if (value != last) {
      const std::optional<uint32_t> number = numbering.number(value);
      if (!number) return std::nullopt;
      last = value;
      code = static_cast<uint8_t>(*number);
    }
    codes[i] = code;
  }
  const std::vector<uint64_t> entries = std::move(numbering).take_values();
  std::string out = method(IntegerMethod::dictionary);
  write_varint(out, entries.size());
  for (const uint64_t entry : entries) write_varint(out, zigzag(static_cast<int64_t>(entry)));
  encode_bytes(codes, effort, out);
  return out;
}

std::string as_tokens(std::span<const int64_t> values, int64_t least, Effort effort) {
  std::vector<uint64_t> shifted(values.size());
  std::vector<uint64_t> zigzagged(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    shifted[i] = static_cast<uint64_t>(values[i]) - static_cast<uint64_t>(least);
    zigzagged[i] = zigzag(values[i]);
  }
  const bool from_least = estimate_bits(shifted) <= estimate_bits(zigzagged);
  std::string out = method(from_least ? IntegerMethod::from_least : IntegerMethod::zigzag);
  if (from_least) write_varint(out, zigzag(least));
  encode_tokens(from_least ? shifted : zigzagged, effort, out);
  return out;
}

Status decode_dictionary(ByteReader& in, std::span<int64_t> out) {
  std::array<int64_t, 256> entries{};
  const uint64_t size = read_varint(in);
  if (size > entries.size()) return damaged();
  for (uint64_t i = 0; i < size; ++i) entries[i] = unzigzag(read_varint(in));
  if (!in.ok()) return damaged();
  std::vector<uint8_t> codes(out.size());
  if (Status status = decode_bytes(in.take(in.remaining()), codes); !status) return status;
  // A code without an entry reads as 0: no bytes that a writer makes have one.
  for (size_t i = 0; i < out.size(); ++i) out[i] = entries[codes[i]];
  return {};
}

Status decode(ByteReader& in, std::span<int64_t> out) {
  const std::span<uint64_t> bits(reinterpret_cast<uint64_t*>(out.data()), out.size());
  switch (static_cast<IntegerMethod>(in.read<uint8_t>())) {
    case IntegerMethod::constant: {
      const int64_t value = unzigzag(read_varint(in));
      std::fill(out.begin(), out.end(), value);
      break;
    }
    case IntegerMethod::varints:
      for (int64_t& value : out) value = unzigzag(read_varint(in));
      break;
    case IntegerMethod::column:
      return codec::decode_integers<uint64_t>(in.take(in.remaining()), bits);
    case IntegerMethod::dictionary:
      return decode_dictionary(in, out);
    case IntegerMethod::from_least: {
      const auto least = static_cast<uint64_t>(unzigzag(read_varint(in)));
      if (Status status = decode_tokens(in.take(in.remaining()), bits); !status) return status;
      for (uint64_t& value : bits) value += least;
      break;
    }
    case IntegerMethod::zigzag:
      if (Status status = decode_tokens(in.take(in.remaining()), bits); !status) return status;
      for (uint64_t& value : bits) value = static_cast<uint64_t>(unzigzag(value));
      break;
    default:
      return fail(ErrorCode::unsupported,
                  "a stream of integers has an unknown method: this version of Hoist is too old");
  }
  return in.ok() && in.remaining() == 0 ? Status() : damaged();
}

// Bit packing beats tokens only where neighbours are alike, on runs or slopes, or few values recur.
bool may_pack(std::span<const int64_t> values) {
  constexpr size_t kSample = 512;
  const size_t step = std::max<size_t>(values.size() / kSample, 1);
  std::vector<int64_t> sample;
  sample.reserve(kSample + 1);
  size_t alike = 0;
  for (size_t i = 2; i < values.size(); i += step) {
    sample.push_back(values[i]);
    const auto back = [&](size_t n) { return static_cast<uint64_t>(values[i - n]); };
    alike += static_cast<size_t>(back(0) - back(1) == back(1) - back(2) || back(0) == back(1));
  }
  std::sort(sample.begin(), sample.end());
  const auto end = std::unique(sample.begin(), sample.end());
  const size_t distinct = static_cast<size_t>(end - sample.begin());
  return alike * 8 >= sample.size() * 7 || sample.size() - distinct >= 8;
}

std::string smallest(std::span<const int64_t> values, Effort effort) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (values.empty() || *least == *most) {
    std::string out = method(IntegerMethod::constant);
    write_varint(out, zigzag(values.empty() ? 0 : values[0]));
    return out;
  }
  if (values.size() < kFewValues) {
    std::string varints = as_varints(values);
    std::string column = as_column(values);
    return varints.size() <= column.size() ? varints : column;
  }
  std::string best = as_tokens(values, *least, effort);
  if (std::optional<std::string> other = as_dictionary(values, effort);
      other && other->size() < best.size()) {
    best = std::move(*other);
  }
  if (best.size() > values.size() / 64 && (effort == Effort::best || may_pack(values))) {
    std::string other = as_column(values);
    if (other.size() > 1 && other.size() < best.size()) best = std::move(other);
  }
  return best;
}

}  // namespace

void encode_integers(std::span<const int64_t> values, Effort effort, std::string& out) {
  const std::string stream = smallest(values, effort);
  write_varint(out, stream.size());
  out += stream;
}

Result<std::vector<int64_t>> decode_integers(ByteReader& in, size_t count) {
  const std::span<const std::byte> stream = in.take(read_varint(in));
  if (!in.ok()) return damaged();
  return decode_integer_stream(stream, count);
}

Result<std::vector<int64_t>> decode_integer_stream(std::span<const std::byte> stream,
                                                   size_t count) {
  ByteReader in(stream);
  std::vector<int64_t> values(count);
  if (Status status = decode(in, values); !status) return status.error();
  return values;
}

std::optional<int64_t> constant_integers(ByteReader& in) {
  ByteReader at = in;
  ByteReader stream(at.take(read_varint(at)));
  if (static_cast<IntegerMethod>(stream.read<uint8_t>()) != IntegerMethod::constant) {
    return std::nullopt;
  }
  const int64_t value = unzigzag(read_varint(stream));
  if (!at.ok() || !stream.ok() || stream.remaining() > 0) return std::nullopt;
  in = at;
  return value;
}

double estimate_bits(std::span<const uint64_t> values) {
  std::array<uint32_t, 256> counts{};
  uint64_t extra = 0;
  for (const uint64_t value : values) {
    const Token token = token_of(value);
    ++counts[token.symbol];
    extra += token.bits;
  }
  double bits = static_cast<double>(extra);
  for (const uint32_t n : counts) {
    if (n > 0) bits -= n * std::log2(n / static_cast<double>(values.size()));
  }
  return bits;
}

}  // namespace hoist::records
