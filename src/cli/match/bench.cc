// hoist match bench: what learning, queries, syncs and opening take on this machine.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <random>
#include <thread>

#include "cli/match/commands.h"
#include "cli/report.h"
#include "match/index/index.h"

namespace hoist::cli {
namespace {

using match::Index;
using Clock = std::chrono::steady_clock;

constexpr size_t kLearned = 20'000;
constexpr size_t kQueries = 200;
constexpr size_t kWideQueries = 20;
// Patterns that are like one another: one in so many, of so many kinds.
constexpr uint32_t kRelatives = 64;
constexpr size_t kFamilies = 32;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Symbols by Zipf's law: the k-th most frequent has weight 1 / k.
class Patterns {
 public:
  explicit Patterns(const MatchBenchOptions& options) : length_(options.length), sums_() {
    double sum = 0;
    for (uint32_t k = 1; k <= options.symbols; ++k) {
      sums_.push_back(sum += 1.0 / k);
      names_.push_back(fmt::format("s{}", k));
    }
  }

  match::PatternText next() {
    match::PatternText pattern;
    std::uniform_real_distribution<double> draw(0, sums_.back());
    for (uint32_t i = 0; i < length_; ++i) {
      const auto at = std::lower_bound(sums_.begin(), sums_.end(), draw(random_));
      pattern.tokens.push_back(names_[static_cast<size_t>(at - sums_.begin())]);
      pattern.end_event();
    }
    return pattern;
  }

  // One of kFamilies; the same for the same number.
  const match::PatternText& family(size_t number) {
    while (families_.size() < kFamilies) families_.push_back(next());
    return families_[number % kFamilies];
  }
  // A member of it, with a fifth of the symbols drawn anew.
  match::PatternText relative(size_t number) {
    match::PatternText pattern = family(number);
    const match::PatternText other = next();
    for (uint32_t i = 0; i < length_; ++i) {
      if (random_() % 5 == 0) pattern.tokens[i] = other.tokens[i];
    }
    return pattern;
  }

 private:
  std::vector<match::PatternText> families_;
  uint32_t length_;
  std::mt19937_64 random_{20'240};  // the same patterns in every run
  std::vector<double> sums_;
  std::vector<std::string> names_;
};

class Latencies {
 public:
  void add(double seconds) { all_.push_back(seconds); }
  double quantile(double q) {
    if (all_.empty()) return 0;
    std::sort(all_.begin(), all_.end());
    return all_[std::min(all_.size() - 1,
                         static_cast<size_t>(q * static_cast<double>(all_.size())))];
  }

 private:
  std::vector<double> all_;
};

class Bench {
 public:
  Bench(const MatchBenchOptions& options, std::string path)
      : options_(options), path_(std::move(path)), patterns_(options) {}

  Status run() {
    for (const auto step :
         {&Bench::build, &Bench::open, &Bench::query, &Bench::learn, &Bench::sync_while_querying}) {
      if (Status done = (this->*step)(); !done) return done;
    }
    print();
    return {};
  }

 private:
  void figure(std::string name, double value, std::string unit) {
    figures_.push_back({std::move(name), value, std::move(unit)});
  }

  // Bulk, as `hoist match build` does it, without the parsing.
  Status build() {
    auto made = Index::open(path_, {.create = true});
    if (!made) return made.error();
    std::vector<match::PatternText> all;
    for (uint32_t i = 0; i < options_.patterns; ++i) {
      all.push_back(i % kRelatives == 0 ? patterns_.relative(i / kRelatives) : patterns_.next());
    }
    const auto begin = Clock::now();
    if (Status begun = (*made)->begin_bulk(); !begun) return begun;
    for (match::PatternText& pattern : all) {
      const auto learned = (*made)->learn(pattern, {});
      if (!learned) return learned.error();
    }
    if (Status ended = (*made)->end_bulk(); !ended) return ended;
    figure("build", options_.patterns / seconds_since(begin), "patterns/s");
    figure("memory a pattern", static_cast<double>((*made)->stats().memory) / options_.patterns,
           "bytes");
    return {};
  }

  Status open() {
    const auto begin = Clock::now();
    auto opened = Index::open(path_, {.sync_patterns = 0, .device = options_.device});
    if (!opened) return opened.error();
    const double seconds = seconds_since(begin);
    index_ = std::move(*opened);
    const auto bytes = std::filesystem::file_size(path_ + "/snapshot.hoist");
    figure("open", 1e3 * seconds, "ms");
    figure("open, of the snapshot", static_cast<double>(bytes) / seconds / 1e9, "GB/s");
    return {};
  }

  Result<double> one_query() {
    match::PatternText state = patterns_.next();
    const auto begin = Clock::now();
    const auto found = index_->search(std::span(&state, 1), {.threshold = 0.5, .top = 100});
    if (!found) return found.error();
    return seconds_since(begin);
  }

  Status query() {
    Latencies latencies;
    for (size_t i = 0; i < kQueries; ++i) {
      const auto seconds = one_query();
      if (!seconds) return seconds.error();
      latencies.add(*seconds);
    }
    figure("query p50", 1e3 * latencies.quantile(0.5), "ms");
    figure("query p99", 1e3 * latencies.quantile(0.99), "ms");
    Status done = records("records", 0.5, kQueries, [&](size_t i) { return patterns_.family(i); });
    if (!done) return done;
    return records("records at 0.1", 0.1, kWideQueries, [&](size_t) { return patterns_.next(); });
  }

