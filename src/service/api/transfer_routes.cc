// Patterns in and out as lines of JSON, and snapshots of nodes, while others observe and learn.
#include <fmt/core.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/file.h"
#include "net/http/body_pipe.h"
#include "service/api/routes.h"
#include "service/node/pattern_lines.h"
#include "service/node/snapshots.h"

namespace hoist::service {
namespace {

using Request = const net::HttpRequest&;

constexpr size_t kMostLine = 16 << 20;
constexpr uint64_t kManyPatterns = 1000;

// Lines of a body that comes in pieces.
class BodyLines {
 public:
  explicit BodyLines(net::HttpBodyReader body) : body_(std::move(body)) {}

  // Nothing at the end. `cancelled` where the client is gone, `invalid_argument` for a line of more
  // than 16 MiB.
  Result<std::optional<std::string>> next() {
    for (;;) {
      const size_t end = text_.find('\n', begin_);
      if (end != text_.npos) {
        std::string line = text_.substr(begin_, end - begin_);
        begin_ = end + 1;
        return std::optional(std::move(line));
      }
      text_.erase(0, begin_);
      begin_ = 0;
      if (text_.size() > kMostLine) {
        return fail(ErrorCode::invalid_argument, "a line has more than 16 MiB");
      }
      const size_t before = text_.size();
      text_.resize(before + kPiece);
      const auto got = body_.read(std::span(text_).subspan(before));
      text_.resize(before + (got ? *got : 0));
      if (!got) return got.error();
      if (*got > 0) continue;
      if (text_.empty()) return std::optional<std::string>();
      return std::optional(std::exchange(text_, {}));
    }
  }

 private:
  static constexpr size_t kPiece = 64 << 10;
  net::HttpBodyReader body_;
  std::string text_;
  size_t begin_ = 0;
};

// Learns line by line; what was learned before a wrong line stays, and the answer says how many.
net::HttpResponse import(Node& node, net::HttpBodyReader body) {
  BodyLines lines(std::move(body));
  uint64_t learned = 0, number = 0;
  const auto refused = [&](const Error& error) {
    net::HttpResponse response = error_response(error);
    return detail(response.status,
                  {{"message", error.message}, {"line", number}, {"patterns_learned", learned}});
  };
  for (;;) {
    const auto line = lines.next();
    ++number;
    if (!line) return refused(line.error());
    if (!*line) break;
    if ((*line)->find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto record = parse_pattern_line(**line);
    if (!record) return refused(record.error());
    if (Status done = node.learn(*record); !done) return refused(done.error());
    ++learned;
  }
  // Otherwise the last of many patterns would be scanned one by one until the next sync by itself.
  if (const std::shared_ptr<match::Index> index = node.index(); index && learned >= kManyPatterns) {
    if (Status synced = index->sync(); !synced) return refused(synced.error());
  }
  return json_response({{"status", "okay"}, {"node_id", node.id()}, {"patterns_learned", learned}});
}

void export_patterns(const Node& node, net::HttpBodyWriter writer) {
  const std::shared_ptr<match::Index> index = node.index();
  std::string piece;
  bool goes_on = true;
  if (index != nullptr) {
    index->visit([&](const match::VisitedPattern& pattern) {
      const auto metadata = index->metadata(pattern.name);
      piece += pattern_line(pattern, metadata ? *metadata : std::string());
      piece += '\n';
      if (piece.size() >= (64 << 10)) goes_on = writer.write(std::exchange(piece, {}));
      return goes_on;
    });
  }
  if (goes_on && writer.write(piece)) writer.finish();
}

}  // namespace

void add_transfer_routes(net::HttpRouter& router, const Api& api) {
  router.add_upload(
      "POST", "/nodes/{node}/patterns",
      [api](net::HttpRequest request, net::HttpBodyReader body, net::HttpReply reply) {
        const auto read = std::make_shared<net::HttpBodyReader>(std::move(body));
        Api::answer_in(api.transfers, std::move(request), std::move(reply),
                       [api, read](Request asked) {
                         const auto node = api.nodes.get(asked.parameters.at(0));
                         if (!node) return error_response(node.error());
                         return import(**node, std::move(*read));
                       });
      });
  router.add("GET", "/nodes/{node}/patterns",
             [api](net::HttpRequest request, net::HttpReply reply) {
               const auto answered = std::make_shared<net::HttpReply>(std::move(reply));
               const bool runs = api.transfers.run([api, answered, id = request.parameters.at(0)] {
                 const auto node = api.nodes.look(id);
                 if (!node) return answered->send(error_response(node.error()));
                 net::HttpBodyWriter writer;
                 net::HttpResponse response = {.content_type = "application/jsonl"};
                 response.source = writer.source();
                 answered->send(std::move(response));
                 export_patterns(**node, std::move(writer));
               });
               if (!runs) answered->send(busy());
             });

  const auto add =
      [&](const char* method, const char* path,
          std::function<net::HttpResponse(Request, const std::shared_ptr<Node>&)> answer) {
        api.add_in_background(router, Work::other, method, path,
                              [api, answer = std::move(answer)](Request request) {
                                const auto node = api.nodes.get(request.parameters.at(0));
                                return node ? answer(request, *node) : error_response(node.error());
                              });
      };
  add("GET", "/nodes/{node}/snapshots", [api](Request, const std::shared_ptr<Node>& node) {
    Json list = Json::array();
    for (const Snapshot& snapshot : api.snapshots.list(node->id())) {
      list.push_back({{"snapshot", snapshot.name}, {"bytes", snapshot.bytes}});
    }
    return json_response({{"snapshots", std::move(list)}, {"node_id", node->id()}});
  });
  add("POST", "/nodes/{node}/snapshots", [api](Request, const std::shared_ptr<Node>& node) {
    const auto made = api.snapshots.make(*node);
    if (!made) return error_response(made.error());
    return json_response(
        {{"snapshot", made->name}, {"bytes", made->bytes}, {"node_id", node->id()}});
  });
  add("DELETE", "/nodes/{node}/snapshots/{snapshot}",
      [api](Request request, const std::shared_ptr<Node>& node) {
        const std::string& name = request.parameters.at(1);
        if (Status removed = api.snapshots.remove(node->id(), name); !removed) {
          return error_response(removed.error());
        }
        return json_response({{"status", "deleted"}, {"snapshot", name}});
      });
  add("POST", "/nodes/{node}/snapshots/{snapshot}/restore",
      [api](Request request, const std::shared_ptr<Node>& node) {
        const std::string& name = request.parameters.at(1);
        const auto patterns = api.snapshots.restore(api.nodes, *node, name);
        if (!patterns) return error_response(patterns.error());
        return json_response({{"status", "restored"},
                              {"snapshot", name},
                              {"node_id", node->id()},
                              {"patterns", *patterns}});
      });
}

}  // namespace hoist::service
