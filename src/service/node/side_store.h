// What the service keeps besides the indexes: which node has which folder, the affinities of
// symbols, vectors, and sessions that are to survive a restart. RocksDB behind a few calls.
//
// Thread-safe. A write that returned survives the process (kill -9); with Durability::sync also a
// power cut.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "match/index/index.h"

namespace hoist::service {

class SideStore {
 public:
  // Changes that are made together.
  class Batch {
   public:
    Batch();
    Batch(Batch&& other) noexcept;
    ~Batch();
    void put(std::string_view key, std::string_view value);
    void remove(std::string_view key);
    // All keys that begin with `prefix`.
    void remove_prefix(std::string_view prefix);
    // What it takes to write it.
    size_t bytes() const;

   private:
    friend class SideStore;
    struct State;
    std::unique_ptr<State> state_;
  };

  // Makes the folder where it is missing. `io` or `corrupt` where that cannot be; `unavailable`
  // where another process has it open.
  static Result<std::unique_ptr<SideStore>> open(const std::string& path,
                                                 match::Durability durability);
  ~SideStore();

  Result<std::optional<std::string>> get(std::string_view key) const;
  // After one that failed no other is taken, until mend() has opened the store anew. It may be
  // there then nevertheless; where that must not be, mend() also writes what `undo` put into its
  // batch.
  Status write(const Batch& batch, const std::function<void(Batch&)>& undo = {});
  bool is_broken() const;
  Status mend();
  // Calls visit(rest of the key, value) for the keys that begin with `prefix`, in their order.
  // `visit` asks nothing of the store: mend() may wait between.
  Status scan(std::string_view prefix,
              const std::function<void(std::string_view, std::string_view)>& visit) const;

 private:
  struct State;
  explicit SideStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A part of a key that others may follow: its length, then its bytes.
std::string key_part(std::string_view text);
// Takes such a part off the front; nothing where there is none.
std::optional<std::string_view> take_key_part(std::string_view& key);

}  // namespace hoist::service
