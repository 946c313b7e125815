#include "service/monitoring/monitor.h"

#include <algorithm>
#include <utility>

#include "base/quiet_thread.h"

namespace hoist::service {
namespace {

using Steady = std::chrono::steady_clock;

// Passes an answer on, and tells the monitor.
class WatchedReply : public net::HttpReplyPath {
 public:
  WatchedReply(Monitor& monitor, Work work, net::HttpReply reply)
      : monitor_(monitor), work_(work), reply_(std::move(reply)) {
    monitor_.begin_request();
  }

  void send(uint64_t, net::HttpResponse response) override {
    const std::chrono::duration<double> took = Steady::now() - began_;
    monitor_.end_request(work_, response.status, took.count());
    reply_.send(std::move(response));
  }
  std::stop_token client_gone(uint64_t) override { return reply_.client_gone(); }
  void run(std::function<void()> work) override { reply_.run(std::move(work)); }

 private:
  Monitor& monitor_;
  const Work work_;
  net::HttpReply reply_;
  const Steady::time_point began_ = Steady::now();
};

}  // namespace

const char* name(Work work) {
  constexpr const char* kNames[kWorks] = {"observe", "observe_sequence", "learn",
                                          "predict", "bulk_predict",     "other"};
  return kNames[static_cast<size_t>(work)];
}

Monitor::Monitor(const std::string& folder, uint64_t limit, std::function<ServiceFacts()> facts)
    : facts_(std::move(facts)), limit_(limit), system_(folder) {
  take_sample();
  // Without a thread samples are taken when somebody asks.
  if (auto thread = start_quiet_thread([this] {
        std::unique_lock lock(mutex_);
        while (!ended_changed_.wait_for(lock, std::chrono::seconds(1), [&] { return ended_; })) {
          lock.unlock();
          take_sample();
          lock.lock();
        }
      })) {
    thread_ = *std::move(thread);
  }
}

Monitor::~Monitor() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ended_changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

net::HttpHandler Monitor::watch(Work work, net::HttpHandler handler) {
  return
      [this, work, handler = std::move(handler)](net::HttpRequest request, net::HttpReply reply) {
        auto path = std::make_shared<WatchedReply>(*this, work, std::move(reply));
        handler(std::move(request), net::HttpReply(std::move(path), 0));
      };
}

void Monitor::begin_request() {
  const uint64_t now = under_way_.fetch_add(1, std::memory_order_relaxed) + 1;
  uint64_t most = most_under_way_.load(std::memory_order_relaxed);
  while (most < now && !most_under_way_.compare_exchange_weak(most, now)) {
  }
}

void Monitor::end_request(Work work, int status, double seconds) {
  latencies_[static_cast<size_t>(work)].add(seconds);
  if (status >= 400) failed_.fetch_add(1, std::memory_order_relaxed);
  if (status >= 500) errors_.fetch_add(1, std::memory_order_relaxed);
  under_way_.fetch_sub(1, std::memory_order_relaxed);
}

LatencyHistogram::Counts Monitor::latencies(Work work) const {
  return latencies_[static_cast<size_t>(work)].counts();
}

LatencyHistogram::Counts Monitor::all_latencies() const {
  LatencyHistogram::Counts all;
  for (const LatencyHistogram& one : latencies_) {
    const LatencyHistogram::Counts counts = one.counts();
    for (size_t i = 0; i < counts.buckets.size(); ++i) all.buckets[i] += counts.buckets[i];
    all.count += counts.count;
    all.sum += counts.sum;
  }
  return all;
}

double Monitor::uptime_seconds() const {
  return std::chrono::duration<double>(Steady::now() - started_steady_).count();
}

void Monitor::take_sample() {
  const ServiceFacts facts = facts_();  // takes locks of others: not under ours
  Sample sample;
  sample.time = std::chrono::system_clock::now();
  sample.sessions = facts.sessions;
  sample.sessions_created = facts.sessions_created;
  for (const NodeFacts& node : facts.nodes) {
    sample.patterns += node.patterns;
    sample.recent_patterns += node.recent_patterns;
    sample.index_memory += node.memory;
  }
  sample.failed = failed_.load(std::memory_order_relaxed);
  sample.errors = errors_.load(std::memory_order_relaxed);

  const std::lock_guard lock(mutex_);
  const LatencyHistogram::Counts all = all_latencies();
  const LatencyHistogram::Counts predict = latencies(Work::predict);
  sample.requests = all.count;
  sample.request_seconds = all.sum;
  for (size_t i = 0; i < kWorks; ++i) sample.works[i] = latencies_[i].counts().count;
  sample.mean_seconds = all.since(all_before_).mean();
  sample.predict_p50 = predict.since(predict_before_).quantile(0.5);
  sample.predict_p99 = predict.since(predict_before_).quantile(0.99);
  all_before_ = all;
  predict_before_ = predict;
  sample.system = system_.look();
  samples_.push_back(sample);
  if (samples_.size() > kMostSamples) samples_.pop_front();
}

Sample Monitor::latest() const {
  const std::lock_guard lock(mutex_);
  return samples_.back();
}

std::vector<Sample> Monitor::samples(std::chrono::seconds span) const {
  const SystemTime since = std::chrono::system_clock::now() - span;
  const std::lock_guard lock(mutex_);
  const auto first = std::find_if(samples_.begin(), samples_.end(),
                                  [&](const Sample& sample) { return sample.time >= since; });
  return {first, samples_.end()};
}

}  // namespace hoist::service
