#include "service/session/observe.h"

#include <algorithm>
#include <utility>

#include "service/session/python_text.h"
#include "service/session/session_memory.h"

namespace hoist::service {
namespace {

PatternMetadata accumulate(const NumberedList<nlohmann::ordered_json>& seen) {
  PatternMetadata metadata;
  for (const auto& object : seen.values()) {
    for (const auto& [key, value] : object.items()) metadata[key].insert(python_text(value));
  }
  return metadata;
}

// How many events of short-term memory stay as the beginning of the next pattern.
size_t rolling_window(const Session& session, size_t max_pattern_length) {
  if (!session.config.is_rolling() || session.stm.size() < 2) return 0;
  return std::min(max_pattern_length, session.stm.size()) - 1;
}

Result<std::optional<std::string>> learn_if_full(Session& session, Node& node) {
  const size_t most = session.config.max_pattern_length();
  if (most == 0 || session.stm.size() < most) return std::optional<std::string>();
  const size_t window = rolling_window(session, most);
  auto name = learn(session, node);
  if (!name) return name.error();
  session.stm = session.last_state->last(window);
  return name->empty() ? std::nullopt : std::optional(*std::move(name));
}

}  // namespace

Result<std::string> learn(Session& session, Node& node) {
  auto name = node.learn(session.stm.values(), session.emotives.values(),
                         accumulate(session.metadata_seen), session.vectors.values());
  if (!name) return name.error();
  session.last_state = session.stm.take();
  session.vectors.clear();
  return name->empty() ? std::string() : "PTRN|" + *name;
}

Result<std::optional<std::string>> observe(Session& session, Node& node, Observation observation) {
  Event event;
  std::optional<ObservedVectors> vectors;
  if (!observation.vectors.empty()) {
    auto observed = node.observe_vectors(observation.vectors);
    if (!observed) return observed.error();
    vectors = *std::move(observed);
    event = std::move(vectors->symbols);
  }
  std::sort(observation.strings.begin(), observation.strings.end());
  event.insert(event.end(), observation.strings.begin(), observation.strings.end());

  // From here on only learning is refused, which copies as much as this does.
  std::optional<SessionMemory> before;
  const size_t most = session.config.max_pattern_length();
  if (!event.empty() && most > 0 && session.stm.size() + 1 >= most) before.emplace(session);
  if (vectors) session.vectors.push_back(std::move(vectors->sum));
  ++session.time;
  if (!observation.emotives.empty()) session.emotives.push_back(observation.emotives);
  if (!observation.metadata.empty()) session.metadata_seen.push_back(observation.metadata);
  session.last = std::make_shared<const Observation>(std::move(observation));
  session.last_state.reset();

  std::optional<std::string> learned;
  if (!event.empty()) {
    session.stm.push_back(std::move(event));
    session.keep_limits();
    auto name = learn_if_full(session, node);
    if (!name) {
      if (before) std::move(*before).put_back(session);
      return name.error();
    }
    learned = *std::move(name);
  }
  session.keep_limits();
  return learned;
}

}  // namespace hoist::service
