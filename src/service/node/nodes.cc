#include "service/node/nodes.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "base/log.h"
#include "base/utf8.h"
#include "service/node/node_keys.h"

namespace hoist::service {
namespace {

constexpr size_t kMostName = 1024;  // characters

}  // namespace

Result<std::unique_ptr<Nodes>> Nodes::open(const NodeOptions& options, SideStore& store) {
  std::unique_ptr<Nodes> nodes(new Nodes(options, store));
  std::error_code error;
  std::filesystem::create_directories(options.folder + "/nodes", error);
  if (error) {
    return fail(ErrorCode::io,
                fmt::format("cannot make {}/nodes: {}", options.folder, error.message()));
  }
  std::vector<uint64_t> known;
  Status read = store.scan(keys::kNode, [&](std::string_view, std::string_view bytes) {
    if (const auto number = parse_node_number(bytes)) known.push_back(*number);
  });
  if (!read) return read.error();
  for (const uint64_t number : known) {
    nodes->next_number_ = std::max(nodes->next_number_.load(), number + 1);
  }
  nodes->remove_left_over(known);
  return nodes;
}

void Nodes::remove_left_over(const std::vector<uint64_t>& known) const {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(options_.folder + "/nodes", error)) {
    const auto number = number_of_folder(entry.path().filename().string());
    if (!number || std::find(known.begin(), known.end(), *number) != known.end()) continue;
    log(LogLevel::info, "removing {}, which no node has any more", entry.path().string());
    std::filesystem::remove_all(entry.path(), error);
  }
}

Result<std::shared_ptr<Node>> Nodes::get(const std::string& id) {
  const auto characters = static_cast<size_t>(
      std::count_if(id.begin(), id.end(), [](char c) { return (c & 0xc0) != 0x80; }));
  if (id.empty() || characters > kMostName || !is_utf8(id)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("a node's name has 1 to {} characters of UTF-8", kMostName));
  }
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Node>& node = nodes_[id];
  if (node != nullptr) {
    node->note_use();
    return node;
  }
  const auto stored = store_.get(keys::kNode + id);
  std::optional<uint64_t> number;
  if (stored && *stored) number = parse_node_number(**stored);
  Status ready = stored ? Status() : Status(stored.error());
  if (ready && !number) {
    number = next_number_++;
    SideStore::Batch batch;
    batch.put(keys::kNode + id, node_key_part(*number));
    ready = store_.write(batch);
  }
  if (ready) {
    auto opened = Node::open(id, *number, options_, store_);
    if (opened) {
      node = *std::move(opened);
      node->note_use();
      return node;
    }
    ready = opened.error();
  }
  nodes_.erase(id);
  return ready.error();
}

std::vector<std::shared_ptr<Node>> Nodes::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Node>> list;
  for (const auto& [id, node] : nodes_) list.push_back(node);
  return list;
}

Status Nodes::clear(Node& node) { return node.clear(next_number_++); }

Result<uint64_t> Nodes::restore(Node& node,
                                const std::function<Result<std::optional<std::string>>()>& read) {
  return node.restore(next_number_++, read);
}

}  // namespace hoist::service
