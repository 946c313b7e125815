// The nodes themselves: which there are, and how one is deleted.
#include <fmt/core.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "service/api/routes.h"

namespace hoist::service {
namespace {

using Request = const net::HttpRequest&;

net::HttpResponse list(const Api& api) {
  const auto names = api.nodes.names();
  if (!names) return error_response(names.error());
  std::map<std::string, uint64_t, std::less<>> sessions;
  api.sessions.visit([&](const Session& session) { ++sessions[session.node]; });
  std::map<std::string, uint64_t, std::less<>> patterns;  // of those that are open
  for (const std::shared_ptr<Node>& node : api.nodes.all()) {
    const std::shared_ptr<match::Index> index = node->index();
    patterns[node->id()] = index != nullptr ? index->stats().patterns : 0;
  }
  Json nodes = Json::array();
  for (const std::string& name : *names) {
    const auto open = patterns.find(name);
    const auto alive = sessions.find(name);
    nodes.push_back({{"node_id", name},
                     {"open", open != patterns.end()},
                     {"patterns", open != patterns.end() ? Json(open->second) : Json()},
                     {"sessions", alive != sessions.end() ? alive->second : 0}});
  }
  return json_response({{"nodes", std::move(nodes)}, {"count", names->size()}});
}

// ?KEY=VALUE, where another value is a fault.
bool is_asked(Request request, const char* key, const char* value, BodyFaults& faults) {
  const std::string* given = request.argument(key);
  if (given == nullptr) return false;
  if (*given == value) return true;
  faults.add("literal_error", Place("query") / key, fmt::format("Input should be '{}'", value),
             *given);
  return false;
}

// Its sessions first: one that is still asked would make the node anew.
net::HttpResponse remove(const Api& api, Request request) {
  const std::string& id = request.parameters.at(0);
  BodyFaults faults;
  const bool ends_sessions = is_asked(request, "sessions", "end", faults);
  const bool removes_snapshots = is_asked(request, "snapshots", "delete", faults);
  if (!faults.empty()) return faults.response();
  const auto is_there = api.nodes.exists(id);
  if (!is_there) return error_response(is_there.error());
  // A deletion that was cut short may have left snapshots alone.
  if (!*is_there && !(removes_snapshots && !api.snapshots.list(id).empty())) {
    return detail(404, fmt::format("Node {} not found", id));
  }

  std::vector<std::string> sessions;
  api.sessions.visit([&](const Session& session) {
    if (session.node == id) sessions.push_back(session.id);
  });
  if (!sessions.empty() && !ends_sessions) {
    return detail(409, {{"message", fmt::format("Node {} has {} sessions: delete them first, or "
                                                "with the node by ?sessions=end",
                                                id, sessions.size())},
                        {"sessions", sessions.size()}});
  }
  uint64_t ended = 0;
  for (const std::string& session : sessions) {
    const auto one = api.sessions.peek(session);
    if (one == nullptr) continue;
    const auto is_ended = api.end_session(*one, "node_deleted");
    if (!is_ended) return error_response(is_ended.error());
    if (*is_ended) ++ended;
  }
  if (Status removed = api.nodes.remove(id);
      !removed && removed.error().code != ErrorCode::not_found) {
    return error_response(removed.error());
  }
  if (removes_snapshots) {
    if (Status removed = api.snapshots.remove_all(id); !removed) {
      return error_response(removed.error());
    }
  }
  return json_response({{"status", "deleted"},
                        {"node_id", id},
                        {"sessions_ended", ended},
                        {"snapshots_left", api.snapshots.list(id).size()}});
}

}  // namespace

void add_node_list_routes(net::HttpRouter& router, const Api& api) {
  api.add_in(router, api.pools.lists, Work::other, "GET", "/nodes",
             [api](Request) { return list(api); });
  api.add_in(router, api.pools.maintenance, Work::other, "DELETE", "/nodes/{node}",
             [api](Request request) { return remove(api, request); });
}

}  // namespace hoist::service
