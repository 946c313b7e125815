#include "service/session/session_entries.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "service/node/node_keys.h"
#include "service/session/session_parts.h"

namespace hoist::service {
namespace {

using Json = nlohmann::ordered_json;

// What follows the id in a key; behind those of lists stands the element's number.
constexpr std::string_view kBase = "b";
constexpr std::string_view kConfig = "c";
constexpr std::string_view kHead = "h";
constexpr std::string_view kLast = "l";
constexpr std::string_view kEvent = "E";
constexpr std::string_view kEmotives = "F";
constexpr std::string_view kMetadata = "M";
constexpr std::string_view kVector = "V";

// Numbers beyond are damage: nobody counts so far.
constexpr uint64_t kMostNumber = uint64_t{1} << 62;

std::string cbor(const Json& json) {
  std::string bytes;
  Json::to_cbor(json, bytes);
  return bytes;
}

// Those of `range` that are not of `other`.
std::array<NumberRange, 2> difference(NumberRange range, NumberRange other) {
  return {{{range.begin, std::min(range.end, other.begin)},
           {std::max(range.begin, other.end), range.end}}};
}

template <typename Change>
void for_each(const std::array<NumberRange, 2>& ranges, const Change& change) {
  for (const NumberRange& range : ranges) {
    for (uint64_t number = range.begin; number < range.end; ++number) change(number);
  }
}

std::string numbered(const std::string& key, std::string_view list, uint64_t number) {
  return fmt::format("{}{}{}", key, list, node_key_part(number));
}

// Writes the elements that came, and takes away those that went.
template <typename Value>
void put_list(const std::string& key, std::string_view list, NumberRange before, NumberRange now,
              const Value& value, SideStore::Batch& batch) {
  for_each(difference(before, now),
           [&](uint64_t number) { batch.remove(numbered(key, list, number)); });
  for_each(difference(now, before),
           [&](uint64_t number) { batch.put(numbered(key, list, number), cbor(value(number))); });
}

NumberRange events_of(const Session& session) {
  NumberRange range = session.stm.numbers();
  if (session.last_state) range.begin = std::min(range.begin, session.last_state->numbers().begin);
  return range;
}

const Event& event_of(const Session& session, uint64_t number) {
  const bool is_in_memory = number >= session.stm.numbers().begin;
  return is_in_memory ? session.stm.at(number) : session.last_state->at(number);
}

Json range_json(NumberRange range) { return {range.begin, range.end}; }

NumberRange range_of(const Json& json) {
  return {json.at(0).get<uint64_t>(), json.at(1).get<uint64_t>()};
}

Json head_json(const Session& session) {
  return {{"time", session.time},
          {"ttl", session.ttl_seconds.load()},
          {"expires", session.expires_ms.load()},
          {"stm", range_json(session.stm.numbers())},
          {"last_state", session.last_state ? range_json(session.last_state->numbers()) : Json()},
          {"emotives", range_json(session.emotives.numbers())},
          {"metadata", range_json(session.metadata_seen.numbers())},
          {"vectors", range_json(session.vectors.numbers())}};
}

Json base_json(const Session& session) {
  return {{"node", session.node},
          {"created", milliseconds_of(session.created)},
          {"metadata", session.metadata}};
}

Error damaged(std::string_view what) {
  return fail(ErrorCode::corrupt, fmt::format("a stored session is damaged: {}", what));
}

// The entries of a session by what they hold.
class Parts {
 public:
  explicit Parts(const std::vector<SessionEntries::Entry>& entries) : entries_(entries) {}

  bool has(std::string_view part) const { return find(part) != nullptr; }
  // Null where there is none.
  Json get(std::string_view part) const {
    const std::string* const value = find(part);
    return value != nullptr ? Json::from_cbor(*value) : Json();
  }
  // Whether it has all elements of the range, which is then no longer than it has entries.
  bool has(std::string_view list, NumberRange range) const {
    if (range.begin > range.end || range.end > kMostNumber) return false;
    if (range.end - range.begin > entries_.size()) return false;
    for (uint64_t number = range.begin; number < range.end; ++number) {
      if (!has(fmt::format("{}{}", list, node_key_part(number)))) return false;
    }
    return true;
  }
  template <typename T, typename Value>
  NumberedList<T> list(std::string_view list, NumberRange range, const Value& value) const {
    std::vector<T> values;
    for (uint64_t number = range.begin; number < range.end; ++number) {
      values.push_back(value(get(fmt::format("{}{}", list, node_key_part(number)))));
    }
    return NumberedList<T>(std::move(values), range.begin);
  }

 private:
  const std::string* find(std::string_view part) const {
    const auto found =
        std::lower_bound(entries_.begin(), entries_.end(), part,
                         [](const SessionEntries::Entry& entry, std::string_view wanted) {
                           return entry.part < wanted;
                         });
    return found != entries_.end() && found->part == part ? &found->value : nullptr;
  }

