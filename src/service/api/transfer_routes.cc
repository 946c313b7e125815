// Patterns in and out, as lines of JSON or as Arrow's record batches, and snapshots of nodes, while
// others observe and learn.
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/log.h"
#include "net/http/body_pipe.h"
#include "service/api/pattern_format.h"
#include "service/api/pattern_source.h"
#include "service/api/routes.h"
#include "service/node/pattern_batches.h"
#include "service/node/pattern_lines.h"
#include "service/node/snapshots.h"

namespace hoist::service {
namespace {

using Request = const net::HttpRequest&;

constexpr uint64_t kManyPatterns = 1000;

// Learns one by one; what was learned before a wrong one stays, and the answer says how many.
net::HttpResponse import(Node& node, PatternSource& source) {
  uint64_t learned = 0;
  const auto refused = [&](const Error& error) {
    Json what = {{"message", error.message}};
    what.update(source.place());
    what["patterns_learned"] = learned;
    return detail(error_response(error).status, what);
  };
  for (;; ++learned) {
    const auto record = source.next();
    if (!record) return refused(record.error());
    if (!*record) break;
    if (Status done = node.learn(**record); !done) return refused(done.error());
  }
  // Otherwise the last of many patterns would be scanned one by one until the next sync by itself.
  if (const std::shared_ptr<match::Index> index = node.index(); index && learned >= kManyPatterns) {
    if (Status synced = index->sync(); !synced) return refused(synced.error());
  }
  return json_response({{"status", "okay"}, {"node_id", node.id()}, {"patterns_learned", learned}});
}

Status write_to(net::HttpBodyWriter& writer, std::string_view bytes) {
  if (writer.write(bytes)) return {};
  return fail(ErrorCode::cancelled, "the client is gone");
}

Status export_lines(const Node& node, net::HttpBodyWriter& writer) {
  std::string piece;
  Status written;
  Status visited =
      node.visit([&](const match::VisitedPattern& pattern, const std::string& metadata) {
        piece += pattern_line(pattern, metadata);
        piece += '\n';
        if (piece.size() >= (64 << 10)) written = write_to(writer, std::exchange(piece, {}));
        return written.has_value();
      });
  if (!visited) return visited;
  return written ? write_to(writer, piece) : written;
}

Status export_batches(const Node& node, bool as_file, net::HttpBodyWriter& writer) {
  PatternBatchWriter patterns(as_file,
                              [&](std::string_view bytes) { return write_to(writer, bytes); });
  Status written = patterns.begin();
  if (!written) return written;
  Status visited =
      node.visit([&](const match::VisitedPattern& pattern, const std::string& metadata) {
        written = patterns.add(pattern, metadata);
        return written.has_value();
      });
  if (!visited) return visited;
  return written ? patterns.end() : written;
}

// A writer that is dropped unfinished tells the client that the answer is not whole.
void export_patterns(const Node& node, PatternFormat format, net::HttpBodyWriter writer) {
  const Status written = format == PatternFormat::json_lines
                             ? export_lines(node, writer)
                             : export_batches(node, format == PatternFormat::arrow_file, writer);
  if (written) return writer.finish();
  if (written.error().code != ErrorCode::cancelled) {
    log(LogLevel::warn, "an export of node {} ended: {}", node.id(), written.error().message);
  }
}

}  // namespace

void add_transfer_routes(net::HttpRouter& router, const Api& api) {
  router.add_upload(
      "POST", "/nodes/{node}/patterns",
      [api](net::HttpRequest request, net::HttpBodyReader body, net::HttpReply reply) {
        BodyFaults faults;
        const auto format = format_of_body(request, faults);
        if (!format) return reply.send(faults.response());
        const auto upload = std::make_shared<net::HttpBodyReader>(std::move(body));
        const auto exchange =
            std::make_shared<Exchange>(Exchange{std::move(request), std::move(reply)});
        Api::answer_in(
            api.pools.transfers, exchange,
            [api, exchange, upload, format = *format, gone = exchange->reply.client_gone()] {
              const auto node = api.nodes.get(exchange->request.parameters.at(0));
              if (!node) return error_response(node.error());
              const auto source = pattern_source(format, std::move(*upload), (*node)->stop(), gone);
              return import(**node, *source);
            });
      });
  router.add("GET", "/nodes/{node}/patterns",
             [api](net::HttpRequest request, net::HttpReply reply) {
               BodyFaults faults;
               const auto format = format_of_answer(request, faults);
               if (!format) return reply.send(faults.response());
               const auto answered = std::make_shared<net::HttpReply>(std::move(reply));
               const bool runs = api.pools.transfers.run(
                   [api, answered, format = *format, id = request.parameters.at(0)] {
                     const auto node = api.nodes.look(id);
                     if (!node) return answered->send(error_response(node.error()));
                     net::HttpBodyWriter writer;
                     net::HttpResponse response = {.content_type = content_type(format)};
                     response.source = writer.source();
                     answered->send(std::move(response));
                     export_patterns(**node, format, std::move(writer));
                   });
               if (!runs) answered->send(busy());
             });

  // `answer` gets the node's name. Looking at snapshots makes no node.
  const auto add = [&](const char* method, const char* path,
                       std::function<net::HttpResponse(Request, const std::string&)> answer) {
    api.add_in(router, api.pools.maintenance, Work::other, method, path,
               [api, answer = std::move(answer)](Request request) {
                 const std::string& id = request.parameters.at(0);
                 const auto is_there = api.nodes.exists(id);
                 return is_there ? answer(request, id) : error_response(is_there.error());
               });
  };
  add("GET", "/nodes/{node}/snapshots", [api](Request, const std::string& id) {
    Json list = Json::array();
    for (const Snapshot& snapshot : api.snapshots.list(id)) {
      list.push_back({{"snapshot", snapshot.name}, {"bytes", snapshot.bytes}});
    }
    return json_response({{"snapshots", std::move(list)}, {"node_id", id}});
  });
  add("POST", "/nodes/{node}/snapshots", [api](Request, const std::string& id) {
    const auto node = api.nodes.look(id);
    if (!node) return error_response(node.error());
    const auto made = api.snapshots.make(**node);
    if (!made) return error_response(made.error());
    return json_response({{"snapshot", made->name}, {"bytes", made->bytes}, {"node_id", id}});
  });
  add("DELETE", "/nodes/{node}/snapshots/{snapshot}",
      [api](Request request, const std::string& id) {
        const std::string& name = request.parameters.at(1);
        if (Status removed = api.snapshots.remove(id, name); !removed) {
          return error_response(removed.error());
        }
        return json_response({{"status", "deleted"}, {"snapshot", name}});
      });
  add("POST", "/nodes/{node}/snapshots/{snapshot}/restore",
      [api](Request request, const std::string& id) {
        const std::string& name = request.parameters.at(1);
        const auto patterns = api.snapshots.restore(api.nodes, id, name);
        if (!patterns) return error_response(patterns.error());
        return json_response(
            {{"status", "restored"}, {"snapshot", name}, {"node_id", id}, {"patterns", *patterns}});
      });
}

}  // namespace hoist::service
