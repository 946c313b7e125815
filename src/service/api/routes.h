// The reference's interface: which request is answered by what.
#pragma once

#include <functional>
#include <memory>

#include "net/http/router.h"
#include "service/api/body.h"
#include "service/api/events.h"
#include "service/background.h"
#include "service/monitoring/monitor.h"
#include "service/node/nodes.h"
#include "service/node/snapshots.h"
#include "service/session/session_keeper.h"
#include "service/session/session_table.h"

namespace hoist::service {

// What answers need. All of it outlives the router.
struct Api {
  SessionTable& sessions;
  Nodes& nodes;
  Monitor& monitor;
  Events& events;
  SessionKeeper& keeper;
  const Snapshots& snapshots;
  Background& background;  // for what the service does by itself
  Background& transfers;   // for what waits for clients

  using Answer = std::function<net::HttpResponse(const net::HttpRequest&)>;
  // A route that is answered at once.
  void add(net::HttpRouter& router, Work work, const char* method, const char* pattern,
           Answer answer) const;
  // A route that takes longer than others should wait.
  void add_in_background(net::HttpRouter& router, Work work, const char* method,
                         const char* pattern, Answer answer) const;
  // A route whose first parameter is a session's id. `missing`: what is said where there is none.
  using SessionAnswer =
      std::function<net::HttpResponse(const net::HttpRequest&, std::shared_ptr<Session>)>;
  void add_for_session(net::HttpRouter& router, Work work, const char* method, const char* pattern,
                       SessionAnswer answer, const char* missing = "not found or expired") const;
};

void add_session_routes(net::HttpRouter& router, const Api& api);
void add_observation_routes(net::HttpRouter& router, const Api& api);
void add_prediction_routes(net::HttpRouter& router, const Api& api);
void add_node_routes(net::HttpRouter& router, const Api& api);
void add_bulk_routes(net::HttpRouter& router, const Api& api);
void add_transfer_routes(net::HttpRouter& router, const Api& api);

}  // namespace hoist::service
