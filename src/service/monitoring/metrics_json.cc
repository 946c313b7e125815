#include "service/monitoring/metrics_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "service/monitoring/facts_json.h"
#include "service/monitoring/time_text.h"

#ifndef HOIST_VERSION
#error "the build defines HOIST_VERSION"
#endif

namespace hoist::service {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::minutes kMinute(1);

// The metrics that have a history.
struct Metric {
  std::string_view name;
  double (*value)(const Sample& sample);
};
constexpr Metric kMetrics[] = {
    {"kato_cpu_usage_percent", [](const Sample& s) { return s.system.cpu_percent; }},
    {"kato_memory_usage_percent", [](const Sample& s) { return s.system.memory_percent; }},
    {"kato_memory_usage_bytes",
     [](const Sample& s) { return static_cast<double>(s.system.memory_bytes); }},
    {"kato_disk_usage_percent", [](const Sample& s) { return s.system.disk_percent; }},
    {"kato_requests_total", [](const Sample& s) { return static_cast<double>(s.requests); }},
    {"kato_request_duration_seconds", [](const Sample& s) { return s.mean_seconds; }},
    {"kato_requests_failed", [](const Sample& s) { return static_cast<double>(s.failed); }},
    {"kato_errors_total", [](const Sample& s) { return static_cast<double>(s.errors); }},
    {"kato_sessions_active", [](const Sample& s) { return static_cast<double>(s.sessions); }},
    {"kato_sessions_total",
     [](const Sample& s) { return static_cast<double>(s.sessions_created); }},
    {"kato_gpu_pattern_count", [](const Sample& s) { return static_cast<double>(s.patterns); }},
    {"response_time", [](const Sample& s) { return s.mean_seconds; }},
};

// A number's growth a second over the last minute.
double rate(const Monitor& monitor, double (*value)(const Sample& sample)) {
  const std::vector<Sample> samples = monitor.samples(kMinute);
  if (samples.size() < 2) return 0;
  const double seconds = unix_time(samples.back().time) - unix_time(samples.front().time);
  return seconds > 0 ? (value(samples.back()) - value(samples.front())) / seconds : 0;
}

double mean_of_last_minute(const Monitor& monitor) {
  const LatencyHistogram::Counts now = monitor.all_latencies();
  const std::vector<Sample> samples = monitor.samples(kMinute);
  // The service is younger than a minute, or nobody asked anything since.
  if (samples.empty() || samples.front().requests >= now.count) return now.mean();
  return (now.sum - samples.front().request_seconds) /
         static_cast<double>(now.count - samples.front().requests);
}

Json sessions(const Monitor& monitor, const ServiceFacts& facts) {
  return {
      {"total_created", facts.sessions_created},
      {"total_deleted", facts.sessions_deleted},
      {"total_expired", facts.sessions_expired},
      {"active", facts.sessions},
      {"operations_total", monitor.all_latencies().count - monitor.latencies(Work::other).count}};
}

Json performance(const Monitor& monitor, const Sample& latest) {
  const LatencyHistogram::Counts all = monitor.all_latencies();
  const double count = static_cast<double>(std::max<uint64_t>(all.count, 1));
  return {{"total_requests", all.count},
          {"total_errors", latest.errors},
          {"error_rate", static_cast<double>(latest.errors) / count},
          {"average_response_time", mean_of_last_minute(monitor)}};
}

// The reference asks three databases; here the index of each node is what they are together.
Json databases(const Sample& latest) {
  const Json none = {{"operations", 0}, {"errors", 0}, {"avg_response_time", 0.0}};
  return {{"clickhouse", none},
          {"qdrant", none},
          {"redis", none},
          {"index",
           {{"patterns", latest.patterns},
            {"recent_patterns", latest.recent_patterns},
            {"memory_bytes", latest.index_memory}}}};
}

Json history(const Metric& metric, std::span<const Sample> samples) {
  Json points = Json::array();
  for (const Sample& sample : samples) {
    points.push_back({{"timestamp", unix_time(sample.time)},
                      {"value", metric.value(sample)},
                      {"labels", Json::object()}});
  }
  return points;
}

}  // namespace

Json root_json(const Monitor& monitor) {
  return {{"service", "hoist"},
          {"version", HOIST_VERSION},
          {"description", "hoist match serve: sessions that observe, learn and predict"},
          {"docs", "/openapi.json"},
          {"health", "/health"},
          {"status", "/status"},
          {"uptime_seconds", monitor.uptime_seconds()},
          {"architecture", "one index a node, in memory, with a durable store behind it"},
          {"session_support", true}};
}

Json health_json(const Monitor& monitor) {
  const Sample latest = monitor.latest();
  const ServiceFacts facts = monitor.facts();
  const char* status = "healthy";
  Json issues = Json::array();
  if (rate(monitor, [](const Sample& s) { return static_cast<double>(s.errors); }) > 10) {
    status = "degraded";
    issues.push_back("more than 10 requests a second fail");
  }
  for (const NodeFacts& node : facts.nodes) {
    if (node.last_sync_error.empty()) continue;
    status = "degraded";
    issues.push_back(
        fmt::format("node {}: the last sync failed: {}", node.node, node.last_sync_error));
  }
  if (latest.system.disk_percent > 95) {
    status = "degraded";
    issues.push_back("the disk is almost full");
  }
  if (latest.system.memory_percent > 95) {
    status = "degraded";
    issues.push_back("memory is almost used up");
  }
  return {{"status", status},
          {"processor_status", "healthy"},
          {"service_name", "hoist"},
          {"uptime_seconds", monitor.uptime_seconds()},
          {"issues", std::move(issues)},
          {"metrics_collected", std::size(kMetrics)},
          {"last_collection", unix_time(latest.time)},
          {"active_sessions", facts.sessions},
          {"timestamp", iso_time(std::chrono::system_clock::now())}};
}

