// RocksDB's replay of a store's logs, held to the chain: it ends where check_store() found the end.
//
// RocksDB itself goes on behind a sector of zeros, and behind a log that a process that writes has
// removed meanwhile. What it then has is not what the chain's last point says.
#pragma once

#include <rocksdb/wal_filter.h>

#include "match/store/store_check.h"

namespace hoist::match {

class ChainFilter : public rocksdb::WalFilter {
 public:
  explicit ChainFilter(const CheckedStore& store) : at_(store.tables.writes), end_(store.end) {}

  WalProcessingOption LogRecordFound(unsigned long long log, const std::string& file,
                                     const rocksdb::WriteBatch& batch,
                                     rocksdb::WriteBatch* new_batch, bool* is_changed) override;
  const char* Name() const override { return "hoist.chain"; }

  // Writes were missing before the end: the files changed since they were checked.
  bool has_gap() const { return has_gap_; }

 private:
  uint64_t at_;
  const ChainPoint end_;
  bool has_gap_ = false;
};

}  // namespace hoist::match
