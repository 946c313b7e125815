// All sessions that are alive, by their ids.
//
// Thread-safe. A session whose time ran out is gone for whoever asks, and is taken away by the next
// sweep.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "service/session/session.h"

namespace hoist::service {

class SessionTable {
 public:
  struct Options {
    size_t most = 1'000'000;  // sessions at once
    int64_t ttl_seconds = 3600;
    bool extend_on_access = true;
  };
  explicit SessionTable(Options options) : options_(options) {}

  // `exhausted` where there are too many. `ttl_seconds` 0: the default.
  Result<std::shared_ptr<Session>> create(std::string node, SessionConfig config,
                                          nlohmann::ordered_json metadata, int64_t ttl_seconds);
  // One that is made elsewhere, with its own id and times.
  void restore(std::shared_ptr<Session> session);

  // Null where there is none. Its time begins anew. One that is used is there, though its time is
  // over.
  std::shared_ptr<Session> find(std::string_view id);
  // The time of one that was used for long begins anew.
  void touch(Session& session) const;
  enum class Presence { none, alive, expired };
  // Leaves its time as it is.
  Presence look(std::string_view id);
  std::shared_ptr<Session> remove(std::string_view id);
  // Those that are alive, and leaves their time as it is.
  void visit(const std::function<void(Session&)>& visit);
  // Likewise; null where there is none.
  std::shared_ptr<Session> peek(std::string_view id);
  // Takes away those whose time ran out and that no request uses, and tells `ended` of each.
  void sweep(const std::function<void(Session&)>& ended);

  size_t size() const { return size_.load(std::memory_order_relaxed); }
  uint64_t created() const { return created_.load(std::memory_order_relaxed); }
  uint64_t deleted() const { return deleted_.load(std::memory_order_relaxed); }
  uint64_t expired() const { return expired_.load(std::memory_order_relaxed); }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::string, std::shared_ptr<Session>, Hash, std::equal_to<>> sessions;
  };
  static constexpr size_t kShards = 64;

  Shard& shard_of(std::string_view id) { return shards_[Hash()(id) % kShards]; }
  void take_away(Shard& shard, std::string_view id);

  const Options options_;
  std::array<Shard, kShards> shards_;
  std::atomic<size_t> size_ = 0;
  std::atomic<uint64_t> created_ = 0;
  std::atomic<uint64_t> deleted_ = 0;
  std::atomic<uint64_t> expired_ = 0;
};

int64_t now_ms();

}  // namespace hoist::service