Json status_json(const Monitor& monitor) {
  const ServiceFacts facts = monitor.facts();
  return {{"status", "healthy"},
          {"base_processor_id", "hoist"},
          {"uptime_seconds", monitor.uptime_seconds()},
          {"sessions", sessions(monitor, facts)},
          {"processors", processors_json(facts)},
          {"version", HOIST_VERSION}};
}

Json metrics_json(const Monitor& monitor) {
  const Sample latest = monitor.latest();
  const ServiceFacts facts = monitor.facts();
  const double requests =
      rate(monitor, [](const Sample& s) { return static_cast<double>(s.requests); });
  const double errors =
      rate(monitor, [](const Sample& s) { return static_cast<double>(s.errors); });
  const double created =
      rate(monitor, [](const Sample& s) { return static_cast<double>(s.sessions_created); });
  return {{"timestamp", unix_time(std::chrono::system_clock::now())},
          {"sessions", sessions(monitor, facts)},
          {"performance", performance(monitor, latest)},
          {"resources", resources_json(latest)},
          {"gpus", gpus_json(facts)},
          {"databases", databases(latest)},
          {"rates",
           {{"requests_per_second", requests},
            {"requests_per_minute", requests * 60},
            {"errors_per_minute", errors * 60},
            {"sessions_per_minute", created * 60}}},
          {"processor_manager", processors_json(facts)},
          {"uptime_seconds", monitor.uptime_seconds()},
          {"active_sessions", facts.sessions}};
}

Json stats_json(const Monitor& monitor, std::chrono::minutes span) {
  const Sample latest = monitor.latest();
  const ServiceFacts facts = monitor.facts();
  const std::vector<Sample> samples = monitor.samples(span);
  Json series = Json::object();
  for (const Metric& metric : kMetrics) series[std::string(metric.name)] = history(metric, samples);
  Json current = health_json(monitor);
  return {{"time_range_minutes", span.count()},
          {"timestamp", unix_time(std::chrono::system_clock::now())},
          {"processor_manager", processors_json(facts)},
          {"current_status", std::move(current)},
          {"time_series", std::move(series)},
          {"summary",
           {{"sessions", sessions(monitor, facts)},
            {"performance", performance(monitor, latest)},
            {"resources", resources_json(latest)},
            {"gpus", gpus_json(facts)},
            {"databases", databases(latest)}}}};
}

std::optional<Json> metric_json(const Monitor& monitor, std::string_view wanted,
                                std::chrono::minutes span) {
  const auto metric = std::find_if(std::begin(kMetrics), std::end(kMetrics),
                                   [&](const Metric& each) { return each.name == wanted; });
  if (metric == std::end(kMetrics)) return std::nullopt;
  const std::vector<Sample> samples = monitor.samples(span);
  if (samples.empty()) return std::nullopt;
  double least = metric->value(samples.front());
  double most = least;
  double sum = 0;
  for (const Sample& sample : samples) {
    const double value = metric->value(sample);
    least = std::min(least, value);
    most = std::max(most, value);
    sum += value;
  }
  return Json{{"metric_name", wanted},
              {"time_range_minutes", span.count()},
              {"timestamp", unix_time(std::chrono::system_clock::now())},
              {"statistics",
               {{"count", samples.size()},
                {"min", least},
                {"max", most},
                {"avg", sum / static_cast<double>(samples.size())}}},
              {"data_points", history(*metric, samples)}};
}

Json concurrency_json(const Monitor& monitor, unsigned threads) {
  const double limit = static_cast<double>(std::max<uint64_t>(monitor.limit(), 1));
  const auto percent = [&](uint64_t count) { return static_cast<double>(count) / limit * 100; };
  const double now = percent(monitor.under_way());
  const double peak = percent(monitor.most_under_way());
  const auto level = [](double used) {
    return used >= 95 ? "critical" : used >= 80 ? "warning" : "healthy";
  };
  Json advice = Json::array();
  advice.push_back(
      {{"level", peak >= 95   ? "critical"
                 : peak >= 80 ? "warning"
                              : "info"},
       {"message",
        fmt::format("At most {} of {} requests were under way at once.{}", monitor.most_under_way(),
                    monitor.limit(),
                    peak >= 80 ? " Raise --max-requests, or send fewer at once." : "")}});
  return {
      {"status", level(now)},
      {"current", {{"concurrent_requests", monitor.under_way()}, {"utilization_percent", now}}},
      {"peak", {{"concurrent_requests", monitor.most_under_way()}, {"utilization_percent", peak}}},
      {"limits",
       {{"per_worker", monitor.limit()},
        {"warning_threshold", monitor.limit() * 80 / 100},
        {"critical_threshold", monitor.limit() * 95 / 100},
        {"total_capacity", monitor.limit()}}},
      {"configuration", {{"workers", 1}, {"threads", threads}, {"max_requests", "unlimited"}}},
      {"recommendations", std::move(advice)},
      {"timestamp", iso_time(std::chrono::system_clock::now())}};
}

}  // namespace hoist::service
