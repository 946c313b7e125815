#include "tensors/file/fetcher.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "base/checksum.h"
#include "codec/parity.h"

namespace hoist::tensors {

FragmentFetcher::FragmentFetcher(std::shared_ptr<const HoloIndex> index,
                                 std::vector<std::shared_ptr<FragmentSource>> sources,
                                 FetchOptions options)
    : index_(std::move(index)),
      sources_(std::move(sources)),
      options_(std::move(options)),
      outcomes_(std::make_unique<Outcomes>(index_->layout.shards().size())) {
  std::stable_sort(sources_.begin(), sources_.end(),
                   [](const auto& a, const auto& b) { return a->priority() < b->priority(); });
}

FetchStatistics FragmentFetcher::statistics() const {
  const std::vector<ShardPlace>& shards = index_->layout.shards();
  const std::vector<ShardGroup>& groups = index_->layout.groups();
  FetchStatistics sums;
  sums.retries = outcomes_->retries;
  std::vector<size_t> damaged(groups.size());
  for (size_t shard = 0; shard < shards.size(); ++shard) {
    const uint8_t outcome = outcomes_->shards[shard].load(std::memory_order_relaxed);
    sums.valid += (outcome & kValid) != 0;
    sums.corrupt += (outcome & kCorrupt) != 0;
    sums.missing += (outcome & kMissing) != 0;
    sums.repaired += (outcome & kRepaired) != 0;
    if ((outcome & (kCorrupt | kMissing)) == 0) continue;
    ++sums.damaged;
    const uint32_t group = shards[shard].group;
    if (++damaged[group] > groups[group].parity.size()) sums.repairable = false;
  }
  return sums;
}

Status FragmentFetcher::fetch_from(FragmentSource& source, uint64_t shard,
                                   std::span<std::byte> into) const {
  Status got = source.fetch(shard, into, options_.stop);
  for (uint32_t i = 0; i < options_.max_retries && !got; ++i) {
    const ErrorCode code = got.error().code;
    if (code != ErrorCode::unavailable && code != ErrorCode::io) break;
    ++outcomes_->retries;
    got = source.fetch(shard, into, options_.stop);
  }
  if (!got) {
    if (got.error().code == ErrorCode::cancelled) return got;
    outcomes_->add(shard, got.error().code == ErrorCode::corrupt ? kCorrupt : kMissing);
    return got;
  }
  if (options_.validate_checksums &&
      xxh3_64(into.data(), into.size()) != index_->header.checksums[shard]) {
    outcomes_->add(shard, kCorrupt);
    return fail(ErrorCode::corrupt,
                fmt::format("shard {} has another checksum ({})", shard, source.name()));
  }
  outcomes_->add(shard, kValid);
  return {};
}

Status FragmentFetcher::fetch_from_sources(uint64_t shard, std::span<std::byte> into) const {
  Status last = fail(ErrorCode::not_found, "there is no source of shards");
  for (const std::shared_ptr<FragmentSource>& source : sources_) {
    last = fetch_from(*source, shard, into);
    if (last || last.error().code == ErrorCode::cancelled) return last;
  }
  return last;
}

Status FragmentFetcher::mend(uint64_t shard, std::span<std::byte> into) const {
  const std::vector<ShardPlace>& shards = index_->layout.shards();
  const ShardGroup& group = index_->layout.groups()[shards[shard].group];
  if (group.parity.empty()) {
    return fail(ErrorCode::corrupt, "the file was written without parity");
  }
  Result<codec::Parity> code = codec::Parity::create(group.data.size(), group.parity.size());
  if (!code) return code.error();

  std::vector<std::vector<std::byte>> buffers;
  std::vector<codec::Parity::Survivor> survivors;
  std::vector<uint64_t> members = group.data;
  members.insert(members.end(), group.parity.begin(), group.parity.end());
  const auto wanted =
      static_cast<size_t>(std::find(members.begin(), members.end(), shard) - members.begin());
  buffers.reserve(members.size());
  for (size_t i = 0; i < members.size() && survivors.size() < group.data.size(); ++i) {
    if (i == wanted) continue;
    std::vector<std::byte> bytes(group.shard_bytes);
    Status got = fetch_from_sources(members[i], std::span(bytes).first(shards[members[i]].bytes));
    if (!got && got.error().code == ErrorCode::cancelled) return got;
    if (!got) continue;
    buffers.push_back(std::move(bytes));
    survivors.push_back({i, buffers.back()});
  }
  std::vector<std::byte> mended(group.shard_bytes);
  const codec::Parity::Wanted what{wanted, mended};
  if (Status done = code->reconstruct(survivors, {&what, 1}); !done) {
    return fail(done.error().code, fmt::format("only {} of the {} shards of its group that are "
                                               "needed are intact",
                                               survivors.size(), group.data.size()));
  }
  if (xxh3_64(mended.data(), into.size()) != index_->header.checksums[shard]) {
    return fail(ErrorCode::corrupt, "what parity makes of the others has another checksum");
  }
  std::copy_n(mended.begin(), into.size(), into.begin());
  outcomes_->add(shard, kRepaired);
  return {};
}

Status FragmentFetcher::fetch(uint64_t shard, std::span<std::byte> into) const {
  if (shard >= index_->layout.shards().size() ||
      into.size() != index_->layout.shards()[shard].bytes) {
    return fail(ErrorCode::invalid_argument, fmt::format("no shard {} of that size", shard));
  }
  Status got = fetch_from_sources(shard, into);
  if (got || !options_.repair || got.error().code == ErrorCode::cancelled) return got;
  Status mended = mend(shard, into);
  if (mended || mended.error().code == ErrorCode::cancelled) return mended;
  return fail(ErrorCode::corrupt, fmt::format("shard {} cannot be read ({}) nor mended ({})", shard,
                                              got.error().message, mended.error().message));
}

Status FragmentFetcher::read_piece(const StreamPiece& piece, uint64_t from,
                                   std::span<std::byte> into) const {
  const uint64_t shard_bytes = index_->layout.shards()[piece.shard].bytes;
  if (into.size() == shard_bytes) return fetch(piece.shard, into);
  std::shared_ptr<const std::vector<std::byte>> whole;
  {
    const std::shared_lock lock(recent_->mutex);
    if (recent_->bytes != nullptr && recent_->shard == piece.shard) whole = recent_->bytes;
  }
  std::shared_ptr<const std::vector<std::byte>> before;  // to be let go without the lock
  if (whole == nullptr) {
    auto fetched = std::make_shared<std::vector<std::byte>>(shard_bytes);
    if (Status got = fetch(piece.shard, *fetched); !got) return got;
    whole = std::move(fetched);
    if (recent_->process.is_current()) {
      const std::lock_guard lock(recent_->mutex);
      recent_->shard = piece.shard;
      before = std::exchange(recent_->bytes, whole);
    }
  }
  std::memcpy(into.data(), whole->data() + piece.shard_offset + from, into.size());
  return {};
}

Status FragmentFetcher::read_stream(size_t stream, std::span<std::byte> into,
                                    ThreadPool* pool) const {
  const std::vector<StreamPiece>& pieces = index_->layout.pieces(stream);
  const uint64_t bytes = pieces.empty() ? 0 : pieces.back().stream_offset + pieces.back().bytes;
  if (into.size() != bytes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} bytes of memory for a stream of {}", into.size(), bytes));
  }
  return read_stream(stream, 0, into, pool);
}