  const std::vector<SessionEntries::Entry>& entries_;
};

Result<std::shared_ptr<Session>> read_session(const std::string& id, const Parts& parts) {
  if (!parts.has(kHead) || !parts.has(kBase)) return damaged("a part is missing");
  const Json head = parts.get(kHead);
  const Json base = parts.get(kBase);
  auto session = std::make_shared<Session>();
  session->id = id;
  session->node = base.at("node");
  session->metadata = base.at("metadata");
  session->time = head.at("time");
  if (!set_times(*session, base.at("created"), head.at("ttl"), head.at("expires"))) {
    return damaged("times");
  }

  auto kept = std::make_unique<KeptSession>();
  const NumberRange stm = range_of(head.at("stm"));
  kept->events = stm;
  kept->emotives = range_of(head.at("emotives"));
  kept->metadata = range_of(head.at("metadata"));
  kept->vectors = range_of(head.at("vectors"));
  const Json& state = head.at("last_state");
  if (!state.is_null()) {
    kept->events = range_of(state);
    if (kept->events.begin > stm.begin || kept->events.end != stm.end) return damaged("events");
  }
  if (stm.begin > stm.end || !parts.has(kEvent, kept->events) ||
      !parts.has(kEmotives, kept->emotives) || !parts.has(kMetadata, kept->metadata) ||
      !parts.has(kVector, kept->vectors)) {
    return damaged("an element is missing");
  }
  const auto events =
      parts.list<Event>(kEvent, kept->events, [](const Json& json) { return json.get<Event>(); });
  session->stm = events.last(stm.end - stm.begin);
  if (!state.is_null()) session->last_state = events;
  session->emotives = parts.list<match::Emotives>(kEmotives, kept->emotives, emotives_of);
  session->metadata_seen =
      parts.list<Json>(kMetadata, kept->metadata, [](Json json) { return json; });
  session->vectors = parts.list<std::vector<double>>(
      kVector, kept->vectors, [](const Json& json) { return json.get<std::vector<double>>(); });
  if (parts.has(kLast)) {
    session->last = std::make_shared<const Observation>(observation_of(parts.get(kLast)));
  }
  kept->last = session->last;
  if (parts.has(kConfig)) {
    kept->config = parts.get(kConfig);
    if (!session->config.update(kept->config).empty()) return damaged("configuration");
  }
  session->kept_expires_ms = session->expires_ms.load();
  session->kept = std::move(kept);
  return session;
}

}  // namespace

std::string entries_prefix(std::string_view id) { return keys::kSession + key_part(id); }

std::unique_ptr<KeptSession> put_changes(const Session& session, SideStore::Batch& batch) {
  const std::string key = entries_prefix(session.id);
  const auto put = [&](std::string_view part, const Json& json) {
    batch.put(fmt::format("{}{}", key, part), cbor(json));
  };
  auto now = std::make_unique<KeptSession>();
  if (session.kept != nullptr) {
    *now = *session.kept;
  } else {
    put(kBase, base_json(session));
  }
  put(kHead, head_json(session));
  if (now->config != session.config.set()) {
    now->config = session.config.set();
    put(kConfig, now->config);
  }
  if (now->last != session.last) {
    now->last = session.last;
    if (now->last != nullptr) {
      put(kLast, observation_json(*now->last));
    } else {
      batch.remove(fmt::format("{}{}", key, kLast));
    }
  }
  const auto put_list_of = [&](std::string_view list, NumberRange& kept, NumberRange range,
                               const auto& value) {
    put_list(key, list, kept, range, value, batch);
    kept = range;
  };
  put_list_of(kEvent, now->events, events_of(session),
              [&](uint64_t number) -> Json { return event_of(session, number); });
  put_list_of(kEmotives, now->emotives, session.emotives.numbers(),
              [&](uint64_t number) { return emotives_json(session.emotives.at(number)); });
  put_list_of(kMetadata, now->metadata, session.metadata_seen.numbers(),
              [&](uint64_t number) -> Json { return session.metadata_seen.at(number); });
  put_list_of(kVector, now->vectors, session.vectors.numbers(),
              [&](uint64_t number) -> Json { return session.vectors.at(number); });
  return now;
}

void remove_entries(const Session& session, SideStore::Batch& batch) {
  if (session.kept == nullptr) return;
  const std::string key = entries_prefix(session.id);
  const KeptSession& kept = *session.kept;
  for (const std::string_view part : {kBase, kConfig, kHead, kLast}) {
    batch.remove(fmt::format("{}{}", key, part));
  }
  for (const auto& [list, range] :
       {std::pair(kEvent, kept.events), std::pair(kEmotives, kept.emotives),
        std::pair(kMetadata, kept.metadata), std::pair(kVector, kept.vectors)}) {
    for (uint64_t number = range.begin; number < range.end; ++number) {
      batch.remove(numbered(key, list, number));
    }
  }
}

// nlohmann's accessors throw where a value is of another kind.
Result<std::shared_ptr<Session>> SessionEntries::read() const {
  try {
    return read_session(id, Parts(entries));
  } catch (const nlohmann::json::exception& error) {
    return damaged(error.what());
  }
}

void SessionEntries::remove(SideStore::Batch& batch) const {
  for (const Entry& entry : entries) batch.remove(entries_prefix(id) + entry.part);
}

}  // namespace hoist::service
