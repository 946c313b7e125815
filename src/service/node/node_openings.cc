#include "service/node/node_openings.h"

#include <exception>
#include <utility>

#include "base/log.h"

namespace hoist::service {

bool NodeOpenings::open(const std::string& id, Wanted wanted, Then then) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_first] = waiting_.try_emplace(id);
  bool runs = true;
  try {
    at->second.push_back({wanted, std::move(then)});
    if (is_first) runs = threads_.run([this, id] { work(id); });
  } catch (...) {  // no memory: who comes next must not wait for this one
    if (is_first) waiting_.erase(at);
    throw;
  }
  if (!runs) waiting_.erase(at);
  return runs;
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
