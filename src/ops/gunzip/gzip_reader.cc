#include "ops/gunzip/gzip_reader.h"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>

namespace hoist::gunzip {
namespace {

// RFC 1952, 2.3.1.
constexpr uint8_t kDeflate = 8;
constexpr uint8_t kHeaderCrc = 0x02;
constexpr uint8_t kExtraField = 0x04;
constexpr uint8_t kName = 0x08;
constexpr uint8_t kComment = 0x10;
constexpr uint8_t kEncrypted = 0x20;
constexpr uint8_t kReserved = 0xc0;
constexpr uint64_t kTrailerSize = 8;

bool is_gzip(int first, int second) {
  return first == 0x1f && (second == 0x8b || second == 0x9e);  // 0x9e: before gzip 0.5
}

// pack, compress and lzh anywhere; zip only at the start.
bool is_foreign(int first, int second, bool at_start) {
  if (first == 'P' && second == 'K') return at_start;
  return first == 0x1f && (second == 0x1e || second == 0x9d || second == 0xa0);
}

}  // namespace

GzipReader::GzipReader(InputBuffer& input, OutputWindow& output)
    : input_(input), output_(output), inflater_(input, output) {}

void GzipReader::restart() { parts_ = 0; }

HeaderStatus GzipReader::next_member(const HeaderMode& mode, MemberHeader& header) {
  header = {};
  if (parts_ > 0 && input_.next == input_.end) {
    output_.flush();  // a failure shows again when the sink is drained
    if (!input_.refill()) {
      return input_.error() == 0 ? HeaderStatus::end : HeaderStatus::input_ended;
    }
  }
  ++parts_;
  const HeaderStatus status = read_magic(mode);
  return status == HeaderStatus::member ? read_fields(mode, header) : status;
}

HeaderStatus GzipReader::read_magic(const HeaderMode& mode) {
  const bool at_start = parts_ == 1;
  const int first = get();
  const int second = first < 0 ? -1 : get();
  if (input_.error() != 0) return HeaderStatus::input_ended;
  magic_ = {static_cast<uint8_t>(first), static_cast<uint8_t>(second)};
  magic_size_ = first < 0 ? 0 : second < 0 ? 1 : 2;
  if (is_gzip(first, second)) return HeaderStatus::member;
  if (is_foreign(first, second, at_start)) return HeaderStatus::foreign;
  if (mode.copy_through) return HeaderStatus::literal;
  if (second < 0 && first != 0 && !mode.short_allowed) return HeaderStatus::input_ended;
  return at_start ? HeaderStatus::not_gzip : trailing(first, second);
}

HeaderStatus GzipReader::trailing(int first, int second) {
  if (first != 0) return HeaderStatus::trailing_garbage;
  while (second == 0) second = get();
  if (input_.error() != 0) return HeaderStatus::input_ended;
  return second < 0 ? HeaderStatus::trailing_zeros : HeaderStatus::trailing_garbage;
}

int GzipReader::get() {
  if (input_.next == input_.end) output_.flush();
  const int byte = input_.get();
  if (byte >= 0) {
    const auto summed = static_cast<uint8_t>(byte);
    header_crc_ = libdeflate_crc32(header_crc_, &summed, 1);
  }
  return byte;
}

bool GzipReader::get_integer(int bytes, uint32_t& value) {
  value = 0;
  for (int i = 0; i < bytes; ++i) {
    const int byte = get();
    if (byte < 0) return false;
    value |= static_cast<uint32_t>(byte) << (8 * i);
  }
  return true;
}

bool GzipReader::skip_string() {
  for (;;) {
    const int byte = get();
    if (byte <= 0) return byte == 0;
  }
}

HeaderStatus GzipReader::read_fields(const HeaderMode& mode, MemberHeader& header) {
  constexpr HeaderStatus kEnded = HeaderStatus::input_ended;
  header_crc_ = libdeflate_crc32(libdeflate_crc32(0, nullptr, 0), magic_.data(), magic_.size());
  uint32_t value;
  if (!get_integer(1, value)) return kEnded;
  header.method = static_cast<uint8_t>(value);
  if (header.method != kDeflate) return HeaderStatus::unknown_method;
  if (!get_integer(1, value)) return kEnded;
  header.flags = static_cast<uint8_t>(value);
  if (header.flags & kEncrypted) return HeaderStatus::encrypted;
  if (header.flags & kReserved) return HeaderStatus::reserved_flags;
  if (!get_integer(4, header.modification_time)) return kEnded;
  if (!get_integer(2, value)) return kEnded;  // extra flags, operating system

  if (header.flags & kExtraField) {
    if (!get_integer(2, value)) return kEnded;
    header.extra_field_size = static_cast<uint16_t>(value);
    for (uint32_t left = value; left > 0; --left) {
      if (get() < 0) return kEnded;
    }
  }
  if (header.flags & kName) {
    const HeaderStatus status = read_name(mode, header);
    if (status != HeaderStatus::member) return status;
  }
  if ((header.flags & kComment) && !skip_string()) return kEnded;
  if (header.flags & kHeaderCrc) {
    header.computed_crc = static_cast<uint16_t>(header_crc_);
    if (!get_integer(2, value)) return kEnded;
    header.stored_crc = static_cast<uint16_t>(value);
    if (header.stored_crc != header.computed_crc) return HeaderStatus::wrong_header_crc;
  }
  if (parts_ == 1) header.overhead = input_.block_position() + kTrailerSize;
  return HeaderStatus::member;
}

HeaderStatus GzipReader::read_name(const HeaderMode& mode, MemberHeader& header) {
  if (!mode.keep_name || parts_ > 1) {
    return skip_string() ? HeaderStatus::member : HeaderStatus::input_ended;
  }
  std::string& name = header.name.emplace();
  for (;;) {
    const int byte = get();
    if (byte < 0) return HeaderStatus::input_ended;
    if (byte == 0) return HeaderStatus::member;
    if (name.size() == kMaxNameSize) return HeaderStatus::name_too_long;
    name.push_back(static_cast<char>(byte));
  }
}

MemberResult GzipReader::read_member() {
  MemberResult result;
  output_.begin_member();
  result.status = inflater_.run();
  result.size = output_.member_size();
  switch (result.status) {
    case InflateStatus::done:
      break;
    case InflateStatus::input_ended:
      // At the end of the input gzip still writes what it has; after a failed read it does not.
      if (input_.error() == 0) {
        output_.flush();
        return result;
      }
      [[fallthrough]];
    case InflateStatus::invalid:
      output_.flush_windows();
      return result;
    case InflateStatus::write_failed:
      return result;
  }
  output_.end_member();
  uint32_t stored_size;
  if (!get_integer(4, result.stored_crc) || !get_integer(4, stored_size)) {
    output_.flush();
    result.status = InflateStatus::input_ended;
    return result;
  }
  result.crc_matches = result.stored_crc == output_.member_crc();
  result.size_matches = stored_size == static_cast<uint32_t>(result.size);
  return result;
}

MemberResult GzipReader::copy_rest() {
  MemberResult result;
  output_.begin_member();
  std::memcpy(output_.next, magic_.data(), magic_size_);
  output_.next += magic_size_;
  result.size = magic_size_ - (parts_ > 1 ? 1 : 0);
  do {
    const size_t count = std::min(static_cast<size_t>(input_.end - input_.next),
                                  static_cast<size_t>(output_.limit - output_.next));
    std::memcpy(output_.next, input_.next, count);
    output_.next += count;
    input_.next += count;
    result.size += count;
    if (!output_.flush()) {
      result.status = InflateStatus::write_failed;
      return result;
    }
  } while (input_.more());
  if (input_.error() != 0) result.status = InflateStatus::input_ended;
  return result;
}

}  // namespace hoist::gunzip
