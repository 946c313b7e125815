// RocksDB's messages in our log. By itself it writes them to a file LOG beside its tables, and on a
// full disk the failing write to that file ends the process by an assertion (on in Debian's build).
#pragma once

#include <memory>

namespace rocksdb {
class Logger;
}

namespace hoist::match {

// For rocksdb::Options::info_log.
std::shared_ptr<rocksdb::Logger> database_log();

}  // namespace hoist::match
