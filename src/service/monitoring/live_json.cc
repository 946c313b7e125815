#include <nlohmann/json.hpp>

#include "service/monitoring/facts_json.h"
#include "service/monitoring/metrics_json.h"
#include "service/monitoring/time_text.h"

namespace hoist::service {

using Json = nlohmann::ordered_json;

Json live_json(const Monitor& monitor) {
  const ServiceFacts facts = monitor.facts();
  const std::vector<Sample> samples = monitor.samples(std::chrono::minutes(2));
  Json works = Json::array();
  for (size_t i = 0; i < kWorks; ++i) {
    const auto work = static_cast<Work>(i);
    const LatencyHistogram::Counts counts = monitor.latencies(work);
    works.push_back({{"work", name(work)},
                     {"count", counts.count},
                     {"p50", counts.quantile(0.5)},
                     {"p95", counts.quantile(0.95)},
                     {"p99", counts.quantile(0.99)}});
  }
  Json times = Json::array(), requests = Json::array(), predict = Json::array();
  for (size_t i = 1; i < samples.size(); ++i) {
    times.push_back(unix_time(samples[i].time));
    requests.push_back(samples[i].requests - samples[i - 1].requests);
    predict.push_back({samples[i].predict_p50, samples[i].predict_p99});
  }
  return {{"uptime_seconds", monitor.uptime_seconds()},
          {"version", HOIST_VERSION},
          {"sessions", facts.sessions},
          {"connections", facts.connections},
          {"under_way", monitor.under_way()},
          {"failed", monitor.latest().failed},
          {"resources", resources_json(monitor.latest())},
          {"works", std::move(works)},
          {"nodes", processors_json(facts)["processors"]},
          {"gpus", gpus_json(facts)},
          {"fallbacks", monitor.fallbacks()},
          {"samples",
           {{"time", std::move(times)},
            {"requests", std::move(requests)},
            {"predict", std::move(predict)}}}};
}

}  // namespace hoist::service
