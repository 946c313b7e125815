// A session: what one client has observed and not learned yet, and how it wants to be answered.
//
// Its owner, the table, hands out shared pointers; whoever reads or changes what is behind `mutex`
// holds it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "match/store/stored_pattern.h"
#include "service/session/kept_session.h"
#include "service/session/numbered_list.h"
#include "service/session/observation.h"
#include "service/session/session_config.h"
#include "service/session/strand.h"

namespace hoist::service {

using Event = std::vector<std::string>;

struct Session {
  // What never changes.
  std::string id;
  std::string node;
  std::chrono::system_clock::time_point created;
  nlohmann::ordered_json metadata = nlohmann::ordered_json::object();

  // Seconds that it lives after the last access.
  std::atomic<int64_t> ttl_seconds = 3600;
  // Milliseconds since 1970.
  std::atomic<int64_t> expires_ms = 0;
  // What was last written of it, where sessions are written at all.
  std::atomic<int64_t> kept_expires_ms = 0;

  Strand strand;  // of the requests; whoever takes long holds it besides `mutex`
  std::atomic<bool> is_ending = false;  // somebody waits to delete it: what takes long gives up
  std::atomic<bool> ended = false;      // nothing is written of it any more

  std::mutex mutex;
  NumberedList<Event> stm;                 // short-term memory, oldest first
  NumberedList<match::Emotives> emotives;  // of the observations since the memory was cleared
  NumberedList<nlohmann::ordered_json> metadata_seen;  // likewise, objects
  NumberedList<std::vector<double>> vectors;           // observed and not learned yet
  int64_t time = 0;                                    // observations
  std::shared_ptr<const Observation> last;             // strings sorted; null: none
  // Short-term memory right after it, where it was learned since. Its numbers end where those of
  // short-term memory do.
  std::optional<NumberedList<Event>> last_state;
  SessionConfig config;
  std::unique_ptr<KeptSession> kept;  // null: nothing is written of it yet
  // A write of it failed, and may nevertheless be there after a restart.
  bool is_doubtful = false;

  // Keeps what is latest.
  void keep_limits() {
    trim(stm);
    trim(emotives);
    trim(metadata_seen);
    trim(vectors);
  }
  void clear() {
    stm.clear();
    emotives.clear();
    metadata_seen.clear();
    vectors.clear();
    time = 0;
    last.reset();
    last_state.reset();
  }

 private:
  static constexpr size_t kMost = 1000;
  template <typename T>
  static void trim(NumberedList<T>& list) {
    if (list.size() > kMost) list.drop_front(list.size() - kMost);
  }
};

}  // namespace hoist::service
