// Writes arrays into a .npz file as NumPy reads them: a ZIP archive of .npy files, not compressed,
// with 64-bit sizes (APPNOTE.TXT 4.3 and 4.5.3; NEP 1).
//
//   NpzWriter writer(fd, "x.npz");
//   writer.begin("price", "<f8", 1000);
//   writer.append(…);                     // 8000 bytes in any pieces
//   writer.end();
//   Status done = writer.finish();
//
// One dimension each. The descriptor must be a file. The first error is kept and given by finish().
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace hoist::cli {

class NpzWriter {
 public:
  // `name`: the file's, for messages.
  NpzWriter(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  void begin(std::string_view name, std::string_view dtype, uint64_t count);
  void append(std::span<const std::byte> bytes);
  void end();
  Status finish();

 private:
  struct Entry {
    std::string name;
    uint64_t offset = 0;
    uint64_t size = 0;
    uint32_t crc = 0;
  };

  void write(const void* data, size_t size);
  // What the local header and the central directory both have.
  static void common_fields(const Entry& entry, ByteWriter& out);
  static std::string local_header(const Entry& entry);
  static std::string directory_entry(const Entry& entry);

  int fd_;
  std::string name_;
  uint64_t offset_ = 0;
  std::vector<Entry> entries_;
  Status status_;
};

}  // namespace hoist::cli
