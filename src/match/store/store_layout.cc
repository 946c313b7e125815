#include "match/store/store_layout.h"

#include <rocksdb/file_system.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <filesystem>
#include <vector>

#include "match/store/database_log.h"

namespace hoist::match::layout {
namespace {

// Type of a put, size of the key, the key, size of the value.
constexpr char kPointPrefix[] = {1, 1, kChain, static_cast<char>(kChainPointSize)};
constexpr size_t kWriteHeader = 12;
constexpr size_t kPointBytes = sizeof kPointPrefix + kChainPointSize;

// Names no log. RocksDB 7.8 reads some damaged records for ever where it is to pass over damage.
class WithoutLogs : public rocksdb::FileSystemWrapper {
 public:
  WithoutLogs() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "hoist.without_logs"; }

  rocksdb::IOStatus GetChildren(const std::string& folder, const rocksdb::IOOptions& options,
                                std::vector<std::string>* names,
                                rocksdb::IODebugContext* context) override {
    const rocksdb::IOStatus listed =
        FileSystemWrapper::GetChildren(folder, options, names, context);
    std::erase_if(*names, [](const std::string& name) { return name.ends_with(".log"); });
    return listed;
  }
};

}  // namespace

std::string encode_settings(const IndexSettings& settings) {
  std::string out;
  encode_varint(kFormat, out);
  encode_varint(settings.sort ? 1 : 0, out);
  encode_varint(settings.persistence, out);
  return out;
}

Result<IndexSettings> decode_settings(std::string_view bytes) {
  Decoder decoder(bytes);
  const uint64_t format = decoder.varint();
  if (decoder.ok() && format != kFormat) {
    return fail(ErrorCode::unsupported,
                fmt::format("a store of format {}: this Hoist reads {}", format, kFormat));
  }
  IndexSettings settings;
  settings.sort = decoder.varint() != 0;
  settings.persistence = decoder.varint32();
  if (!decoder.done()) return fail(ErrorCode::corrupt, "damaged settings");
  return settings;
}

std::string_view operations_of(std::string_view write) {
  if (write.size() < kWriteHeader) return {};
  const size_t end = point_of(write) ? write.size() - kPointBytes : write.size();
  return write.substr(kWriteHeader, end - kWriteHeader);
}

std::optional<ChainPoint> point_of(std::string_view write) {
  if (write.size() < kWriteHeader + kPointBytes) return std::nullopt;
  const std::string_view last = write.substr(write.size() - kPointBytes);
  if (!last.starts_with(std::string_view(kPointPrefix, sizeof kPointPrefix))) return std::nullopt;
  return decode_point(last.substr(sizeof kPointPrefix));
}

rocksdb::Options database_options() {
  rocksdb::Options result;
  result.write_buffer_size = size_t{64} << 20;
  result.max_write_buffer_number = 4;
  result.max_background_jobs = 2;
  // The kernel writes the log back in small steps: one large step would hold up a later write.
  result.wal_bytes_per_sync = size_t{512} << 10;
  result.bytes_per_sync = size_t{1} << 20;
  // Without, an index of one pattern takes 75 MB of the disk for as long as it is open.
  result.allow_fallocate = false;
  result.compression = rocksdb::kLZ4Compression;
  result.info_log = database_log();
  result.info_log_level = rocksdb::WARN_LEVEL;
  result.stats_dump_period_sec = 0;
  // It takes a damaged record for the end of the log, as it must where a power cut left zeros
  // behind a torn one. That it is the end was seen to before (store_check.h).
  result.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  // What scan_table() reads without an index: a CRC goes on byte by byte.
  table.checksum = rocksdb::kCRC32c;
  table.format_version = 5;
  table.block_cache = rocksdb::NewLRUCache(size_t{16} << 20);
  result.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return result;
}

Result<FlushedDatabase> FlushedDatabase::open(const std::string& path) {
  FlushedDatabase flushed;
  flushed.environment_ = rocksdb::NewCompositeEnv(std::make_shared<WithoutLogs>());
  rocksdb::Options options = database_options();
  options.env = flushed.environment_.get();
  rocksdb::DB* database = nullptr;
  const rocksdb::Status opened = rocksdb::DB::OpenForReadOnly(options, path, &database);
  if (!opened.ok()) return store_error(opened, "open", path, true);
  flushed.database_.reset(database);
  return flushed;
}

std::string repair_advice(const std::string& store_path) {
  return fmt::format(": `hoist match repair {} -o NEW` saves what is whole",
                     std::filesystem::path(store_path).parent_path().string());
}

Error store_error(const rocksdb::Status& status, std::string_view doing, const std::string& path,
                  bool is_opening) {
  // While a store is opened they say that a file of it is missing or makes no sense.
  const bool is_damaged = status.IsCorruption() || status.IsPathNotFound() ||
                          (is_opening && (status.IsInvalidArgument() || status.IsNotFound() ||
                                          status.IsNotSupported()));
  if (is_damaged) {
    return fail(ErrorCode::corrupt, fmt::format("damaged store ({}: {}){}", path, status.ToString(),
                                                repair_advice(path)));
  }
  return fail(status.IsNoSpace() || status.IsIOError() ? ErrorCode::io : ErrorCode::internal,
              fmt::format("cannot {} the store ({}: {}): is the disk full, or the store in use?",
                          doing, path, status.ToString()));
}

}  // namespace hoist::match::layout
