#include "match/store/stored_pattern.h"

#include <cstring>
#include <limits>
#include <numeric>

namespace hoist::match {
namespace {

Error corrupt(const char* what) { return fail(ErrorCode::corrupt, std::string("damaged ") + what); }

void encode_text(std::string_view text, std::string& out) {
  encode_varint(text.size(), out);
  out.append(text);
}

PatternState take_state(Decoder& decoder) {
  PatternState state;
  state.frequency = decoder.varint32();
  state.emotives = decode_emotives(decoder);
  return state;
}

}  // namespace

void encode_varint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void encode_emotives(const EmotiveList& list, std::string& out) {
  encode_varint(list.size(), out);
  for (const Emotives& emotives : list) {
    encode_varint(emotives.size(), out);
    for (const auto& [name, value] : emotives) {
      encode_text(name, out);
      out.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
  }
}

void encode_state(const PatternState& state, std::string& out) {
  encode_varint(state.frequency, out);
  encode_emotives(state.emotives, out);
}

void encode_pattern(std::string_view name, std::span<const uint32_t> symbols,
                    std::span<const uint16_t> event_sizes, const PatternState& state,
                    std::string& out) {
  encode_text(name, out);
  encode_varint(event_sizes.size(), out);
  for (const uint16_t size : event_sizes) encode_varint(size, out);
  for (const uint32_t symbol : symbols) encode_varint(symbol, out);
  encode_state(state, out);
}

void encode_change(const Change& change, std::string& out) {
  out.push_back(static_cast<char>(change.kind));
  encode_varint(change.serial, out);
  encode_varint(change.length, out);
  encode_text(change.name, out);
}

uint64_t Decoder::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bytes_.empty()) break;
    const auto byte = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    if (shift == 63 && byte > 1) break;
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  ok_ = false;
  return 0;
}

uint32_t Decoder::varint32() {
  const uint64_t value = varint();
  if (value <= std::numeric_limits<uint32_t>::max()) return static_cast<uint32_t>(value);
  ok_ = false;
  return 0;
}

double Decoder::number() {
  double value = 0;
  const std::string_view bytes = take(sizeof value);
  if (ok_) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::string_view Decoder::take(size_t size) {
  if (size > bytes_.size()) {
    ok_ = false;
    return {};
  }
  const std::string_view taken = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return taken;
}

std::string_view Decoder::text() {
  const uint64_t size = varint();
  if (size > bytes_.size()) ok_ = false;
  return ok_ ? take(size) : std::string_view();
}

size_t Decoder::count(size_t size) {
  const uint64_t value = varint();
  if (value > bytes_.size() / size) ok_ = false;
  return ok_ ? value : 0;
}

EmotiveList decode_emotives(Decoder& decoder) {
  constexpr size_t kLeastEntry = 1 + sizeof(double);
  EmotiveList list(decoder.count(1));
  for (Emotives& emotives : list) {
    emotives.resize(decoder.count(kLeastEntry));
    for (auto& [name, value] : emotives) {
      name = decoder.text();
      value = decoder.number();
    }
    if (!decoder.ok()) return {};
  }
  return list;
}

Result<PatternState> decode_state(std::string_view bytes) {
  Decoder decoder(bytes);
  PatternState state = take_state(decoder);
  if (!decoder.done() || state.frequency == 0) return corrupt("state of a pattern");
  return state;
}

Result<StoredPattern> decode_pattern(uint32_t serial, std::string_view bytes) {
  Decoder decoder(bytes);
  StoredPattern pattern;
  pattern.serial = serial;
  pattern.name = decoder.text();
  pattern.event_sizes.resize(decoder.count(1));
  uint64_t length = 0;
  for (uint16_t& size : pattern.event_sizes) {
    const uint32_t value = decoder.varint32();
    if (value == 0 || value > std::numeric_limits<uint16_t>::max()) decoder.refuse();
    size = static_cast<uint16_t>(value);
    length += size;
  }
  if (!decoder.ok() || length > std::numeric_limits<uint16_t>::max() ||
      length > decoder.remaining()) {
    return corrupt("pattern");
  }
  pattern.symbols.resize(length);
  for (uint32_t& symbol : pattern.symbols) symbol = decoder.varint32();
  pattern.state = take_state(decoder);
  if (!decoder.done() || pattern.state.frequency == 0) return corrupt("pattern");
  return pattern;
}

Result<Change> decode_change(std::string_view bytes) {
  Decoder decoder(bytes);
  Change change;
  const std::string_view kind = decoder.take(1);
  change.kind = static_cast<Change::Kind>(kind.empty() ? 0 : kind.front());
  change.serial = decoder.varint32();
  change.length = decoder.varint32();
  change.name = decoder.text();
  if (!decoder.done() ||
      (change.kind != Change::Kind::update && change.kind != Change::Kind::removal)) {
    return corrupt("change");
  }
  return change;
}

}  // namespace hoist::match
