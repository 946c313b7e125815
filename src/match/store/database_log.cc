#include "match/store/database_log.h"

#include <rocksdb/env.h>

#include <array>
#include <cstdarg>
#include <cstdio>

#include "base/log.h"

namespace hoist::match {
namespace {

class DatabaseLog : public rocksdb::Logger {
 public:
  DatabaseLog() : Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}
  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    std::array<char, 1024> text;
    (void)std::vsnprintf(text.data(), text.size(), format, arguments);
    log(LogLevel::debug, "RocksDB: {}", text.data());
  }
};

}  // namespace

std::shared_ptr<rocksdb::Logger> database_log() { return std::make_shared<DatabaseLog>(); }

}  // namespace hoist::match
