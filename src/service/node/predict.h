// Predictions of a state, as the text of their JSON.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "service/node/node.h"
#include "service/session/session.h"
#include "service/session/session_config.h"

namespace hoist::service {

// More bytes of an answer are 413.
constexpr size_t kMostAnswer = 256 << 20;

struct Predictions {
  std::string predictions = "[]";        // an array of objects
  std::string future_potentials = "[]";  // likewise
  size_t count = 0;
  bool is_too_large = false;  // texts of more than kMostAnswer, cut off
};

// `state` has no empty events. `cancelled` soon after the client is gone, or the service ends.
Result<Predictions> predict(const Node& node, const std::vector<Event>& state,
                            const SessionConfig& config, const std::stop_token& client_gone = {});
// Predicts from several states in one scan.
Result<std::vector<Predictions>> predict(const Node& node,
                                         std::span<const std::vector<Event>> states,
                                         const SessionConfig& config,
                                         const std::stop_token& client_gone = {});

}  // namespace hoist::service
