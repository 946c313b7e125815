#include "service/node/node_openings.h"

#include <exception>
#include <utility>

#include "base/log.h"

namespace hoist::service {

bool NodeOpenings::open(const std::string& id, Wanted wanted, Then then) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_first] = waiting_.try_emplace(id);
  at->second.push_back({wanted, std::move(then)});
  if (!is_first || threads_.run([this, id] { work(id); })) return true;
  waiting_.erase(at);
  return false;
}

void NodeOpenings::work(const std::string& id) {
  for (;;) {
    std::vector<Waiting> waiting;
    {
      const std::lock_guard lock(mutex_);
      const auto at = waiting_.find(id);
      waiting.swap(at->second);
      if (waiting.empty()) {
        waiting_.erase(at);
        return;
      }
    }
    for (const Waiting& one : waiting) {
      try {
        one.then(open_now(id, one.wanted));
      } catch (const std::exception& error) {
        log(LogLevel::error, "opening a node failed: {}", error.what());
      }
    }
  }
}

NodeOpenings::Opened NodeOpenings::open_now(const std::string& id, Wanted wanted) {
  if (wanted == Wanted::look) return nodes_.look(id);
  auto node = nodes_.get(id);
  if (!node || wanted == Wanted::get) return node;
  if (Status made = (*node)->prepare_to_learn(); !made) return made.error();
  return node;
}

}  // namespace hoist::service
