#include "daemon/report.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <unistd.h>

#include <iterator>
#include <nlohmann/json.hpp>

namespace hoist::daemon {
namespace {

using Json = nlohmann::ordered_json;

// A packet's worth (see send_text()).
constexpr size_t kMostListed = 1000;

struct Sums {
  uint64_t clients = 0;
  uint64_t pool_bytes = 0;
  uint64_t buffers = 0;
  uint64_t device_bytes = 0;
};

Sums sum(const std::vector<ClientReport>& clients, bool ending) {
  Sums sums;
  for (const ClientReport& client : clients) {
    if (client.ending != ending) continue;
    ++sums.clients;
    sums.pool_bytes += client.pool_bytes;
    sums.buffers += client.buffers;
    sums.device_bytes += client.device_bytes;
  }
  return sums;
}

Json as_json(const Sums& sums) {
  return {{"clients", sums.clients},
          {"pool_bytes", sums.pool_bytes},
          {"buffers", sums.buffers},
          {"device_bytes", sums.device_bytes}};
}

uint64_t value(const std::atomic<uint64_t>& counter) {
  return counter.load(std::memory_order_relaxed);
}

}  // namespace

std::string to_json(const Report& report, const uid_t* only_of) {
  Json clients = Json::array();
  for (const ClientReport& client : report.clients) {
    if ((only_of != nullptr && client.uid != *only_of) || clients.size() == kMostListed) continue;
    clients.push_back({{"pid", client.pid},
                       {"uid", client.uid},
                       {"name", client.name},
                       {"queues", client.queues},
                       {"requests", client.requests},
                       {"pool_bytes", client.pool_bytes},
                       {"buffers", client.buffers},
                       {"device_bytes", client.device_bytes},
                       {"ending", client.ending}});
  }
  Json limits = {{"pool_bytes", report.pool_limit}, {"device_bytes", report.memory_limit}};
  if (report.user_memory_limit != UINT64_MAX) {
    limits["user_device_bytes"] = report.user_memory_limit;
  }
  Json operations = Json::object();
  report.statistics.for_each_operation([&](const char* name, const OperationStatistics& counts) {
    if (value(counts.calls) == 0) return;
    operations[name] = {{"calls", value(counts.calls)},
                        {"failed", value(counts.failed)},
                        {"bytes", value(counts.bytes)},
                        {"seconds", static_cast<double>(value(counts.nanoseconds)) / 1e9}};
  });
  Json json = {{"pid", ::getpid()},
               {"version", HOIST_VERSION},
               {"uptime_seconds", report.uptime_seconds},
               {"device",
                {{"id", report.device.id()},
                 {"name", report.device.name},
                 {"memory_bytes", report.device.memory}}},
               {"limits", limits},
               {"total", as_json(sum(report.clients, false))},
               {"quarantine", as_json(sum(report.clients, true))},
               {"connections", value(report.statistics.connections)},
               {"refused", value(report.statistics.refused)},
               {"broken", value(report.statistics.broken)},
               {"cancelled", value(report.statistics.cancelled)},
               {"late", value(report.statistics.late)},
               {"not_ready", value(report.statistics.not_ready)},
               {"operations", operations},
               {"clients", clients}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_metrics(const Report& report) {
  std::string text;
  const auto out = std::back_inserter(text);
  const auto single = [&](const char* name, const char* type, const char* help, double number) {
    fmt::format_to(out, "# HELP hoistd_{0} {1}\n# TYPE hoistd_{0} {2}\nhoistd_{0} {3}\n", name,
                   help, type, number);
  };
  const auto by_operation = [&](const char* name, const char* help, auto&& read) {
    fmt::format_to(out, "# HELP hoistd_{0} {1}\n# TYPE hoistd_{0} counter\n", name, help);
    report.statistics.for_each_operation(
        [&](const char* operation, const OperationStatistics& counts) {
          fmt::format_to(out, "hoistd_{}{{operation=\"{}\"}} {}\n", name, operation, read(counts));
        });
  };
  const Sums now = sum(report.clients, false);
  const Sums late = sum(report.clients, true);
  const Statistics& counts = report.statistics;
  single("uptime_seconds", "gauge", "Time since the start.", report.uptime_seconds);
  single("clients", "gauge", "Sessions.", static_cast<double>(now.clients));
  single("pool_bytes", "gauge", "Shared memory of all clients.",
         static_cast<double>(now.pool_bytes));
  single("buffers", "gauge", "Device buffers.", static_cast<double>(now.buffers));
  single("device_bytes", "gauge", "Device memory in buffers.",
         static_cast<double>(now.device_bytes));
  single("quarantined_sessions", "gauge", "Sessions of clients that are gone, work unfinished.",
         static_cast<double>(late.clients));
  single("connections_total", "counter", "Sessions begun.",
         static_cast<double>(value(counts.connections)));
  single("refused_total", "counter", "Connections refused.",
         static_cast<double>(value(counts.refused)));
  single("broken_total", "counter", "Sessions ended for a broken ring.",
         static_cast<double>(value(counts.broken)));
  single("cancelled_total", "counter", "Requests whose deadline passed before their turn.",
         static_cast<double>(value(counts.cancelled)));
  single("late_total", "counter", "Requests answered after their deadline.",
         static_cast<double>(value(counts.late)));
  single("not_ready_total", "counter", "Requests for what the device does not do, or not yet.",
         static_cast<double>(value(counts.not_ready)));
  by_operation("calls_total", "Requests.", [](const auto& c) { return value(c.calls); });
  by_operation("failed_total", "Requests that failed.",
               [](const auto& c) { return value(c.failed); });
  by_operation("bytes_total", "Bytes of requests.", [](const auto& c) { return value(c.bytes); });
  by_operation("seconds_total", "Time from begin to end of requests.",
               [](const auto& c) { return static_cast<double>(value(c.nanoseconds)) / 1e9; });
  return text;
}

Result<std::string> to_text(const std::string& json) try {
  const Json status = Json::parse(json);
  std::string text;
  const auto out = std::back_inserter(text);
  const auto mebibytes = [](const Json& bytes) { return bytes.get<double>() / (1 << 20); };
  const Json& total = status.at("total");
  fmt::format_to(out, "hoistd {}, pid {}, up {:.0f} s, on {} ({})\n",
                 status.at("version").get<std::string>(), status.at("pid").get<int>(),
                 status.at("uptime_seconds").get<double>(),
                 status.at("device").at("name").get<std::string>(),
                 status.at("device").at("id").get<std::string>());
  fmt::format_to(out, "{} clients, {:.1f} MiB shared, {} buffers of {:.1f} MiB\n",
                 total.at("clients").get<int>(), mebibytes(total.at("pool_bytes")),
                 total.at("buffers").get<int>(), mebibytes(total.at("device_bytes")));
  fmt::format_to(out,
                 "{} of clients that are gone, {} requests cancelled, {} late, {} not ready, "
                 "{} connections refused, {} rings broken\n",
                 status.at("quarantine").at("clients").get<int>(),
                 status.at("cancelled").get<int>(), status.at("late").get<int>(),
                 status.value("not_ready", 0), status.at("refused").get<int>(),
                 status.at("broken").get<int>());
  for (const auto& [name, counts] : status.at("operations").items()) {
    fmt::format_to(out, "  {:<10} {:>9} calls {:>7} failed {:>12.1f} MiB {:>9.3f} s\n", name,
                   counts.at("calls").get<uint64_t>(), counts.at("failed").get<uint64_t>(),
                   mebibytes(counts.at("bytes")), counts.at("seconds").get<double>());
  }
  for (const Json& client : status.at("clients")) {
    fmt::format_to(
        out, "  pid {:<8} uid {:<6} {:<16} {:>8.1f} MiB shared {:>5} buffers {:>9.1f} MiB{}\n",
        client.at("pid").get<int>(), client.at("uid").get<int>(),
        client.at("name").get<std::string>(), mebibytes(client.at("pool_bytes")),
        client.at("buffers").get<int>(), mebibytes(client.at("device_bytes")),
        client.at("ending").get<bool>() ? " (ending)" : "");
  }
  return text;
} catch (const nlohmann::json::exception& error) {
  return fail(ErrorCode::corrupt, fmt::format("not a status (hoistd's answer): {}", error.what()));
}

}  // namespace hoist::daemon
