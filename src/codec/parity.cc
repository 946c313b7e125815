#include "codec/parity.h"

#include <fmt/core.h>
#include <isa-l/erasure_code.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>

#include "codec/parity_decoder.h"

namespace hoist::codec {
namespace {

// ISA-L makes up to six outputs in one pass over the inputs; further ones read them again, from the
// second-level cache if a range of all shards fits it.
constexpr size_t kCacheBytes = size_t{1} << 19;
constexpr size_t kMinRange = 4096;  // shorter ones leave the prefetcher behind
constexpr size_t kTableBytes = 32;  // of one coefficient

// ISA-L takes pointers to what it only reads without const.
uint8_t* isal_pointer(const std::byte* bytes) {
  return reinterpret_cast<uint8_t*>(const_cast<std::byte*>(bytes));
}

std::vector<uint8_t> tables_of(std::span<const uint8_t> matrix, size_t columns) {
  std::vector<uint8_t> tables(kTableBytes * matrix.size());
  ec_init_tables(static_cast<int>(columns), static_cast<int>(matrix.size() / columns),
                 const_cast<uint8_t*>(matrix.data()), tables.data());
  return tables;
}

// Calls body(offset, size) for consecutive ranges of a shard.
void for_ranges(size_t shard_bytes, size_t shards, ThreadPool* pool,
                const std::function<void(size_t, size_t)>& body) {
  const size_t range = std::max(kCacheBytes / shards, kMinRange) / 64 * 64;
  const size_t count = (shard_bytes + range - 1) / range;
  const auto run = [&](size_t i) { body(i * range, std::min(range, shard_bytes - i * range)); };
  if (pool != nullptr && count > 1) {
    pool->parallel_for(count, run);
  } else {
    for (size_t i = 0; i < count; ++i) run(i);
  }
}

using Pointers = std::array<uint8_t*, Parity::kMaxShards>;

// outputs = matrix * inputs, over one range of all.
void multiply(std::span<const uint8_t> tables, std::span<const Parity::Shard> inputs,
              std::span<const Parity::WritableShard> outputs, size_t offset, size_t size) {
  Pointers from;
  Pointers to;
  for (size_t i = 0; i < inputs.size(); ++i) from[i] = isal_pointer(inputs[i].data() + offset);
  for (size_t i = 0; i < outputs.size(); ++i) to[i] = isal_pointer(outputs[i].data() + offset);
  ec_encode_data(static_cast<int>(size), static_cast<int>(inputs.size()),
                 static_cast<int>(outputs.size()), const_cast<uint8_t*>(tables.data()), from.data(),
                 to.data());
}

template <typename Span>
bool all_have_size(std::span<const Span> shards, size_t size) {
  return std::all_of(shards.begin(), shards.end(),
                     [&](const Span& shard) { return shard.size() == size; });
}

template <typename Span>
Status check_shards(std::string_view kind, std::span<const Span> shards, size_t count,
                    size_t size) {
  if (shards.size() != count) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("parity: {} {} shards: {} are needed", shards.size(), kind, count));
  }
  if (!all_have_size(shards, size)) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("parity: {} shards differ in size: all must have {} bytes", kind, size));
  }
  return {};
}

}  // namespace

Result<Parity> Parity::create(size_t data_shards, size_t parity_shards) {
  if (data_shards == 0 || parity_shards == 0 || data_shards > kMaxShards ||
      parity_shards > kMaxShards - data_shards) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("parity: {} data and {} parity shards: at least 1 of each and at most "
                            "{} in all are possible",
                            data_shards, parity_shards, kMaxShards));
  }
  return Parity(data_shards, parity_shards);
}

Parity::Parity(size_t data_shards, size_t parity_shards)
    : data_shards_(data_shards), parity_shards_(parity_shards) {
  const size_t rows = data_shards + parity_shards;
  std::vector<uint8_t> with_identity(rows * data_shards);
  gf_gen_cauchy1_matrix(with_identity.data(), static_cast<int>(rows),
                        static_cast<int>(data_shards));
  matrix_.assign(with_identity.begin() + data_shards * data_shards, with_identity.end());
  tables_ = tables_of(matrix_, data_shards);
}

Status Parity::encode(std::span<const Shard> data, std::span<const WritableShard> parity,
                      ThreadPool* pool) const {
  const size_t size = data.empty() ? 0 : data.front().size();
  if (Status status = check_shards("data", data, data_shards_, size); !status) return status;
  if (Status status = check_shards("parity", parity, parity_shards_, size); !status) return status;
  for_ranges(size, data_shards_ + parity_shards_, pool, [&](size_t offset, size_t length) {
    multiply(tables_, data, parity, offset, length);
  });
  return {};
}

