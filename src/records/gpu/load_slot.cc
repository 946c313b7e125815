#include "records/gpu/load_slot.h"

#include <algorithm>
#include <cstring>

#include "records/gpu/decode.h"

namespace hoist::records {
namespace {

constexpr size_t kJobBytes = size_t{8} << 20;

// Jobs in the device's memory.
template <typename Job>
struct SentJobs {
  const Job* jobs = nullptr;
  uint32_t count = 0;
};

template <typename Job>
std::optional<SentJobs<Job>> place(const std::vector<Job>& jobs, Arena& arena) {
  const std::optional<Arena::Piece> piece = arena.take(jobs.size() * sizeof(Job));
  if (!piece) return std::nullopt;
  if (!jobs.empty()) std::memcpy(piece->host, jobs.data(), jobs.size() * sizeof(Job));
  return SentJobs<Job>{reinterpret_cast<const Job*>(piece->device),
                       static_cast<uint32_t>(jobs.size())};
}

template <typename T>
void add(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

uint32_t most_rows(const std::vector<OutputJob>& jobs) {
  uint32_t rows = 0;
  for (const OutputJob& job : jobs) rows = std::max(rows, job.rows);
  return rows;
}

}  // namespace

Result<LoadSlot> LoadSlot::create(device::PinnedPool& pool) {
  LoadSlot slot;
  Result<device::Stream> stream = device::Stream::create(pool.device());
  if (!stream) return stream.error();
  slot.stream_ = std::make_unique<device::Stream>(std::move(*stream));
  const auto pinned = [&](size_t size, device::PinnedBlock& to) -> Status {
    Result<device::PinnedBlock> block = pool.allocate(size);
    if (!block) return block.error();
    to = std::move(*block);
    return {};
  };
  const auto on_device = [&](size_t size, device::Buffer& to) -> Status {
    Result<device::Buffer> buffer = device::Buffer::allocate(*slot.stream_, size);
    if (!buffer) return buffer.error();
    to = std::move(*buffer);
    return {};
  };
  if (Status s = pinned(kStagedBytes, slot.pinned_); !s) return s.error();
  if (Status s = pinned(kJobBytes, slot.pinned_jobs_); !s) return s.error();
  if (Status s = on_device(kStagedBytes, slot.device_staged_); !s) return s.error();
  if (Status s = on_device(kJobBytes, slot.device_jobs_); !s) return s.error();
  if (Status s = on_device(kScratchBytes, slot.device_scratch_); !s) return s.error();
  return slot;
}

LoadSlot::~LoadSlot() {
  // The host's memory may be used again.
  if (stream_ != nullptr) (void)stream_->synchronize();
}

Status LoadSlot::begin() {
  if (Status done = stream_->synchronize(); !done) return done;
  staged_->reset(pinned_.data(), device_staged_.view().data, kStagedBytes);
  scratch_->reset(nullptr, device_scratch_.view().data, kScratchBytes);
  jobs_->reset(pinned_jobs_.data(), device_jobs_.view().data, kJobBytes);
  return {};
}

Result<bool> LoadSlot::start(const std::vector<BlockJobs>& batch, uint32_t* flags, int repeats) {
  std::vector<SymbolJob> symbols;
  std::vector<std::vector<SequenceJob>> sequences;
  std::vector<std::vector<OutputJob>> conditions;
  std::vector<OutputJob> outputs;
  for (const BlockJobs& jobs : batch) {
    if (jobs.is_full) continue;
    add(symbols, jobs.symbols);
    add(outputs, jobs.outputs);
    sequences.resize(std::max(sequences.size(), jobs.sequences.size()));
    for (size_t i = 0; i < jobs.sequences.size(); ++i) add(sequences[i], jobs.sequences[i]);
    conditions.resize(std::max(conditions.size(), jobs.conditions.size()));
    for (size_t i = 0; i < jobs.conditions.size(); ++i) {
      conditions[i].push_back(jobs.conditions[i]);
    }
  }
  const auto sent_symbols = place(symbols, *jobs_);
  const auto sent_outputs = place(outputs, *jobs_);
  if (!sent_symbols || !sent_outputs) return false;
  std::vector<SentJobs<SequenceJob>> sent_sequences;
  for (const auto& level : sequences) {
    const auto sent = place(level, *jobs_);
    if (!sent) return false;
    sent_sequences.push_back(*sent);
  }
  std::vector<SentJobs<OutputJob>> sent_conditions;
  for (const auto& level : conditions) {
    const auto sent = place(level, *jobs_);
    if (!sent) return false;
    sent_conditions.push_back(*sent);
  }
  const auto send = [&](device::Buffer& to, const device::PinnedBlock& from, const Arena& arena) {
    copied_ += arena.used();
    return arena.used() == 0 ? Status() : stream_->copy(to.data(), from.data(), arena.used());
  };
  if (Status s = send(device_staged_, pinned_, *staged_); !s) return s.error();
  if (Status s = send(device_jobs_, pinned_jobs_, *jobs_); !s) return s.error();
  for (int i = 0; i < repeats; ++i) {
    Status status = decode_symbols(*stream_, sent_symbols->jobs, sent_symbols->count, flags);
    for (const auto& level : sent_sequences) {
      if (status) status = decode_sequences(*stream_, level.jobs, level.count, flags);
    }
    for (size_t c = 0; c < sent_conditions.size(); ++c) {
      if (!status) break;
      status = write_outputs(*stream_, sent_conditions[c].jobs, sent_conditions[c].count,
                             most_rows(conditions[c]));
    }
    if (status) {
      status = write_outputs(*stream_, sent_outputs->jobs, sent_outputs->count, most_rows(outputs));
    }
    if (!status) return status.error();
  }
  return true;
}

}  // namespace hoist::records
