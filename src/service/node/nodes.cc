#include "service/node/nodes.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/log.h"
#include "base/utf8.h"
#include "service/node/node_keys.h"
#include "service/node/write_probe.h"

namespace hoist::service {
namespace {

constexpr size_t kMostName = 1024;  // characters

Status check_name(const std::string& id) {
  const auto characters = static_cast<size_t>(
      std::count_if(id.begin(), id.end(), [](char c) { return (c & 0xc0) != 0x80; }));
  if (!id.empty() && characters <= kMostName && is_utf8(id)) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("a node's name has 1 to {} characters of UTF-8", kMostName));
}

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
  std::filesystem::remove_all(options_.folder + kUnfinished, error);
  for (const auto& entry : std::filesystem::directory_iterator(options_.folder + "/nodes", error)) {
    const auto number = number_of_folder(entry.path().filename().string());
    if (!number || std::find(known.begin(), known.end(), *number) != known.end()) continue;
    log(LogLevel::info, "removing {}, which no node has any more", entry.path().string());
    std::filesystem::remove_all(entry.path(), error);
  }
}

Result<std::shared_ptr<Node>> Nodes::look(const std::string& id) {
  if (Status named = check_name(id); !named) return named.error();
  if (auto node = find_open(id)) return node;
  const auto stored = stored_number(id);
  if (!stored) return stored.error();
  if (*stored) return get(id);
  constexpr uint64_t kNobodys = 0;
  auto empty = Node::open(id, kNobodys, options_, store_);
  if (!empty) return empty.error();
  return std::shared_ptr<Node>(*std::move(empty));
}

// With `mutex_`.
std::shared_ptr<Node> Nodes::find_used(const std::string& id) {
  const auto found = nodes_.find(id);
  if (found == nodes_.end()) return nullptr;
  found->second->note_use();
  return found->second;
}

std::shared_ptr<Node> Nodes::find_open(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return find_used(id);
}

Result<std::shared_ptr<Node>> Nodes::get(const std::string& id) {
  if (Status named = check_name(id); !named) return named.error();
  if (auto node = find_open(id)) return node;
  NodeLock node_lock = lock_of(id);
  Result<std::shared_ptr<Node>> node = std::shared_ptr<Node>();
  {
    const std::lock_guard mine(*node_lock);
    node = find_open(id);
    if (*node == nullptr) node = open_node(id);
  }
  release(id, std::move(node_lock));
  close_unused();
  return node;
}

Result<std::optional<uint64_t>> Nodes::stored_number(const std::string& id) const {
  const auto stored = store_.get(keys::kNode + id);
  if (!stored) return stored.error();
  return *stored ? parse_node_number(**stored) : std::optional<uint64_t>();
}

// With the node's lock.
Result<std::shared_ptr<Node>> Nodes::open_node(const std::string& id) {
  auto stored = stored_number(id);
  if (!stored) return stored.error();
  std::optional<uint64_t> number = *stored;
  if (!number) {
    number = next_number_++;
    SideStore::Batch batch;
    batch.put(keys::kNode + id, node_key_part(*number));
    if (Status written = store_.write(batch); !written) return written.error();
  }
  auto opened = Node::open(id, *number, options_, store_);
  if (!opened) return opened.error();
  std::shared_ptr<Node> node = *std::move(opened);
  node->note_use();
  put_back(id, node);
  return node;
}

Nodes::NodeLock Nodes::lock_of(const std::string& id) {
  const std::lock_guard lock(mutex_);
  NodeLock& shared = node_locks_[id];
  if (shared == nullptr) shared = std::make_shared<std::mutex>();
  return shared;
}

// Where nobody waits for it, it is gone: new ones wait for the same.
void Nodes::release(const std::string& id, NodeLock node_lock) {
  const std::lock_guard lock(mutex_);
  node_lock.reset();
  const auto left = node_locks_.find(id);
  if (left != node_locks_.end() && left->second.use_count() == 1) node_locks_.erase(left);
}