Status FragmentFetcher::read_stream(size_t stream, uint64_t offset, std::span<std::byte> into,
                                    ThreadPool* pool) const {
  const std::vector<StreamPiece>& all = index_->layout.pieces(stream);
  const uint64_t bytes = all.empty() ? 0 : all.back().stream_offset + all.back().bytes;
  if (offset > bytes || into.size() > bytes - offset) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} bytes from {} on of a stream of {}", into.size(), offset, bytes));
  }
  const uint64_t end = offset + into.size();
  const auto first = std::partition_point(all.begin(), all.end(), [&](const StreamPiece& piece) {
    return piece.stream_offset + piece.bytes <= offset;
  });
  const auto last = std::partition_point(
      first, all.end(), [&](const StreamPiece& piece) { return piece.stream_offset < end; });
  const std::span pieces(first, last);
  std::vector<Status> results(pieces.size());
  const auto read = [&](size_t i) {
    const StreamPiece& piece = pieces[i];
    const uint64_t from = std::max(offset, piece.stream_offset);
    const uint64_t to = std::min(end, piece.stream_offset + piece.bytes);
    results[i] =
        read_piece(piece, from - piece.stream_offset, into.subspan(from - offset, to - from));
  };
  if (pool != nullptr && pieces.size() > 1) {
    pool->parallel_for(pieces.size(), read);
  } else {
    for (size_t i = 0; i < pieces.size(); ++i) read(i);
  }
  for (Status& result : results) {
    if (!result) return std::move(result);
  }
  return {};
}

}  // namespace hoist::tensors
