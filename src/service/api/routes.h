// The reference's interface: which request is answered by what.
//
// Requests are answered on the loop's thread that has read them. What takes long is answered in a
// pool (pools.h), and what waits for a session or a node takes no thread meanwhile: it is a closure
// that goes on, on its loop's thread again, when its turn has come.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/http/router.h"
#include "service/api/body.h"
#include "service/api/events.h"
#include "service/monitoring/monitor.h"
#include "service/node/node_openings.h"
#include "service/node/nodes.h"
#include "service/node/snapshots.h"
#include "service/pools.h"
#include "service/session/session_keeper.h"
#include "service/session/session_table.h"

namespace hoist::service {

// A request and where its answer goes.
struct Exchange {
  net::HttpRequest request;
  net::HttpReply reply;
};
using SharedExchange = std::shared_ptr<Exchange>;

// What answers need. All of it outlives the router.
struct Api {
  SessionTable& sessions;
  Nodes& nodes;
  Monitor& monitor;
  Events& events;
  SessionKeeper& keeper;
  const Snapshots& snapshots;
  Pools& pools;
  NodeOpenings& openings;

  // False where it is gone already. What is under way for it gives up first. `reason`: what
  // listeners to events are told.
  Result<bool> end_session(Session& session, const char* reason) const;

  using Handler = std::function<void(const SharedExchange&)>;
  void handle(net::HttpRouter& router, Work work, const char* method, const char* pattern,
              Handler handler) const;
  using Answer = std::function<net::HttpResponse(const net::HttpRequest&)>;
  // A route that is answered at once.
  void add(net::HttpRouter& router, Work work, const char* method, const char* pattern,
           Answer answer) const;
  // A route that takes longer than others should wait.
  void add_in(net::HttpRouter& router, Background& pool, Work work, const char* method,
              const char* pattern, Answer answer) const;
  // A route whose first parameter is a session's id, which nobody else uses meanwhile. `missing`:
  // what is said where there is none.
  using SessionAnswer =
      std::function<net::HttpResponse(const net::HttpRequest&, const std::shared_ptr<Session>&)>;
  void add_for_session(net::HttpRouter& router, Work work, const char* method, const char* pattern,
                       SessionAnswer answer, const char* missing = kMissing) const;

  // What routes are made of. Each `then` runs on the loop's thread, now or later, unless the
  // exchange was answered by what is wrong.
  static constexpr const char* kMissing = "not found or expired";
  std::shared_ptr<Session> find_session(const SharedExchange& exchange,
                                        const char* missing = kMissing) const;
  // Others that want the session wait until the last copy of the use is gone.
  void use_session(const std::shared_ptr<Session>& session, const SharedExchange& exchange,
                   Strand::Next then, const char* missing = kMissing) const;
  using WithNode = std::function<void(const std::shared_ptr<Node>&)>;
  void with_node(const std::string& id, NodeOpenings::Wanted wanted, const SharedExchange& exchange,
                 WithNode then) const;
  // Answers in a pool, by 503 where too much waits already.
  static void answer_in(Background& pool, const SharedExchange& exchange,
                        std::function<net::HttpResponse()> answer);
  // The same where a session is used until then, whose time begins anew when it is done.
  void answer_in(Background& pool, const SharedExchange& exchange,
                 const std::shared_ptr<Session>& session, Strand::Use use,
                 std::function<net::HttpResponse()> answer) const;
};

void add_session_routes(net::HttpRouter& router, const Api& api);
void add_observation_routes(net::HttpRouter& router, const Api& api);
void add_prediction_routes(net::HttpRouter& router, const Api& api);
void add_node_routes(net::HttpRouter& router, const Api& api);
void add_node_list_routes(net::HttpRouter& router, const Api& api);
void add_bulk_routes(net::HttpRouter& router, const Api& api);
void add_transfer_routes(net::HttpRouter& router, const Api& api);

}  // namespace hoist::service