void Nodes::close_unused() {
  for (;;) {
    std::shared_ptr<Node> closing;
    std::string id;
    NodeLock node_lock = std::make_shared<std::mutex>();
    std::unique_lock mine(*node_lock);
    {
      const std::lock_guard lock(mutex_);
      if (nodes_.size() <= options_.most_open) return;
      auto oldest = nodes_.end();
      for (auto at = nodes_.begin(); at != nodes_.end(); ++at) {
        // Who uses a node holds its pointer, and gets it with this lock alone.
        if (at->second.use_count() > 1 || node_locks_.contains(at->first)) continue;
        if (at->second->is_uncertain()) continue;  // opened anew it would not know
        if (oldest == nodes_.end() || at->second->last_used() < oldest->second->last_used()) {
          oldest = at;
        }
      }
      if (oldest == nodes_.end()) return;
      id = oldest->first;
      closing = std::move(oldest->second);
      nodes_.erase(oldest);
      node_locks_.emplace(id, node_lock);
    }
    closing.reset();
    mine.unlock();
    release(id, std::move(node_lock));
  }
}

std::vector<std::shared_ptr<Node>> Nodes::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Node>> list;
  for (const auto& [id, node] : nodes_) list.push_back(node);
  return list;
}

Result<bool> Nodes::exists(const std::string& id) const {
  if (Status named = check_name(id); !named) return named.error();
  const auto number = stored_number(id);
  if (!number) return number.error();
  return number->has_value();
}

Result<std::vector<std::string>> Nodes::names() const {
  std::vector<std::string> names;
  Status read = store_.scan(
      keys::kNode, [&](std::string_view name, std::string_view) { names.emplace_back(name); });
  if (!read) return read.error();
  return names;
}

Status Nodes::remove(const std::string& id) {
  if (Status named = check_name(id); !named) return named;
  NodeLock node_lock = lock_of(id);
  Status removed;
  {
    const std::lock_guard mine(*node_lock);
    removed = remove_now(id);
  }
  release(id, std::move(node_lock));
  return removed;
}

// With the node's lock: whoever asks for the node meanwhile waits. Null where it is not open.
std::shared_ptr<Node> Nodes::take_out(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(id);
  if (found == nodes_.end()) return nullptr;
  std::shared_ptr<Node> node = std::move(found->second);
  nodes_.erase(found);
  return node;
}

void Nodes::put_back(const std::string& id, std::shared_ptr<Node> node) {
  const std::lock_guard lock(mutex_);
  nodes_.emplace(id, std::move(node));
}

// With the node's lock.
Status Nodes::remove_now(const std::string& id) {
  if (std::shared_ptr<Node> open = take_out(id)) {
    Status removed = open->remove();
    if (!removed) put_back(id, std::move(open));
    return removed;
  }
  const auto number = stored_number(id);
  if (!number) return number.error();
  if (!*number) return fail(ErrorCode::not_found, fmt::format("there is no node {}", id));
  return Node::remove(id, **number, options_.folder, store_);
}

bool Nodes::any_broken() const {
  const auto nodes = all();
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const std::shared_ptr<Node>& node) { return node->is_broken(); });
}

void Nodes::mend() {
  std::vector<std::string> broken;
  for (const std::shared_ptr<Node>& node : all()) {
    if (node->is_broken() && !node->is_in_long_use()) broken.push_back(node->id());
  }
  for (const std::string& id : broken) {
    if (!takes_files(options_.folder)) return;
    reopen(id);
  }
}

void Nodes::reopen(const std::string& id) {
  using std::chrono::steady_clock;
  constexpr auto kPatience = std::chrono::milliseconds(200);
  NodeLock node_lock = lock_of(id);
  {
    const std::lock_guard mine(*node_lock);
    std::shared_ptr<Node> node = take_out(id);
    // Its files are free once the last request has its answer. Where one takes longer, those that
    // ask for the node are answered meanwhile, and it is tried again later.
    const auto until = steady_clock::now() + kPatience;
    while (node.use_count() > 1 && steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (node.use_count() > 1) {
      put_back(id, std::move(node));
    } else if (node != nullptr) {
      node.reset();
      const auto opened = open_node(id);
      if (opened) log(LogLevel::info, "node {} takes writes again", id);
      if (!opened) log(LogLevel::error, "node {}: {}", id, opened.error().message);
    }
  }
  release(id, std::move(node_lock));
}

Status Nodes::clear(Node& node) { return node.clear(next_number_++); }

Result<uint64_t> Nodes::restore(const std::string& id, const Node::ReadLine& read) {
  const auto before = look(id);
  if (!before) return before.error();
  auto loaded = (*before)->load(next_number_++, read);
  if (!loaded) return loaded.error();
  const auto node = get(id);
  if (!node) return node.error();
  return (*node)->restore(*std::move(loaded));
}

}  // namespace hoist::service
