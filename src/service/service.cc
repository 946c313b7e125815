#include "service/service.h"

#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/log.h"
#include "device/device.h"
#include "service/api/routes.h"
#include "service/monitoring/routes.h"
#include "service/node/write_probe.h"
#include "service/open_gpus.h"

namespace hoist::service {

Result<std::unique_ptr<Service>> Service::open(const ServiceOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(options.node.folder, error);
  if (error) {
    return fail(ErrorCode::io,
                fmt::format("cannot make {}: {}", options.node.folder, error.message()));
  }
  // A GPU that was asked for by name and is not there is told of now, not at the first learning.
  if (const std::string& name = options.node.device; name != "auto" && name != "cpu") {
    if (const auto device = device::find_device(name); !device) return device.error();
  }
  for (const char* const own : {"/snapshot.hoist", "/store"}) {
    if (!std::filesystem::exists(options.node.folder + own, error)) continue;
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} is an index of `hoist match`, not a service's folder: name another "
                            "one, and send the index's patterns to POST /nodes/NODE/patterns",
                            options.node.folder));
  }
  auto store = SideStore::open(options.node.folder + "/service.db", options.node.durability);
  if (!store) return store.error();
  std::unique_ptr<Service> service(new Service(options, *std::move(store)));
  NodeOptions node_options = options.node;
  node_options.stop = service->stop_.get_token();
  node_options.run_later = [own = service.get()](std::function<void()> work) {
    return own->closings_.run(std::move(work));
  };
  auto nodes = Nodes::open(node_options, *service->store_);
  if (!nodes) return nodes.error();
  service->nodes_ = *std::move(nodes);
  service->openings_ = std::make_unique<NodeOpenings>(*service->nodes_, service->pools_.openings);
  if (Status restored = service->keeper_.restore(service->sessions_); !restored) {
    return restored.error();
  }
  service->monitor_ = std::make_unique<Monitor>(options.node.folder, options.most_requests,
                                                [own = service.get()] { return own->facts(); });
  return service;
}

Service::~Service() {
  pools_.end();
  keeper_.keep_times(sessions_);
}

void Service::add_routes(net::HttpRouter& router) {
  add_monitoring_routes(router, *monitor_, options_.threads);
  const Api api{sessions_, *nodes_, *monitor_, events_, keeper_, snapshots_, pools_, *openings_};
  add_session_routes(router, api);
  add_observation_routes(router, api);
  add_prediction_routes(router, api);
  add_node_routes(router, api);
  add_node_list_routes(router, api);
  add_bulk_routes(router, api);
  add_transfer_routes(router, api);

  router.add_websocket("/ws/events",
                       [this](const net::HttpRequest&, std::shared_ptr<net::WebSocket> socket) {
                         return events_.listen(std::move(socket), sessions_.size());
                       });
}

void Service::tend() {
  // One at a time; the next begins once this is gone, also where the work failed or never began.
  struct Turn {
    explicit Turn(std::atomic<bool>& flag) : is_tending(flag), is_mine(!flag.exchange(true)) {}
    ~Turn() {
      if (is_mine) is_tending = false;
    }
    std::atomic<bool>& is_tending;
    const bool is_mine;
  };
  const auto turn = std::make_shared<Turn>(is_tending_);
  if (!turn->is_mine) return;
  pools_.upkeep.run([this, turn] {
    sweep();
    if (store_->is_broken() || nodes_->any_broken()) mend();
  });
}

void Service::sweep() {
  sessions_.sweep([this](Session& session) {
    events_.session_destroyed(session, "expired");
    if (Status forgotten = keeper_.forget(session); !forgotten) {
      log(LogLevel::error, "{}", forgotten.error().message);
    }
  });
}

// After a full disk.
void Service::mend() {
  if (store_->is_broken() && takes_files(options_.node.folder)) {
    Status mended = store_->mend();
    if (mended) log(LogLevel::info, "the service's store takes writes again");
    if (!mended) log(LogLevel::error, "{}", mended.error().message);
  }
  if (!store_->is_broken()) nodes_->mend();
}

Status load_session_defaults(const std::string& file) {
  constexpr size_t kMost = 1 << 20;
  const Result<std::string> text = read_file(file, kMost);
  if (!text) return text.error();
  const auto json = nlohmann::ordered_json::parse(*text, nullptr, false);
  if (!json.is_object()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} is no JSON object, such as {{\"recall_threshold\": 0.2}}", file));
  }
  const SessionConfig::Faults faults = SessionConfig::set_defaults(json);
  if (faults.empty()) return {};
  const auto& [key, fault] = *faults.begin();
  return fail(ErrorCode::invalid_argument, fmt::format("{}: {}: {}", file, key, fault));
}

ServiceFacts Service::facts() const {
  ServiceFacts facts;
  facts.sessions = sessions_.size();
  facts.sessions_created = sessions_.created();
  facts.sessions_deleted = sessions_.deleted();
  facts.sessions_expired = sessions_.expired();
  {
    const std::lock_guard lock(connections_mutex_);
    if (connections_) facts.connections = connections_();
  }
  for (const std::shared_ptr<Node>& node : nodes_->all()) {
    NodeFacts& told = facts.nodes.emplace_back();
    told.node = node->id();
    told.opened = node->opened();
    told.last_used = node->last_used();
    told.uses = node->uses();
    const std::shared_ptr<match::Index> index = node->index();
    if (index == nullptr) continue;
    const match::IndexStats stats = index->stats();
    told.patterns = stats.patterns;
    told.recent_patterns = stats.recent_patterns;
    told.symbols = stats.symbols;
    told.memory = stats.memory;
    told.syncs = stats.syncs;
    told.last_sync_seconds = stats.last_sync_seconds;
    told.last_sync_error = stats.last_sync_error;
    told.device = stats.search_device;
    for (const match::DeviceBytes& held : stats.device_memory) {
      told.device_memory[held.device] = held.bytes;
    }
  }
  facts.gpus = open_gpus(facts.nodes);
  return facts;
}

}  // namespace hoist::service
