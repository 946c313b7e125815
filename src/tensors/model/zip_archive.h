// ZIP archives (PKWARE APPNOTE), 64-bit sizes included: what the central directory says of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "container/source.h"

namespace hoist::tensors {

inline constexpr uint16_t kZipStored = 0;
inline constexpr uint16_t kZipDeflated = 8;

struct ZipEntry {
  std::string name;
  uint16_t made_by = 0;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint32_t time = 0;  // and date
  uint32_t crc = 0;
  uint16_t internal_attributes = 0;
  uint32_t external_attributes = 0;
  uint64_t stored = 0;
  uint64_t size = 0;
  uint64_t offset = 0;  // of its local header

  bool is_encrypted() const { return (flags & 1) != 0; }
};

struct ZipDirectory {
  std::vector<ZipEntry> entries;
  uint64_t begin = 0;  // of the directory in the file
};

// Allocates what the directory takes, at most 256 MiB.
Result<ZipDirectory> read_zip_directory(const container::Source& source);
// Where the entry's bytes begin; `stored` of them are inside of the file.
Result<uint64_t> zip_data_offset(const container::Source& source, const ZipEntry& entry);

}  // namespace hoist::tensors