Status Parity::accumulate(size_t index, Shard data, std::span<const WritableShard> parity,
                          ThreadPool* pool) const {
  if (index >= data_shards_) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("parity: data shard {}: there are {}", index, data_shards_));
  }
  if (Status status = check_shards("parity", parity, parity_shards_, data.size()); !status) {
    return status;
  }
  for_ranges(data.size(), 1 + parity_shards_, pool, [&](size_t offset, size_t length) {
    Pointers to;
    for (size_t i = 0; i < parity.size(); ++i) to[i] = isal_pointer(parity[i].data() + offset);
    ec_encode_data_update(static_cast<int>(length), static_cast<int>(data_shards_),
                          static_cast<int>(parity_shards_), static_cast<int>(index),
                          const_cast<uint8_t*>(tables_.data()), isal_pointer(data.data() + offset),
                          to.data());
  });
  return {};
}

Status Parity::reconstruct(std::span<const Survivor> survivors, std::span<const Wanted> wanted,
                           ThreadPool* pool) const {
  const size_t total = data_shards_ + parity_shards_;
  std::array<Shard, kMaxShards> at{};
  std::array<bool, kMaxShards> present{};
  const size_t size = survivors.empty() ? 0 : survivors.front().bytes.size();
  for (const Survivor& survivor : survivors) {
    if (survivor.index >= total || present[survivor.index] || survivor.bytes.size() != size) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("parity: surviving shard {}: there are {} of {} bytes, each once",
                              survivor.index, total, size));
    }
    present[survivor.index] = true;
    at[survivor.index] = survivor.bytes;
  }
  std::array<bool, kMaxShards> lost{};
  std::vector<size_t> indices;
  std::vector<WritableShard> outputs;
  for (const Wanted& shard : wanted) {
    if (shard.index >= total || present[shard.index] || lost[shard.index] ||
        (shard.bytes.size() != size && !survivors.empty())) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("parity: wanted shard {}: must be one of {} that did not survive, of "
                              "{} bytes, named once",
                              shard.index, total, size));
    }
    lost[shard.index] = true;
    indices.push_back(shard.index);
    outputs.push_back(shard.bytes);
  }
  if (survivors.size() < data_shards_) {
    return fail(ErrorCode::corrupt,
                fmt::format("parity: {} of {} shards survive: {} are needed to mend the rest",
                            survivors.size(), total, data_shards_));
  }
  if (wanted.empty()) return {};

  const ParityDecoder decoder(*this, std::span(present).first(total), indices);
  std::vector<Shard> inputs;
  for (const size_t source : decoder.sources()) inputs.push_back(at[source]);
  const std::vector<uint8_t> tables = tables_of(decoder.matrix(), data_shards_);
  for_ranges(size, data_shards_ + outputs.size(), pool, [&](size_t offset, size_t length) {
    multiply(tables, inputs, outputs, offset, length);
  });
  return {};
}

Result<bool> Parity::verify(std::span<const Shard> data, std::span<const Shard> parity,
                            ThreadPool* pool) const {
  const size_t size = data.empty() ? 0 : data.front().size();
  if (Status status = check_shards("data", data, data_shards_, size); !status) {
    return status.error();
  }
  if (Status status = check_shards("parity", parity, parity_shards_, size); !status) {
    return status.error();
  }
  std::atomic<bool> same{true};
  for_ranges(size, data_shards_ + 2 * parity_shards_, pool, [&](size_t offset, size_t length) {
    if (!same.load(std::memory_order_relaxed)) return;
    std::vector<std::byte> expected(parity_shards_ * length);
    std::vector<Shard> inputs;
    std::vector<WritableShard> outputs;
    for (const Shard& shard : data) inputs.push_back(shard.subspan(offset, length));
    for (size_t i = 0; i < parity_shards_; ++i) {
      outputs.push_back(std::span(expected).subspan(i * length, length));
    }
    multiply(tables_, inputs, outputs, 0, length);
    for (size_t i = 0; i < parity_shards_; ++i) {
      if (std::memcmp(outputs[i].data(), parity[i].data() + offset, length) != 0) same = false;
    }
  });
  return same.load();
}

}  // namespace hoist::codec
