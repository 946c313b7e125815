// All nodes of the service, opened as they are asked for. An open one takes threads and files: of
// too many the one that nobody has used for longest is closed. Nothing of it is lost by that.
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
  // For whoever only looks: one that nobody made is empty, and is not made.
  Result<std::shared_ptr<Node>> look(const std::string& id);
  // The node where it is open, else null. Never waits for anything that takes long.
  std::shared_ptr<Node> find_open(const std::string& id);
  // Those that are open, by name.
  std::vector<std::shared_ptr<Node>> all() const;
  Result<bool> exists(const std::string& id) const;
  // The names of all, ascending.
  Result<std::vector<std::string>> names() const;
  Status clear(Node& node);
  // Whether an index takes no writes, since one failed.
  bool any_broken() const;
  // Opens those nodes anew, where there is room again. Takes long.
  void mend();
  // Takes it away with all that was learned in it; `not_found` where there is none. Who learns in
  // it at this moment is told so; who asks for it later gets a new one.
  Status remove(const std::string& id);
  // Puts what Node::save() wrote in the place of what the node has, which is made where it is
  // missing. Patterns of it. Where that fails nothing has changed.
  Result<uint64_t> restore(const std::string& id, const Node::ReadLine& read);

 private:
  Nodes(const NodeOptions& options, SideStore& store) : options_(options), store_(store) {}
  void remove_left_over(const std::vector<uint64_t>& known) const;
  // Whoever opens, closes or removes a node holds its lock, so that two never do; others are not
  // held up.
  using NodeLock = std::shared_ptr<std::mutex>;
  NodeLock lock_of(const std::string& id);
  void release(const std::string& id, NodeLock node_lock);
  std::shared_ptr<Node> find_used(const std::string& id);
  Result<std::shared_ptr<Node>> open_node(const std::string& id);
  Result<std::optional<uint64_t>> stored_number(const std::string& id) const;
  Status remove_now(const std::string& id);
  std::shared_ptr<Node> take_out(const std::string& id);
  void put_back(const std::string& id, std::shared_ptr<Node> node);
  void reopen(const std::string& id);
  void close_unused();

  const NodeOptions options_;
  SideStore& store_;
  std::atomic<uint64_t> next_number_ = 1;
  mutable std::mutex mutex_;  // of what follows, and for no longer than a look at it
  std::map<std::string, std::shared_ptr<Node>> nodes_;
  std::map<std::string, NodeLock> node_locks_;
};

}  // namespace hoist::service
