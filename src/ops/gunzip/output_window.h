// Inflated bytes on their way out: a buffer that the decoder writes into directly, with the last
// 32 KiB, which matches may refer to, kept in front.
//
// What has been written when a stream turns out to be broken is part of the answer. gzip writes
// full 32 KiB windows counted from the start of the member, so nothing else leaves here before the
// member or the input has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace hoist::gunzip {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // The first buffer to fill, of OutputWindow::kBufferSize bytes.
  virtual uint8_t* first_buffer() = 0;
  // Takes [begin, end) of `buffer` and gives the buffer to go on with, perhaps the same one; the
  // bytes of the old one stay readable until the next call. Null when a write has failed.
  virtual uint8_t* submit(uint8_t* buffer, const uint8_t* begin, const uint8_t* end) = 0;
};

class OutputWindow {
 public:
  static constexpr size_t kWindow = size_t{32} << 10;
  static constexpr size_t kCapacity = size_t{256} << 10;
  static constexpr size_t kSlack = 512;  // a match may be written with overshoot behind `limit`
  static constexpr size_t kBufferSize = kWindow + kCapacity + kSlack;

  // Starts over with another sink. The one before, if any, must still have its buffers.
  void attach(ByteSink& sink);

  void begin_member();
  // The member's CRC and size are final.
  void end_member();

  // Makes room again when `next` has passed `limit`; false when a write failed.
  bool make_room();
  // Writes all complete windows of the member; false when a write failed.
  bool flush_windows();
  // Writes everything.
  bool flush() { return pass_on(next); }

  uint64_t member_size() const {
    return member_offset_ + static_cast<uint64_t>(next - member_begin_);
  }
  uint32_t member_crc() const { return crc_; }

  // How far back a match may reach into bytes that this member produced.
  size_t reach() const { return static_cast<size_t>(next - history_begin_); }
  // A match that reaches back further than the member does: gzip finds there what earlier members
  // left in its circular window, or zeros, and goes on until the CRC disagrees.
  void copy_from_before(size_t distance, size_t length);

  uint8_t* next = nullptr;
  uint8_t* limit = nullptr;  // make_room() before anything is put here

 private:
  bool pass_on(const uint8_t* up_to);
  void start_member();
  void keep_earlier_window();
  void update_crc();
  uint8_t* earlier_window();

  ByteSink* sink_ = nullptr;
  uint8_t* buffer_ = nullptr;
  const uint8_t* unwritten_ = nullptr;
  const uint8_t* unsummed_ = nullptr;
  const uint8_t* history_begin_ = nullptr;  // of this member, at most kWindow before the buffer's
                                            // data
  const uint8_t* member_begin_ = nullptr;   // where member offset `member_offset_` lies
  uint64_t member_offset_ = 0;
  uint32_t crc_ = 0;
  std::unique_ptr<uint8_t[]> earlier_window_;  // circular window as earlier members left it
};

}  // namespace hoist::gunzip
