#include "container/cbor.h"

#include <bit>

namespace hoist::container {
namespace {

enum Major : uint8_t { kNumber, kNegative, kBytes, kText, kArray, kMap, kTag, kSimple };
constexpr uint8_t kDouble = 27;

uint64_t big_endian(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (const std::byte byte : bytes) value = value << 8 | std::to_integer<uint8_t>(byte);
  return value;
}

void append_big_endian(std::string& out, uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<char>(value >> (8 * i)));
}

}  // namespace

void CborWriter::head(uint8_t major, uint64_t value) {
  const auto first = [&](uint64_t info) { out_.push_back(static_cast<char>(major << 5 | info)); };
  if (value < 24) return first(value);
  const int log2 = value < 0x100 ? 0 : value < 0x10000 ? 1 : value < 0x100000000 ? 2 : 3;
  first(24 + static_cast<uint64_t>(log2));
  append_big_endian(out_, value, 1 << log2);
}

void CborWriter::text(std::string_view value) {
  head(kText, value.size());
  out_.append(value);
}

void CborWriter::bytes(std::span<const std::byte> value) {
  head(kBytes, value.size());
  out_.append(reinterpret_cast<const char*>(value.data()), value.size());
}

void CborWriter::number(double value) {
  out_.push_back(static_cast<char>(kSimple << 5 | kDouble));
  append_big_endian(out_, std::bit_cast<uint64_t>(value), 8);
}

CborReader::Head CborReader::head() {
  const auto first = in_.read<uint8_t>();
  Head head{static_cast<uint8_t>(first >> 5), static_cast<uint8_t>(first & 31), 0};
  if (head.info > kDouble) refuse();
  if (head.info < 24) {
    head.value = head.info;
  } else if (ok()) {
    head.value = big_endian(in_.take(size_t{1} << (head.info - 24)));
  }
  return head;
}

uint64_t CborReader::expect(uint8_t major) {
  const Head found = head();
  if (found.major != major) refuse();
  return ok() ? found.value : 0;
}

uint64_t CborReader::count(uint8_t major, uint64_t items) {
  const uint64_t count = expect(major);
  if (count > in_.remaining() / items) refuse();
  return ok() ? count : 0;
}

std::string_view CborReader::text() {
  const std::span<const std::byte> taken = in_.take(expect(kText));
  return {reinterpret_cast<const char*>(taken.data()), taken.size()};
}

std::span<const std::byte> CborReader::bytes() { return in_.take(expect(kBytes)); }

uint64_t CborReader::number() { return expect(kNumber); }

double CborReader::real() {
  const Head found = head();
  if (found.major != kSimple || found.info != kDouble) refuse();
  return ok() ? std::bit_cast<double>(found.value) : 0;
}

void CborReader::skip(int depth) {
  if (depth == 0) return refuse();
  const Head found = head();
  if (found.major < kBytes || found.major == kSimple || !ok()) return;
  if (found.major == kBytes || found.major == kText) {
    in_.take(found.value);
    return;
  }
  uint64_t items = found.major == kTag ? 1 : found.value;
  if (items > in_.remaining()) return refuse();
  if (found.major == kMap) items *= 2;
  for (; items > 0 && ok(); --items) skip(depth - 1);
}

}  // namespace hoist::container
