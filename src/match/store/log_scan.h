// RocksDB's log format, in which it writes its write-ahead logs and manifests, read so that damage
// costs no more than the records that it hit.
//
// A file is a row of blocks of 32 KiB. A record lies in fragments, none of which crosses a block:
// masked CRC-32C of the type and the bytes (4), size (2), type (1: whole, 2: first, 3: middle, 4:
// last), the bytes; fewer than 7 bytes left in a block are zero. (RocksDB, db/log_format.h.)
//
// Where a fragment is no good the next one is searched for at every byte of the block, then at the
// next block: its checksum tells it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hoist::match {

struct LogDamage {
  uint64_t offset;
  uint64_t end;
};

struct LogScan {
  std::vector<LogDamage> damage;  // between whole records, ascending
  // From here to the end no record is whole: torn or damaged. The size where there is nothing.
  uint64_t tail = 0;
};

// Calls `take` with each whole record and where it begins, in the order of the file. Untrusted
// bytes; memory: one record.
LogScan scan_log(std::string_view bytes,
                 const std::function<void(uint64_t offset, std::string_view record)>& take);

}  // namespace hoist::match
