// The threads of what takes longer than other requests should wait, apart by what they do: a
// prediction of many seconds holds up other long predictions, and nothing else.
#pragma once

#include <cstddef>

#include "service/background.h"

namespace hoist::service {

struct Pools {
  explicit Pools(size_t most_requests) : openings(4, most_requests) {}
  // What runs is finished, what waits is dropped, and nothing begins any more. What runs in one may
  // still ask another.
  void end() {
    for (Background* each : {&openings, &predictions, &bulk, &observations, &lists, &transfers,
                             &maintenance, &upkeep}) {
      each->end();
    }
  }

  Background predictions{2};   // of one state
  Background bulk{2};          // predictions of many
  Background observations{8};  // and learning
  Background lists{2};         // of what there is
  Background transfers{8, 8};  // patterns in and out, which wait for clients
  Background maintenance{2};   // of nodes and snapshots
  Background upkeep{1};        // what the service does by itself
  Background openings;         // of nodes
};

}  // namespace hoist::service
