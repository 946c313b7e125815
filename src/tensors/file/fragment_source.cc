#include "tensors/file/fragment_source.h"

#include <fmt/core.h>

#include <cstring>
#include <mutex>
#include <shared_mutex>

namespace hoist::tensors {
namespace {

Status wrong_size(uint64_t shard, uint64_t wanted, uint64_t there, const std::string& name) {
  return fail(ErrorCode::corrupt,
              fmt::format("shard {} has {} bytes, not {} ({})", shard, there, wanted, name));
}

Status missing(uint64_t shard, const std::string& name) {
  return fail(ErrorCode::not_found, fmt::format("shard {} is not there ({})", shard, name));
}

}  // namespace

Status FileFragmentSource::fetch(uint64_t shard, std::span<std::byte> into,
                                 const std::stop_token& stop) {
  if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped");
  const container::Block* const block = reader_->find(shard);
  if (block == nullptr) return missing(shard, name());
  if (block->stored_size != into.size() || block->codec != 0) {
    return wrong_size(shard, into.size(), block->stored_size, name());
  }
  return reader_->source().read(block->payload_offset(), into);
}

void MemoryFragmentSource::put(uint64_t shard, std::vector<std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  shards_[shard] = std::move(bytes);
}

void MemoryFragmentSource::erase(uint64_t shard) {
  const std::lock_guard lock(mutex_);
  shards_.erase(shard);
}

uint64_t MemoryFragmentSource::count() const {
  const std::shared_lock lock(mutex_);
  return shards_.size();
}

Status MemoryFragmentSource::fetch(uint64_t shard, std::span<std::byte> into,
                                   const std::stop_token& stop) {
  if (stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped");
  const std::shared_lock lock(mutex_);
  const auto found = shards_.find(shard);
  if (found == shards_.end()) return missing(shard, name_);
  if (found->second.size() != into.size()) {
    return wrong_size(shard, into.size(), found->second.size(), name_);
  }
  if (!into.empty()) std::memcpy(into.data(), found->second.data(), into.size());
  return {};
}

}  // namespace hoist::tensors
