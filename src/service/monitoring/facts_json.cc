#include "service/monitoring/facts_json.h"

#include "service/monitoring/time_text.h"

namespace hoist::service {

using Json = nlohmann::ordered_json;

Json processors_json(const ServiceFacts& facts) {
  const SystemTime now = std::chrono::system_clock::now();
  Json list = Json::array();
  for (const NodeFacts& node : facts.nodes) {
    list.push_back({{"processor_id", node.node},
                    {"node_id", node.node},
                    {"created_at", iso_time(node.opened)},
                    {"last_accessed", iso_time(node.last_used)},
                    {"access_count", node.uses},
                    {"idle_seconds", unix_time(now) - unix_time(node.last_used)},
                    {"patterns", node.patterns},
                    {"recent_patterns", node.recent_patterns},
                    {"symbols", node.symbols},
                    {"memory_bytes", node.memory},
                    {"syncs", node.syncs},
                    {"last_sync_seconds", node.last_sync_seconds},
                    {"last_sync_error", node.last_sync_error},
                    {"device", node.device},
                    {"device_memory_bytes", node.device_memory}});
  }
  return {{"total_processors", facts.nodes.size()}, {"processors", std::move(list)}};
}

Json gpus_json(const ServiceFacts& facts) {
  Json list = Json::array();
  for (const GpuFacts& gpu : facts.gpus) {
    list.push_back({{"device", gpu.device},
                    {"name", gpu.name},
                    {"memory_used_bytes", gpu.used},
                    {"memory_total_bytes", gpu.total}});
  }
  return list;
}

Json resources_json(const Sample& latest) {
  return {{"cpu_percent", latest.system.cpu_percent},
          {"memory_percent", latest.system.memory_percent},
          {"disk_percent", latest.system.disk_percent},
          {"resident_bytes", latest.system.resident_bytes}};
}

}  // namespace hoist::service
