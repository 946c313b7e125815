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
  Background& openings;    // for what waits until a node is open, or has an index

  // False where there is none. `reason`: what listeners to events are told.
  Result<bool> end_session(std::string_view id, const char* reason) const;

  using Answer = std::function<net::HttpResponse(const net::HttpRequest&)>;
  // A route that is answered at once.
  void add(net::HttpRouter& router, Work work, const char* method, const char* pattern,
           Answer answer) const;
  // A route that takes longer than others should wait.
  void add_in_background(net::HttpRouter& router, Work work, const char* method,
                         const char* pattern, Answer answer) const;
  // Answers in the background, by 503 where too much waits already.
  static void answer_in(Background& background, net::HttpRequest request, net::HttpReply reply,
                        Answer answer);
  // A route whose first parameter is a session's id. `missing`: what is said where there is none.
  using SessionAnswer =
      std::function<net::HttpResponse(const net::HttpRequest&, std::shared_ptr<Session>)>;
  // An answer to such a route, where there is that session.
  Answer for_session(SessionAnswer answer, const char* missing = "not found or expired") const;
  void add_for_session(net::HttpRouter& router, Work work, const char* method, const char* pattern,
                       SessionAnswer answer, const char* missing = "not found or expired") const;
  // The same where the session's node is needed, too. It is answered at once where the node is
  // open, and has an index if the request `learns`.
  using NodeAnswer = std::function<net::HttpResponse(const net::HttpRequest&, Session&, Node&)>;
  void add_for_node(net::HttpRouter& router, Work work, const char* method, const char* pattern,
                    std::function<bool(Session&)> learns, NodeAnswer answer) const;
};

void add_session_routes(net::HttpRouter& router, const Api& api);
void add_observation_routes(net::HttpRouter& router, const Api& api);
void add_prediction_routes(net::HttpRouter& router, const Api& api);
void add_node_routes(net::HttpRouter& router, const Api& api);
void add_node_list_routes(net::HttpRouter& router, const Api& api);
void add_bulk_routes(net::HttpRouter& router, const Api& api);
void add_transfer_routes(net::HttpRouter& router, const Api& api);

}  // namespace hoist::service
