#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "service/monitoring/latency_histogram.h"
#include "service/monitoring/metrics_json.h"
#include "service/monitoring/monitor.h"
#include "service/monitoring/prometheus.h"
#include "service/monitoring/routes.h"
#include "service/monitoring/time_text.h"

namespace hoist::service {
namespace {

using Json = nlohmann::json;

ServiceFacts some_facts() {
  ServiceFacts facts{.sessions = 3,
                     .sessions_created = 5,
                     .sessions_deleted = 1,
                     .sessions_expired = 1,
                     .connections = 7};
  NodeFacts node;
  node.node = "a \"node\"\n\\";
  node.opened = node.last_used = std::chrono::system_clock::now();
  node.patterns = 100;
  node.recent_patterns = 10;
  node.device = "cuda:0";
  node.device_memory = {{"cuda:0", 3000}};
  facts.nodes.push_back(node);
  facts.gpus.push_back({"cuda:0", "A \"GPU\"", 80'000, 100'000});
  return facts;
}

// Keeps what a handler answers.
struct Kept : net::HttpReplyPath {
  void send(uint64_t, net::HttpResponse response) override { answer = std::move(response); }
  net::HttpResponse answer{.status = 0};
};

net::HttpResponse ask(const net::HttpRouter& router, const std::string& method,
                      const std::string& path, net::HttpRequest request = {}) {
  net::HttpRouter::Match match = router.find(method, path);
  if (match.route == nullptr) return {.status = match.status};
  request.method = method;
  request.path = path;
  request.parameters = std::move(match.parameters);
  const auto kept = std::make_shared<Kept>();
  match.route->handler(std::move(request), net::HttpReply(kept, 1));
  return kept->answer;
}

TEST(LatencyHistogram, QuantilesAreWithinABucketOfTheSortedOnes) {
  std::mt19937_64 random(3);
  for (const double most : {1e-5, 1e-3, 0.3, 20.0}) {
    LatencyHistogram histogram;
    std::vector<double> all(1000);
    std::uniform_real_distribution<double> seconds(2e-6, most);
    for (double& value : all) histogram.add(value = seconds(random));
    std::sort(all.begin(), all.end());
    const LatencyHistogram::Counts counts = histogram.counts();
    EXPECT_EQ(counts.count, all.size());
    double sum = 0;
    for (const double value : all) sum += value;
    EXPECT_NEAR(counts.sum, sum, 1e-6 * 1000);
    for (const double q : {0.01, 0.5, 0.9, 0.99, 1.0}) {
      const double exact = all[static_cast<size_t>(std::ceil(q * 1000)) - 1];
      EXPECT_GE(counts.quantile(q), exact);
      EXPECT_LE(counts.quantile(q), exact * 1.13);
    }
  }
}

TEST(LatencyHistogram, EdgesFallIntoTheFirstAndTheLastBucket) {
  LatencyHistogram histogram;
  for (const double seconds : {0.0, -1.0, 1e-9, 1e300, 64.0, 1000.0}) histogram.add(seconds);
  const LatencyHistogram::Counts counts = histogram.counts();
  EXPECT_EQ(counts.buckets.front(), 3U);
  EXPECT_EQ(counts.count, 6U);
  EXPECT_EQ(counts.at_most(0.001), 3U);
  EXPECT_EQ(counts.quantile(1), 64);
  EXPECT_EQ(LatencyHistogram::Counts().quantile(0.5), 0);
  for (size_t i = 1; i + 1 < LatencyHistogram::kBuckets; ++i) {
    EXPECT_LT(LatencyHistogram::upper_end(i - 1), LatencyHistogram::upper_end(i));
  }
}

TEST(LatencyHistogram, SinceIsWhatWasAddedMeanwhile) {
  LatencyHistogram histogram;
  histogram.add(1);
  const LatencyHistogram::Counts before = histogram.counts();
  histogram.add(0.01);
  const LatencyHistogram::Counts since = histogram.counts().since(before);
  EXPECT_EQ(since.count, 1U);
  EXPECT_NEAR(since.mean(), 0.01, 1e-8);
}

TEST(Monitor, CountsAndTimesWatchedHandlers) {
  Monitor monitor("/", 100, some_facts);
  net::HttpRouter router;
  int status = 200;
  router.add("GET", "/x", monitor.watch(Work::predict, [&](net::HttpRequest, net::HttpReply reply) {
    EXPECT_EQ(monitor.under_way(), 1U);
    if (status != 0) reply.send({.status = status});  // else dropped: answered with 500
  }));
  EXPECT_EQ(ask(router, "GET", "/x").status, 200);
  status = 404;
  EXPECT_EQ(ask(router, "GET", "/x").status, 404);
  status = 0;
  EXPECT_EQ(ask(router, "GET", "/x").status, 500);
  monitor.take_sample();
  EXPECT_EQ(monitor.under_way(), 0U);
  EXPECT_EQ(monitor.most_under_way(), 1U);
  EXPECT_EQ(monitor.latencies(Work::predict).count, 3U);
  EXPECT_EQ(monitor.all_latencies().count, 3U);
  EXPECT_EQ(monitor.latest().failed, 2U);
  EXPECT_EQ(monitor.latest().errors, 1U);
}

TEST(Monitor, ManyThreadsLoseNothing) {
  Monitor monitor("/", 100, some_facts);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) {
        monitor.begin_request();
        monitor.end_request(Work::observe, i % 2 == 0 ? 200 : 503, 1e-4);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  monitor.take_sample();
  EXPECT_EQ(monitor.latencies(Work::observe).count, 40'000U);
  EXPECT_EQ(monitor.latest().errors, 20'000U);
  EXPECT_EQ(monitor.under_way(), 0U);
  EXPECT_LE(monitor.most_under_way(), 4U);
}

TEST(MonitoringRoutes, AnswerWithTheReferencesKeys) {
  Monitor monitor("/", 100, some_facts);
  net::HttpRouter router;
  add_monitoring_routes(router, monitor, 2);
  const auto has = [](const Json& json, std::initializer_list<const char*> keys) {
    for (const char* key : keys) EXPECT_TRUE(json.contains(key)) << key << " in " << json.dump();
  };
  const auto get = [&](const std::string& path) {
    const net::HttpResponse answer = ask(router, "GET", path);
    EXPECT_EQ(answer.status, 200) << path;
    return Json::parse(answer.body);
  };
  has(get("/health"), {"status", "processor_status", "service_name", "uptime_seconds", "issues",
                       "metrics_collected", "last_collection", "active_sessions", "timestamp"});
  has(get("/status"),
      {"status", "base_processor_id", "uptime_seconds", "sessions", "processors", "version"});
  const Json metrics = get("/metrics");
  has(metrics, {"timestamp", "sessions", "performance", "resources", "databases", "rates",
                "processor_manager", "uptime_seconds", "active_sessions"});
  has(metrics["sessions"], {"total_created", "total_deleted", "active", "operations_total"});
  EXPECT_EQ(metrics["sessions"]["active"], 3);
  has(metrics["performance"],
      {"total_requests", "total_errors", "error_rate", "average_response_time"});
  EXPECT_GT(metrics["performance"]["average_response_time"], 0);
  for (const char* key : {"cpu_percent", "memory_percent", "disk_percent"}) {
    EXPECT_GE(metrics["resources"][key], 0);
    EXPECT_LE(metrics["resources"][key], 100);
  }
  EXPECT_GT(metrics["resources"]["memory_percent"], 0);
  EXPECT_EQ(metrics["processor_manager"]["total_processors"], 1);
  const Json stats = get("/stats");
  EXPECT_EQ(stats["time_range_minutes"], 10);
  has(stats["time_series"], {"kato_cpu_usage_percent", "kato_memory_usage_percent",
                             "kato_requests_total", "kato_request_duration_seconds"});
  has(stats["summary"], {"sessions", "performance", "resources", "databases"});
  has(get("/metrics/response_time"),
      {"metric_name", "time_range_minutes", "timestamp", "statistics", "data_points"});
  has(get("/concurrency"),
      {"status", "current", "peak", "limits", "configuration", "recommendations", "timestamp"});
  has(get("/cache/stats"), {"cache_performance", "cache_health", "timestamp"});
  has(get("/distributed-stm/stats"), {"status", "distributed_stm_enabled", "timestamp"});
  has(get("/connection-pools"), {"status", "timestamp"});
  has(get("/openapi.json"), {"openapi", "info", "paths"});
  has(get("/live"), {"works", "nodes", "samples", "sessions"});
  has(get("/"), {"service", "version", "docs", "health", "session_support"});
  EXPECT_EQ(ask(router, "POST", "/cache/invalidate").status, 200);
  EXPECT_EQ(ask(router, "GET", "/metrics/no_such").status, 404);
  EXPECT_EQ(ask(router, "POST", "/health").status, 405);
}

TEST(MonitoringRoutes, MinutesHaveToBeAWholeNumberFromOne) {
  Monitor monitor("/", 100, some_facts);
  net::HttpRouter router;
  add_monitoring_routes(router, monitor, 2);
  for (const char* bad : {"", "0", "-1", "x", "1.5", "99999999999999999999"}) {
    EXPECT_EQ(ask(router, "GET", "/stats", {.query = {{"minutes", bad}}}).status, 422) << bad;
    EXPECT_EQ(ask(router, "GET", "/metrics/response_time", {.query = {{"minutes", bad}}}).status,
              422);
  }
  const net::HttpResponse answer = ask(router, "GET", "/stats", {.query = {{"minutes", "5"}}});
  EXPECT_EQ(Json::parse(answer.body)["time_range_minutes"], 5);
}

TEST(MonitoringRoutes, BrowsersGetThePage) {
  Monitor monitor("/", 100, some_facts);
  net::HttpRouter router;
  add_monitoring_routes(router, monitor, 2);
  const net::HttpResponse page =
      ask(router, "GET", "/", {.headers = {{"accept", "text/html,*/*;q=0.8"}}});
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_NE(page.body.find("</html>"), page.body.npos);
  EXPECT_NE(ask(router, "GET", "/status.js").body.find("/live"), std::string::npos);
}

// Each line is a comment or `name{labels} value`, and buckets grow.
TEST(Prometheus, TextIsWellFormed) {
  Monitor monitor("/", 100, some_facts);
  for (int i = 0; i < 100; ++i) {
    monitor.begin_request();
    monitor.end_request(Work::predict, 200, i * 1e-3);
  }
  const std::string text = prometheus_text(monitor);
  const std::regex value(
      R"re(^[a-z_]+(\{[a-z_]+="([^"\\\n]|\\.)*"(,[a-z_]+="([^"\\\n]|\\.)*")*\})? [-+0-9.e]+$)re");
  std::istringstream lines(text);
  uint64_t before = 0;
  size_t buckets = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# HELP ") || line.starts_with("# TYPE ")) continue;
    EXPECT_TRUE(std::regex_match(line, value)) << line;
    if (!line.starts_with("kato_gpu_query_duration_seconds_bucket")) continue;
    const uint64_t count = std::stoull(line.substr(line.rfind(' ') + 1));
    EXPECT_GE(count, before);
    before = count;
    ++buckets;
  }
  EXPECT_EQ(buckets, 17U);
  EXPECT_EQ(before, 100U);
  EXPECT_NE(text.find(R"(kato_gpu_pattern_count{node="a \"node\"\n\\"} 90)"), text.npos);
}

TEST(Gpus, AreInEveryAnswerThatTellsOfMemory) {
  Monitor monitor("/", 100, some_facts);
  const Json gpus = Json::array({{{"device", "cuda:0"},
                                  {"name", "A \"GPU\""},
                                  {"memory_used_bytes", 80'000},
                                  {"memory_total_bytes", 100'000}}});
  const Json held = {{"cuda:0", 3000}};
  const Json live = live_json(monitor);
  EXPECT_EQ(live["gpus"], gpus);
  EXPECT_EQ(live["nodes"][0]["device_memory_bytes"], held);
  const Json metrics = metrics_json(monitor);
  EXPECT_EQ(metrics["gpus"], gpus);
  EXPECT_EQ(metrics["processor_manager"]["processors"][0]["device_memory_bytes"], held);
  const Json stats = stats_json(monitor, std::chrono::minutes(1));
  EXPECT_EQ(stats["summary"]["gpus"], gpus);
  const std::string text = prometheus_text(monitor);
  for (const char* line :
       {R"(kato_gpu_memory_bytes{device="cuda:0",name="A \"GPU\""} 80000)",
        R"(hoist_gpu_memory_total_bytes{device="cuda:0",name="A \"GPU\""} 100000)",
        R"(hoist_index_device_memory_bytes{node="a \"node\"\n\\",device="cuda:0"} 3000)"}) {
    EXPECT_NE(text.find(std::string("\n") + line + "\n"), text.npos) << line << "\n" << text;
  }
}

TEST(Gpus, AreAbsentWhereNoneIsOpen) {
  Monitor monitor("/", 100, [] {
    ServiceFacts facts = some_facts();
    facts.nodes[0].device_memory.clear();
    facts.gpus.clear();
    return facts;
  });
  const Json live = live_json(monitor);
  EXPECT_EQ(live["gpus"], Json::array());
  EXPECT_EQ(live["nodes"][0]["device_memory_bytes"], Json::object());
  const std::string text = prometheus_text(monitor);
  for (const char* name : {"gpu_memory", "device_memory"}) {
    EXPECT_EQ(text.find(name), text.npos) << name;
  }
}

TEST(TimeText, IsIsoWithMicroseconds) {
  using std::chrono::microseconds;
  const SystemTime epoch;
  EXPECT_EQ(iso_time(epoch + microseconds(1'000'001)), "1970-01-01T00:00:01.000001+00:00");
  EXPECT_EQ(iso_time(epoch + std::chrono::seconds(1'764'288'000)),
            "2025-11-28T00:00:00.000000+00:00");
}

}  // namespace
}  // namespace hoist::service
