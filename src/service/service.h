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
#include <stop_token>
#include <string>

#include "net/http/router.h"
#include "service/api/events.h"
#include "service/background.h"
#include "service/monitoring/monitor.h"
#include "service/node/nodes.h"
#include "service/node/snapshots.h"
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
  // Open connections, for the metrics.
  void count_connections(std::function<uint64_t()> count) { connections_ = std::move(count); }
  // What takes long gives up: the service is about to end. Once.
  void stop() { stop_.request_stop(); }
  // Sessions whose time ran out go, and what could not be written to is opened again. Now and then.
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
        snapshots_(options.node.folder),
        background_(2),
        transfers_(8, 8),
        openings_(2, options.most_requests) {}
  ServiceFacts facts() const;
  void mend();

  std::stop_source stop_;
  const ServiceOptions options_;
  std::unique_ptr<SideStore> store_;
  SessionTable sessions_;
  std::unique_ptr<Nodes> nodes_;
  SessionKeeper keeper_;
  Events events_;
  std::function<uint64_t()> connections_;
  std::unique_ptr<Monitor> monitor_;
  Snapshots snapshots_;
  Background background_;  // last: what runs there uses the rest
  Background transfers_;
  Background openings_;
  Background mending_{1};
  std::atomic<bool> is_mending_ = false;
};

// Defaults of sessions from a file, a JSON object of their keys: {"recall_threshold": 0.2}.
Status load_session_defaults(const std::string& file);

}  // namespace hoist::service
