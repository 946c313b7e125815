// Compressed bytes on their way in, in blocks as large as gzip's own: whoever reads the same
// descriptor after us finds it where gzip would have left it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace hoist::gunzip {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Bytes read, 0 at the end, -1 with errno on an error.
  virtual ssize_t read(void* data, size_t size) = 0;
};

class FdSource : public ByteSource {
 public:
  explicit FdSource(int fd) : fd_(fd) {}
  // Waits where the descriptor is non-blocking, as gzip does.
  ssize_t read(void* data, size_t size) override;

 private:
  int fd_;
};

// Clears O_NONBLOCK; true where it was set.
bool make_blocking(int fd);

class InputBuffer {
 public:
  static constexpr size_t kBlock = size_t{256} << 10;

  InputBuffer();
  // Starts over with another source, which must outlive its use here.
  void attach(ByteSource& source);

  // Reads the next block once `next` has reached `end`; false at the end of the input or on an
  // error, and from then on.
  bool refill();
  // The next byte, or -1 where refill() fails.
  int get() { return next != end || refill() ? *next++ : -1; }
  // Whether a byte is left.
  bool more() { return next != end || refill(); }

  // Bytes of the current block that have been consumed.
  size_t block_position() const { return static_cast<size_t>(next - block_.get()); }
  int error() const { return error_; }  // errno of the failed read, 0 where none failed
  uint64_t bytes_read() const { return bytes_read_; }  // out of the source, consumed or not

  const uint8_t* next = nullptr;
  const uint8_t* end = nullptr;

 private:
  std::unique_ptr<uint8_t[]> block_;
  ByteSource* source_ = nullptr;
  uint64_t bytes_read_ = 0;
  int error_ = 0;
  bool at_end_ = false;
};

}  // namespace hoist::gunzip
