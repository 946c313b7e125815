// All nodes of the service, opened as they are asked for.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "service/node/node.h"

namespace hoist::service {

class Nodes {
 public:
  // Takes away the folders that no node has any more.
  static Result<std::unique_ptr<Nodes>> open(const NodeOptions& options, SideStore& store);

  // Opens or makes it. A node that nobody has learned in takes no folder.
  Result<std::shared_ptr<Node>> get(const std::string& id);
  // Those that were asked for, by name.
  std::vector<std::shared_ptr<Node>> all() const;
  Status clear(Node& node);
  // Node::restore()
  Result<uint64_t> restore(Node& node,
                           const std::function<Result<std::optional<std::string>>()>& read);

 private:
  Nodes(const NodeOptions& options, SideStore& store) : options_(options), store_(store) {}
  void remove_left_over(const std::vector<uint64_t>& known) const;

  const NodeOptions options_;
  SideStore& store_;
  std::atomic<uint64_t> next_number_ = 1;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Node>> nodes_;
};

}  // namespace hoist::service
