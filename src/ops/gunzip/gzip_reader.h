// Reads a gzip file (RFC 1952) as gzip does: member headers, trailers, and what follows the last
// member. Says what it found; wording it is the caller's business.
//
//   GzipReader reader(input, output);
//   for (MemberHeader header; reader.next_member(mode, header) == HeaderStatus::member;) {
//     MemberResult result = reader.read_member();
//     …
//   }
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "ops/gunzip/inflate.h"
#include "ops/gunzip/input_buffer.h"
#include "ops/gunzip/output_window.h"

namespace hoist::gunzip {

struct HeaderMode {
  bool keep_name = false;      // keep the stored file name of the first member
  bool copy_through = false;   // `gzip -cdf`: what is not compressed is data
  bool short_allowed = false;  // under -f input shorter than a magic number is not truncated
};

struct MemberHeader {
  uint8_t method = 0;
  uint8_t flags = 0;
  uint32_t modification_time = 0;            // 0: none
  std::optional<uint16_t> extra_field_size;  // set as soon as it is known
  std::optional<std::string> name;           // of the first member, with HeaderMode::keep_name
  uint16_t stored_crc = 0;
  uint16_t computed_crc = 0;
  uint64_t overhead = 0;  // bytes of the first member's header and trailer; 0 for the others
};

enum class HeaderStatus {
  member,          // a member follows
  end,             // the input ended after a member
  input_ended,     // inside a header, or could not be read: see InputBuffer::error()
  not_gzip,        // no magic number where the first member should be
  foreign,         // the magic number of another format that gzip reads
  literal,         // with copy_through: the rest is data
  trailing_zeros,  // nothing but zeros after the last member
  trailing_garbage,
  unknown_method,  // the rest of the members: header fields that gzip refuses
  encrypted,
  reserved_flags,
  wrong_header_crc,
  name_too_long,
};

struct MemberResult {
  InflateStatus status = InflateStatus::done;  // input_ended: in the stream or the trailer
  bool crc_matches = false;
  bool size_matches = false;
  uint32_t stored_crc = 0;
  uint64_t size = 0;  // bytes that came out
};

class GzipReader {
 public:
  static constexpr size_t kMaxNameSize = 1024;

  GzipReader(InputBuffer& input, OutputWindow& output);

  // Starts over, after `input` and `output` have been attached to other ends.
  void restart();

  // Fills `header` as far as it could be read.
  HeaderStatus next_member(const HeaderMode& mode, MemberHeader& header);
  // Decodes the member. Where that fails, what gzip would have written by then, and no more, has
  // been handed to the output's sink; else OutputWindow::flush() hands over the last of it.
  MemberResult read_member();

  // After HeaderStatus::foreign or literal: what has been taken from the input to find that out.
  std::string magic() const { return {magic_.begin(), magic_.begin() + magic_size_}; }

  // After HeaderStatus::literal: passes the rest of the input through, a read error included as
  // input_ended. The size is gzip's own count, which forgets a byte behind a member.
  MemberResult copy_rest();

 private:
  HeaderStatus read_magic(const HeaderMode& mode);
  HeaderStatus trailing(int first, int second);
  HeaderStatus read_fields(const HeaderMode& mode, MemberHeader& header);
  HeaderStatus read_name(const HeaderMode& mode, MemberHeader& header);
  int get();
  bool get_integer(int bytes, uint32_t& value);
  bool skip_string();

  InputBuffer& input_;
  OutputWindow& output_;
  Inflater inflater_;
  uint32_t header_crc_ = 0;
  uint64_t parts_ = 0;  // members begun, or what stands in their place
  std::array<uint8_t, 2> magic_{};
  size_t magic_size_ = 0;
};

}  // namespace hoist::gunzip
