// What requests change of a session, to be put back where one is refused.
#pragma once

#include <utility>

#include "service/session/session.h"

namespace hoist::service {

struct SessionMemory {
  explicit SessionMemory(const Session& session)
      : stm(session.stm),
        emotives(session.emotives),
        metadata_seen(session.metadata_seen),
        vectors(session.vectors),
        time(session.time),
        last(session.last),
        last_state(session.last_state) {}

  void put_back(Session& session) && {
    session.stm = std::move(stm);
    session.emotives = std::move(emotives);
    session.metadata_seen = std::move(metadata_seen);
    session.vectors = std::move(vectors);
    session.time = time;
    session.last = std::move(last);
    session.last_state = std::move(last_state);
  }

  NumberedList<Event> stm;
  NumberedList<match::Emotives> emotives;
  NumberedList<nlohmann::ordered_json> metadata_seen;
  NumberedList<std::vector<double>> vectors;
  int64_t time;
  std::shared_ptr<const Observation> last;
  std::optional<NumberedList<Event>> last_state;
};

}  // namespace hoist::service
