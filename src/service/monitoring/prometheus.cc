#include "service/monitoring/prometheus.h"

#include <fmt/core.h>

#include <iterator>
#include <string_view>

#include "service/monitoring/time_text.h"

namespace hoist::service {
namespace {

constexpr double kBounds[] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                              0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10};

// Backslash, quote and line feed are escaped in a label's value.
std::string label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

class Text {
 public:
  void head(std::string_view name, std::string_view type, std::string_view help) {
    fmt::format_to(std::back_inserter(out_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                   type);
  }
  template <typename Value>
  void value(std::string_view name, std::string_view labels, Value value) {
    fmt::format_to(std::back_inserter(out_), "{}{}{}{} {}\n", name, labels.empty() ? "" : "{",
                   labels, labels.empty() ? "" : "}", value);
  }
  template <typename Value>
  void single(std::string_view name, std::string_view type, std::string_view help, Value number) {
    head(name, type, help);
    value(name, {}, number);
  }
  void histogram(std::string_view name, std::string_view labels,
                 const LatencyHistogram::Counts& counts) {
    const std::string_view comma = labels.empty() ? "" : ",";
    const auto bucket = [&](std::string_view bound, uint64_t count) {
      value(fmt::format("{}_bucket", name), fmt::format("{}{}le=\"{}\"", labels, comma, bound),
            count);
    };
    for (const double bound : kBounds) bucket(fmt::format("{}", bound), counts.at_most(bound));
    bucket("+Inf", counts.count);
    value(fmt::format("{}_sum", name), labels, counts.sum);
    value(fmt::format("{}_count", name), labels, counts.count);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

bool is_on_gpu(const NodeFacts& node) { return node.device.starts_with("cuda"); }

void write_nodes(Text& text, const ServiceFacts& facts) {
  struct Gauge {
    std::string_view name, type, help;
    double (*value)(const NodeFacts& node);
  };
  constexpr Gauge kGauges[] = {
      {"hoist_patterns", "gauge", "Patterns of a node.",
       [](const NodeFacts& n) { return static_cast<double>(n.patterns); }},
      {"hoist_recent_patterns", "gauge", "Patterns that are not laid out for the scan yet.",
       [](const NodeFacts& n) { return static_cast<double>(n.recent_patterns); }},
      {"hoist_symbols", "gauge", "Different symbols of a node.",
       [](const NodeFacts& n) { return static_cast<double>(n.symbols); }},
      {"hoist_index_memory_bytes", "gauge", "Memory of a node's index.",
       [](const NodeFacts& n) { return static_cast<double>(n.memory); }},
      {"kato_gpu_sync_events_total", "counter", "Syncs since the node was opened.",
       [](const NodeFacts& n) { return static_cast<double>(n.syncs); }},
      {"kato_gpu_sync_duration_seconds", "gauge", "Time that the last sync took.",
       [](const NodeFacts& n) { return n.last_sync_seconds; }},
      {"kato_gpu_pattern_count", "gauge", "Patterns that are searched on a GPU.",
       [](const NodeFacts& n) {
         return is_on_gpu(n) ? static_cast<double>(n.patterns - n.recent_patterns) : 0;
       }},
  };
  for (const Gauge& gauge : kGauges) {
    text.head(gauge.name, gauge.type, gauge.help);
    for (const NodeFacts& node : facts.nodes) {
      text.value(gauge.name, fmt::format("node=\"{}\"", label(node.node)), gauge.value(node));
    }
  }
  text.head("kato_gpu_errors_total", "gauge", "1 where the last sync of a node failed.");
  for (const NodeFacts& node : facts.nodes) {
    text.value("kato_gpu_errors_total",
               fmt::format("error_type=\"sync\",node=\"{}\"", label(node.node)),
               node.last_sync_error.empty() ? 0 : 1);
  }
}

// Nothing of GPUs where none is open.
void write_gpus(Text& text, const ServiceFacts& facts) {
  if (facts.gpus.empty()) return;
  const auto labels = [](const GpuFacts& gpu) {
    return fmt::format("device=\"{}\",name=\"{}\"", label(gpu.device), label(gpu.name));
  };
  text.head("kato_gpu_memory_bytes", "gauge", "Memory of a GPU that is used, by all processes.");
  for (const GpuFacts& gpu : facts.gpus) text.value("kato_gpu_memory_bytes", labels(gpu), gpu.used);
  text.head("hoist_gpu_memory_total_bytes", "gauge", "Memory of a GPU.");
  for (const GpuFacts& gpu : facts.gpus) {
    text.value("hoist_gpu_memory_total_bytes", labels(gpu), gpu.total);
  }
  text.head("hoist_index_device_memory_bytes", "gauge", "What a node's index takes of it.");
  for (const NodeFacts& node : facts.nodes) {
    for (const auto& [device, bytes] : node.device_memory) {
      text.value("hoist_index_device_memory_bytes",
                 fmt::format("node=\"{}\",device=\"{}\"", label(node.node), label(device)), bytes);
    }
  }
}

}  // namespace

std::string prometheus_text(const Monitor& monitor) {
  const Sample latest = monitor.latest();
  const ServiceFacts facts = monitor.facts();
  Text text;
  text.single("kato_requests_total", "counter", "Requests answered.",
              monitor.all_latencies().count);
  text.single("kato_requests_failed", "counter", "Requests answered with 400 or above.",
              latest.failed);
  text.single("kato_errors_total", "counter", "Requests answered with 500 or above.",
              latest.errors);
  text.head("kato_request_duration_seconds", "histogram", "Time from a request to its answer.");
  for (size_t i = 0; i < kWorks; ++i) {
    const auto work = static_cast<Work>(i);
    text.histogram("kato_request_duration_seconds", fmt::format("work=\"{}\"", name(work)),
                   monitor.latencies(work));
  }
  text.head("kato_gpu_query_duration_seconds", "histogram",
            "Time of a prediction, wherever its patterns were searched.");
  text.histogram("kato_gpu_query_duration_seconds", {}, monitor.latencies(Work::predict));
  text.single("kato_gpu_fallback_events_total", "counter",
              "Searches that a GPU did not answer and the CPU did.", monitor.fallbacks());
  text.single("kato_sessions_active", "gauge", "Sessions that are alive.", facts.sessions);
  text.single("kato_sessions_total", "counter", "Sessions created.", facts.sessions_created);
  text.single("kato_sessions_expired", "counter", "Sessions whose time ran out.",
              facts.sessions_expired);
  text.single("hoist_connections", "gauge", "Open connections.", facts.connections);
  text.single("hoist_requests_under_way", "gauge", "Requests that are being answered.",
              monitor.under_way());
  text.single("kato_cpu_usage_percent", "gauge", "CPU use of the machine.",
              latest.system.cpu_percent);
  text.single("kato_memory_usage_percent", "gauge", "Memory use of the machine.",
              latest.system.memory_percent);
  text.single("kato_memory_usage_bytes", "gauge", "Memory use of the machine.",
              latest.system.memory_bytes);
  text.single("process_resident_memory_bytes", "gauge", "Memory of this process.",
              latest.system.resident_bytes);
  text.single("process_start_time_seconds", "gauge", "When this process started.",
              unix_time(monitor.started()));
  write_nodes(text, facts);
  write_gpus(text, facts);
  return text.take();
}

}  // namespace hoist::service
