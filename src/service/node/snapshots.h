// Copies of nodes in files, FOLDER/snapshots/NODE/NAME.jsonl, made and restored while others learn.
//
// A snapshot is there whole or not at all. NODE is the SHA-256 of the node's name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "service/node/nodes.h"

namespace hoist::service {

struct Snapshot {
  std::string name;
  uint64_t bytes = 0;
};

class Snapshots {
 public:
  explicit Snapshots(std::string folder) : folder_(std::move(folder)) {}

  Result<Snapshot> make(const Node& node) const;
  std::vector<Snapshot> list(const std::string& node) const;  // by name: the oldest first
  // `not_found` where there is none.
  Status remove(const std::string& node, const std::string& name) const;
  Status remove_all(const std::string& node) const;
  // The number of patterns that the node has then, which is made where it is missing.
  Result<uint64_t> restore(Nodes& nodes, const std::string& node, const std::string& name) const;

 private:
  std::string node_folder(const std::string& node) const;
  Result<std::string> path(const std::string& node, const std::string& name) const;

  const std::string folder_;
};

}  // namespace hoist::service
