#include "service/monitoring/routes.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "service/monitoring/metrics_json.h"
#include "service/monitoring/prometheus.h"
#include "service/monitoring/time_text.h"
#include "service/pages.h"

namespace hoist::service {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostMinutes = 60;  // samples are kept so long

net::HttpResponse json_response(const Json& json) {
  // A client's text may be in it: what is no UTF-8 is replaced.
  return {.body = json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

net::HttpResponse page(std::string_view type, std::string_view text) {
  return {.content_type = std::string(type),
          .headers = {{"cache-control", "no-cache"},
                      {"x-content-type-options", "nosniff"},
                      {"content-security-policy",
                       "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; "
                       "img-src data:; connect-src 'self'; frame-ancestors 'none'"}},
          .body = std::string(text)};
}

// The argument `minutes`: a whole number from 1; longer than an hour is an hour.
std::optional<std::chrono::minutes> minutes_of(const net::HttpRequest& request) {
  const std::string* text = request.argument("minutes");
  if (text == nullptr) return std::chrono::minutes(10);
  int64_t minutes = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), minutes);
  if (error != std::errc() || end != text->data() + text->size() || minutes < 1) {
    return std::nullopt;
  }
  return std::chrono::minutes(std::min(minutes, kMostMinutes));
}

net::HttpResponse bad_minutes(const net::HttpRequest& request) {
  net::HttpResponse response =
      json_response({{"detail",
                      {{{"type", "int_parsing"},
                        {"loc", {"query", "minutes"}},
                        {"msg", "Input should be a whole number of minutes, 1 or more"},
                        {"input", *request.argument("minutes")}}}}});
  response.status = 422;
  return response;
}

// The reference's caches hold what it fetches from its databases; the index is in memory.
Json no_cache() {
  return {{"cache_performance",
           {{"status", "disabled"}, {"reason", "the index is in memory: there is no cache"}}},
          {"cache_health", {{"status", "disabled"}}},
          {"timestamp", iso_time(std::chrono::system_clock::now())}};
}

}  // namespace

void add_monitoring_routes(net::HttpRouter& router, Monitor& monitor, unsigned threads) {
  using Answer = std::function<net::HttpResponse(const net::HttpRequest&)>;
  const auto add = [&](const char* method, const char* pattern, Answer answer) {
    router.add(method, pattern,
               monitor.watch(Work::other, [answer = std::move(answer)](net::HttpRequest request,
                                                                       net::HttpReply reply) {
                 reply.send(answer(request));
               }));
  };
  const auto add_json = [&](const char* pattern, std::function<Json()> json) {
    add("GET", pattern,
        [json = std::move(json)](const net::HttpRequest&) { return json_response(json()); });
  };
  const auto now = [] { return iso_time(std::chrono::system_clock::now()); };

  add_json("/health", [&] { return health_json(monitor); });
  add_json("/status", [&] { return status_json(monitor); });
  add_json("/metrics", [&] { return metrics_json(monitor); });
  add_json("/live", [&] { return live_json(monitor); });
  add_json("/concurrency", [&, threads] { return concurrency_json(monitor, threads); });
  add_json("/cache/stats", no_cache);
  add("POST", "/cache/invalidate", [now](const net::HttpRequest&) {
    return json_response({{"status", "disabled"},
                          {"reason", "the index is in memory: there is no cache"},
                          {"timestamp", now()}});
  });
  add_json("/distributed-stm/stats", [&, now] {
    return Json{{"status", "disabled"},
                {"distributed_stm_enabled", false},
                {"reason", "short-term memories are in this process"},
                {"processor_info", {{"total_active_processors", monitor.facts().nodes.size()}}},
                {"timestamp", now()}};
  });
  add_json("/connection-pools", [now] {
    return Json{{"status", "healthy"},
                {"health", Json::object()},
                {"pool_statistics", Json::object()},
                {"timestamp", now()}};
  });
  add("GET", "/stats", [&](const net::HttpRequest& request) {
    const auto minutes = minutes_of(request);
    return minutes ? json_response(stats_json(monitor, *minutes)) : bad_minutes(request);
  });
  add("GET", "/metrics/prometheus", [&](const net::HttpRequest&) {
    return net::HttpResponse{.content_type = "text/plain; version=0.0.4; charset=utf-8",
                             .body = prometheus_text(monitor)};
  });
  add("GET", "/metrics/{name}", [&](const net::HttpRequest& request) {
    const auto minutes = minutes_of(request);
    if (!minutes) return bad_minutes(request);
    const std::string& name = request.parameters.at(0);
    if (const auto json = metric_json(monitor, name, *minutes)) return json_response(*json);
    return net::http_error(404, fmt::format("No data available for metric '{}'", name));
  });
  // Browsers get the page, clients what the reference tells them.
  add("GET", "/", [&](const net::HttpRequest& request) {
    const std::string* accept = request.header("accept");
    if (accept != nullptr && accept->find("text/html") != accept->npos) {
      return page("text/html; charset=utf-8", kStatusPage);
    }
    return json_response(root_json(monitor));
  });
  add("GET", "/status.js", [](const net::HttpRequest&) {
    return page("text/javascript; charset=utf-8", kStatusScript);
  });
  add("GET", "/openapi.json",
      [](const net::HttpRequest&) { return net::HttpResponse{.body = std::string(kOpenApi)}; });
}

}  // namespace hoist::service
