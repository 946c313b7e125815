// Copies of nodes in files, FOLDER/snapshots/NODE/NAME.jsonl, made and restored while others learn.
//
// A snapshot is there whole or not at all, and with durability sync after a power cut, too. NODE is
// the SHA-256 of the node's name.
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
  Snapshots(std::string folder, match::Durability durability)
      : folder_(std::move(folder)), durability_(durability) {}

  // `unavailable` where the service ends meanwhile, or the node's snapshots are deleted.
  Result<Snapshot> make(const Node& node) const;
  std::vector<Snapshot> list(const std::string& node) const;  // by name: the oldest first
  // `not_found` where there is none.
  Status remove(const std::string& node, const std::string& name) const;
  Status remove_all(const std::string& node) const;
  // The number of patterns that the node has then, which is made where it is missing. Where that
  // fails nothing has changed: `not_found` where there is no such snapshot, `unavailable` where the
  // service ends meanwhile.
  Result<uint64_t> restore(Nodes& nodes, const std::string& node, const std::string& name) const;

 private:
  std::string node_folder(const std::string& node) const;
  Result<std::string> path(const std::string& node, const std::string& name) const;
  Status put_in_place(const std::string& unfinished, const std::string& node,
                      const std::string& name) const;

  const std::string folder_;
  const match::Durability durability_;
};

}  // namespace hoist::service
