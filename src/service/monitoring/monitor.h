// What the service has done, for metrics, health and the status page.
//
//   Monitor monitor(folder, limit, [&] { return facts_of(sessions, nodes); });
//   router.add("GET", "/x", monitor.watch(Work::other, handler));
//
// Thread-safe. A thread of its own takes a sample each second and keeps those of the last hour.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "net/http/message.h"
#include "service/monitoring/latency_histogram.h"
#include "service/monitoring/system_usage.h"

namespace hoist::service {

// What a request asks for; latencies are kept by it.
enum class Work : uint8_t { observe, observe_sequence, learn, predict, bulk_predict, other };
inline constexpr size_t kWorks = 6;
const char* name(Work work);

using SystemTime = std::chrono::system_clock::time_point;

struct NodeFacts {
  std::string node;
  SystemTime opened;
  SystemTime last_used;
  uint64_t uses = 0;  // requests that needed it
  uint64_t patterns = 0;
  uint64_t recent_patterns = 0;  // of these, not laid out for the scan yet
  uint64_t symbols = 0;
  uint64_t memory = 0;  // bytes
  uint64_t syncs = 0;
  double last_sync_seconds = 0;
  std::string last_sync_error;
  std::string device = "cpu";  // where large segments are searched: "cuda:0"
  std::map<std::string, uint64_t> device_memory = {};  // bytes of it on each GPU, by its id
};

// A GPU that the service has opened.
struct GpuFacts {
  std::string device;  // "cuda:0"
  std::string name;    // "NVIDIA H200"
  uint64_t used = 0;   // bytes, of all processes
  uint64_t total = 0;
};

// What others own and a sample takes along.
struct ServiceFacts {
  uint64_t sessions = 0;  // alive
  uint64_t sessions_created = 0;
  uint64_t sessions_deleted = 0;  // by clients
  uint64_t sessions_expired = 0;
  uint64_t connections = 0;
  std::vector<NodeFacts> nodes = {};
  std::vector<GpuFacts> gpus = {};
};

struct Sample {
  SystemTime time;
  SystemUsage system;
  uint64_t requests = 0;       // so far
  double request_seconds = 0;  // that they took
  uint64_t failed = 0;         // of these, answered with 400 or above
  uint64_t errors = 0;         // with 500 or above
  std::array<uint64_t, kWorks> works = {};
  uint64_t sessions = 0;
  uint64_t sessions_created = 0;
  uint64_t patterns = 0;
  uint64_t recent_patterns = 0;
  uint64_t index_memory = 0;
  double mean_seconds = 0;  // of the requests since the sample before
  double predict_p50 = 0;   // seconds, of the predictions since then
  double predict_p99 = 0;
};

class Monitor {
 public:
  // `limit`: requests under way that the server takes at most.
  Monitor(const std::string& folder, uint64_t limit, std::function<ServiceFacts()> facts);
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  // The handler, whose answers are then counted and timed. The monitor must outlive them.
  net::HttpHandler watch(Work work, net::HttpHandler handler);
  void begin_request();
  void end_request(Work work, int status, double seconds);
  // A search of the GPU that had to be done by the CPU.
  void count_fallback() { fallbacks_.fetch_add(1, std::memory_order_relaxed); }

  ServiceFacts facts() const { return facts_(); }
  Sample latest() const;
  // Those of the last `span`, oldest first.
  std::vector<Sample> samples(std::chrono::seconds span) const;
  LatencyHistogram::Counts latencies(Work work) const;
  LatencyHistogram::Counts all_latencies() const;

  SystemTime started() const { return started_; }
  double uptime_seconds() const;
  uint64_t under_way() const { return under_way_.load(std::memory_order_relaxed); }
  uint64_t most_under_way() const { return most_under_way_.load(std::memory_order_relaxed); }
  uint64_t limit() const { return limit_; }
  uint64_t fallbacks() const { return fallbacks_.load(std::memory_order_relaxed); }

  // One more sample now; the thread calls it each second.
  void take_sample();

 private:
  static constexpr size_t kMostSamples = 3600;

  const std::function<ServiceFacts()> facts_;
  const uint64_t limit_;
  const SystemTime started_ = std::chrono::system_clock::now();
  const std::chrono::steady_clock::time_point started_steady_ = std::chrono::steady_clock::now();

  std::array<LatencyHistogram, kWorks> latencies_;
  std::atomic<uint64_t> failed_ = 0;
  std::atomic<uint64_t> errors_ = 0;
  std::atomic<uint64_t> under_way_ = 0;
  std::atomic<uint64_t> most_under_way_ = 0;
  std::atomic<uint64_t> fallbacks_ = 0;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable ended_changed_;
  bool ended_ = false;
  SystemWatch system_;
  std::deque<Sample> samples_;
  LatencyHistogram::Counts all_before_;
  LatencyHistogram::Counts predict_before_;

  std::thread thread_;
};

}  // namespace hoist::service
