#include "match/store/chain_filter.h"

#include <rocksdb/write_batch.h>

#include "match/store/store_layout.h"

namespace hoist::match {

rocksdb::WalFilter::WalProcessingOption ChainFilter::LogRecordFound(
    unsigned long long /*log*/, const std::string& /*file*/, const rocksdb::WriteBatch& batch,
    rocksdb::WriteBatch* /*new_batch*/, bool* /*is_changed*/) {
  const auto point = layout::point_of(batch.Data());
  // The tables may have it, and RocksDB passes over it then.
  if (!point || point->writes <= at_) return WalProcessingOption::kContinueProcessing;
  if (point->writes > end_.writes) return WalProcessingOption::kStopReplay;
  has_gap_ = has_gap_ || point->writes != at_ + 1;
  at_ = point->writes;
  return WalProcessingOption::kContinueProcessing;
}

}  // namespace hoist::match
