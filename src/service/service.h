// What `hoist match serve` serves: sessions, nodes, and the routes to them.
//
//   Result<std::unique_ptr<Service>> service = Service::open(options);
//   net::HttpRouter router;
//   (*service)->add_routes(router);
//
// Thread-safe: handlers run on the server's threads.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "net/http/router.h"
#include "service/api/events.h"
#include "service/monitoring/monitor.h"
#include "service/node/node_openings.h"
#include "service/node/nodes.h"
#include "service/node/snapshots.h"
#include "service/pools.h"
#include "service/session/session_keeper.h"
#include "service/session/session_table.h"

namespace hoist::service {

struct ServiceOptions {
  NodeOptions node;
  SessionTable::Options sessions;
  unsigned threads = 1;
  bool durable_sessions = false;    // they survive a restart
  uint64_t most_requests = 10'000;  // under way at once
};

class Service {
 public:
  // Makes the folder where it is missing. `unavailable` where another process serves it.
  static Result<std::unique_ptr<Service>> open(const ServiceOptions& options);

  ~Service();

  void add_routes(net::HttpRouter& router);
  // Open connections, for the metrics, until it is set to none.
  void count_connections(std::function<uint64_t()> count) {
    const std::lock_guard lock(connections_mutex_);
    connections_ = std::move(count);
  }
  // What takes long gives up: the service is about to end. Once.
  void stop() { stop_.request_stop(); }
  // Now and then: in the background, sessions whose time ran out go, and what could not be written
  // to is opened again. Waits for nothing.
  void tend();
  void sweep();

  SessionTable& sessions() { return sessions_; }
  Nodes& nodes() { return *nodes_; }
  Monitor& monitor() { return *monitor_; }

 private:
  Service(const ServiceOptions& options, std::unique_ptr<SideStore> store)
      : options_(options),
        store_(std::move(store)),
        sessions_(options.sessions),
        keeper_(options.durable_sessions ? store_.get() : nullptr),
        snapshots_(options.node.folder, options.node.durability),
        pools_(options.most_requests) {}
  ServiceFacts facts() const;
  void mend();

  std::stop_source stop_;
  const ServiceOptions options_;
  Background closings_{1};  // of what was replaced, by whoever held it last: it outlives the nodes
  std::unique_ptr<SideStore> store_;
  SessionTable sessions_;
  std::unique_ptr<Nodes> nodes_;
  SessionKeeper keeper_;
  Events events_;
  mutable std::mutex connections_mutex_;  // a thread of the monitor asks
  std::function<uint64_t()> connections_;
  std::unique_ptr<Monitor> monitor_;
  Snapshots snapshots_;
  std::atomic<bool> is_tending_ = false;
  Pools pools_;                             // what runs there uses the rest
  std::unique_ptr<NodeOpenings> openings_;  // who waits there wants pools
};

// Defaults of sessions from a file, a JSON object of their keys: {"recall_threshold": 0.2}.
Status load_session_defaults(const std::string& file);

}  // namespace hoist::service