  // 100 of them, ranked, and how many candidates they were chosen from.
  Status records(const std::string& name, double threshold, size_t count,
                 const std::function<match::PatternText(size_t)>& state_of) {
    match::RecordOptions wanted;
    wanted.threshold = threshold;
    wanted.max_predictions = 100;
    Latencies latencies;
    size_t candidates = 0;
    for (size_t i = 0; i < count; ++i) {
      match::PatternText state = state_of(i);
      const auto begin = Clock::now();
      const auto predicted = index_->predict(state, wanted);
      if (!predicted) return predicted.error();
      latencies.add(seconds_since(begin));
      const auto found = index_->search(std::span(&state, 1), {.threshold = threshold});
      if (!found) return found.error();
      candidates += found->front().hits.size();
    }
    figure(name + " p50", 1e3 * latencies.quantile(0.5), "ms");
    figure(name + " p99", 1e3 * latencies.quantile(0.99), "ms");
    figure(name + ", candidates", static_cast<double>(candidates) / static_cast<double>(count), "");
    return {};
  }

  // Runs `work` while another thread queries; the latencies of its queries.
  Result<Latencies> beside_queries(const std::function<Status()>& work) {
    std::atomic<bool> stop = false;
    Latencies latencies;
    Status queried;
    std::thread other([&] {
      while (!stop && queried) {
        const auto seconds = one_query();
        if (seconds) {
          latencies.add(*seconds);
        } else {
          queried = seconds.error();
        }
      }
    });
    const Status done = work();
    stop = true;
    other.join();
    if (!done) return done.error();
    if (!queried) return queried.error();
    return latencies;
  }

  Status learn() {
    std::vector<match::PatternText> all;
    for (size_t i = 0; i < kLearned; ++i) all.push_back(patterns_.next());
    Latencies learning;
    const auto queries = beside_queries([&]() -> Status {
      for (match::PatternText& pattern : all) {
        const auto begin = Clock::now();
        const auto learned = index_->learn(pattern, {});
        if (!learned) return learned.error();
        learning.add(seconds_since(begin));
      }
      return {};
    });
    if (!queries) return queries.error();
    figure("learn p50 beside queries", 1e6 * learning.quantile(0.5), "us");
    figure("learn p99 beside queries", 1e6 * learning.quantile(0.99), "us");
    return {};
  }

  // As many patterns as the index had, of which most are in small segments by the time of the sync;
  // queries before it are the measure of those during it.
  Status sync_while_querying() {
    for (uint32_t i = 0; i < options_.patterns; ++i) {
      match::PatternText pattern = patterns_.next();
      const auto learned = index_->learn(pattern, {});
      if (!learned) return learned.error();
    }
    Latencies before;
    for (int i = 0; i < 20; ++i) {
      const auto seconds = one_query();
      if (!seconds) return seconds.error();
      before.add(*seconds);
    }
    const uint64_t recent = index_->stats().recent_patterns;
    auto during = beside_queries([this] { return index_->sync(); });
    if (!during) return during.error();
    const match::IndexStats stats = index_->stats();
    figure("sync", stats.last_sync_seconds, "s");
    figure("  recent until then", static_cast<double>(recent), "patterns");
    figure("  until the segment is in use", stats.last_fold_seconds, "s");
    figure("query p50 before the sync", 1e3 * before.quantile(0.5), "ms");
    figure("query worst before the sync", 1e3 * before.quantile(1), "ms");
    figure("query p50 during the sync", 1e3 * during->quantile(0.5), "ms");
    figure("query worst during the sync", 1e3 * during->quantile(1), "ms");
    return {};
  }

  void print() const {
    if (!options_.json) {
      for (const Figure& f : figures_) fmt::print("{:<30} {:>12.6g} {}\n", f.name, f.value, f.unit);
      fmt::print("searched at the end by         {}\n", index_->stats().search_device);
      return;
    }
    std::string out;
    for (const Figure& f : figures_) {
      out += fmt::format("{}{{\"name\": \"{}\", \"value\": {}, \"unit\": \"{}\"}}",
                         out.empty() ? "" : ", ", f.name.substr(f.name.find_first_not_of(' ')),
                         f.value, f.unit);
    }
    fmt::print(
        "{{\"patterns\": {}, \"length\": {}, \"symbols\": {}, \"search_device\": \"{}\", "
        "\"figures\": [{}]}}\n",
        options_.patterns, options_.length, options_.symbols, index_->stats().search_device, out);
  }

  struct Figure {
    std::string name;
    double value;
    std::string unit;
  };

  const MatchBenchOptions& options_;
  std::string path_;
  Patterns patterns_;
  std::unique_ptr<Index> index_;
  std::vector<Figure> figures_;
};

}  // namespace

int match_bench(const MatchBenchOptions& options) {
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  const std::string path = (folder / fmt::format("hoist-match-bench-{}", ::getpid())).string();
  Status done;
  if (error) {
    done = fail(ErrorCode::io, fmt::format("no folder for files ({})", error.message()));
  } else {
    done = Bench(options, path).run();
  }
  std::filesystem::remove_all(path, error);
  return done ? kDone : report(done.error());
}

}  // namespace hoist::cli
