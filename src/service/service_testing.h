// The service without sockets, for tests: requests go to the router's handlers.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "service/service.h"

namespace hoist::service {

using Json = nlohmann::ordered_json;

struct Kept : net::HttpReplyPath {
  void send(uint64_t, net::HttpResponse response) override {
    const std::lock_guard lock(mutex);
    answer = std::move(response);
    changed.notify_all();
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<net::HttpResponse> answer;
};

class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest() { start(); }
  ~ServiceTest() override {
    service_.reset();
    std::filesystem::remove_all(folder_);
  }

  void start(bool durable = false, size_t most_open = 256, const std::string& device = "cpu") {
    router_ = {};
    service_.reset();
    ServiceOptions options;
    options.node.folder = folder_;
    options.node.device = device;
    options.node.most_open = most_open;
    options.durable_sessions = durable;
    auto service = Service::open(options);
    ASSERT_TRUE(service) << service.error().message;
    service_ = *std::move(service);
    service_->add_routes(router_);
  }

  net::HttpResponse ask(const std::string& method, const std::string& path, const Json& body = {},
                        std::vector<std::pair<std::string, std::string>> query = {}) {
    net::HttpRouter::Match match = router_.find(method, path);
    if (match.route == nullptr || !match.route->handler) return {.status = match.status};
    net::HttpRequest request;
    request.method = method;
    request.path = path;
    request.query = std::move(query);
    request.parameters = std::move(match.parameters);
    if (!body.is_null()) request.body = body.is_string() ? body.get<std::string>() : body.dump();
    const auto kept = std::make_shared<Kept>();
    match.route->handler(std::move(request), net::HttpReply(kept, 1));
    std::unique_lock lock(kept->mutex);
    kept->changed.wait(lock, [&] { return kept->answer.has_value(); });
    return *kept->answer;
  }
  Json json(const std::string& method, const std::string& path, const Json& body = {},
            std::vector<std::pair<std::string, std::string>> query = {}) {
    const net::HttpResponse answer = ask(method, path, body, std::move(query));
    EXPECT_EQ(answer.status, 200) << method << " " << path << ": " << answer.body;
    return Json::parse(answer.body, nullptr, false);
  }

  std::string session(const Json& config = Json::object(), const std::string& node = "node") {
    return json("POST", "/sessions", {{"node_id", node}, {"config", config}})["session_id"];
  }
  Json observe(const std::string& id, const Json& observation) {
    return json("POST", "/sessions/" + id + "/observe", observation);
  }
  void observe_all(const std::string& id, const std::vector<Event>& events) {
    for (const Event& event : events) observe(id, {{"strings", event}});
  }
  std::string learn(const std::string& id) {
    return json("POST", "/sessions/" + id + "/learn")["pattern_name"];
  }
  Json stm(const std::string& id) { return json("GET", "/sessions/" + id + "/stm")["stm"]; }
  Json predictions(const std::string& id) {
    return json("GET", "/sessions/" + id + "/predictions")["predictions"];
  }

  const std::string folder_ = ::testing::TempDir() + "service_test_" + std::to_string(::getpid());
  std::unique_ptr<Service> service_;
  net::HttpRouter router_;
};

}  // namespace hoist::service
