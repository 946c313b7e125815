// The commands of `hoist match`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace hoist::match {
class Index;
struct IndexOptions;
}  // namespace hoist::match

namespace hoist::cli {

struct MatchBuildOptions {
  std::string input;
  std::string output;
  std::string format = "jsonl";  // or "lines"
  bool sort = true;
  bool store = true;
  bool force = false;  // replace an index that is there
  std::string max_memory;
};
int match_build(const MatchBuildOptions& options);

struct MatchQueryOptions {
  std::string index;
  std::string state;
  std::string states;  // a file
  double threshold = 0.1;
  size_t top = 100;
  std::string scorer = "kato";
  std::optional<std::string> rank;  // these two: of kato alone
  std::optional<double> fuzzy;
  bool keep_order = false;
  bool show = false;  // the patterns' text
  bool json = false;
  bool jsonl = false;
  std::string max_memory;
  std::string device = "auto";
};
int match_query(const MatchQueryOptions& options);

struct MatchLearnOptions {
  std::string index;
  std::string input;
  std::string format = "jsonl";
  std::string durability = "batch";
  std::string max_memory;
};
int match_learn(const MatchLearnOptions& options);

int match_delete(const std::string& index, const std::vector<std::string>& names);
int match_show(const std::string& index, const std::vector<std::string>& names, bool json);
int match_sync(const std::string& index);
int match_repair(const std::string& index, const std::string& output, bool force, bool json);
int match_stats(const std::string& index, bool json);
int match_verify(const std::string& index, bool json);

struct MatchDedupOptions {
  std::string file;
  double threshold = 0.8;
  std::string format = "lines";
  std::string scorer = "kato";
  bool sort = true;
  bool jsonl = false;
};
int match_dedup(const MatchDedupOptions& options);

struct MatchBenchOptions {
  uint32_t patterns = 1'000'000;
  uint32_t length = 15;
  uint32_t symbols = 31'029;
  std::string device = "auto";
  bool json = false;
};
int match_bench(const MatchBenchOptions& options);
// Becomes hoist-serve with these arguments, whose first is "serve"; returns only where it cannot.
int match_serve(char** arguments);

// "800M", "2G", a number of bytes; empty: no limit.
Result<uint64_t> memory_limit(const std::string& text);

}  // namespace hoist::cli
