// The writes in a store's logs, whatever state these are in.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "match/store/log_scan.h"

namespace hoist::match {

struct LogFile {
  std::string path;
  uint64_t size = 0;
  LogScan scan;
};

struct LogWrite {
  size_t file;  // which of the logs
  uint64_t offset;
  std::string_view bytes;  // of RocksDB's write batch
};

// Calls `take` with all whole writes of `store_path`, oldest log first. Memory: one log.
Result<std::vector<LogFile>> read_logs(const std::string& store_path,
                                       const std::function<void(const LogWrite&)>& take);

// Where a log has bytes that are no whole record and do not end the last log, as those of a write
// that was under way do. Nothing where no log has.
std::optional<std::string> damage_before_end(const std::vector<LogFile>& files);

}  // namespace hoist::match
