// Opens nodes, and makes their indexes, on threads of their own. All who wait for one node take one
// thread together, so that a node that opens slowly holds up no others.
//
// Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "service/background.h"
#include "service/node/nodes.h"

namespace hoist::service {

class NodeOpenings {
 public:
  NodeOpenings(Nodes& nodes, Background& threads) : nodes_(nodes), threads_(threads) {}

  enum class Wanted {
    look,   // Nodes::look()
    get,    // Nodes::get()
    learn,  // the same, with an index
  };
  using Opened = Result<std::shared_ptr<Node>>;
  using Then = std::function<void(const Opened&)>;
  // `then` is called on the thread that opens, and must not take long. False where too much waits:
  // it is not called then.
  bool open(const std::string& id, Wanted wanted, Then then);

 private:
  struct Waiting {
    Wanted wanted;
    Then then;
  };
  void work(const std::string& id);
  Opened open_now(const std::string& id, Wanted wanted);

  Nodes& nodes_;
  Background& threads_;
  std::mutex mutex_;
  std::map<std::string, std::vector<Waiting>> waiting_;  // by node; one thread has each
};

}  // namespace hoist::service
