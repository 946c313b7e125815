#include "cli/match/grep.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <string_view>

#include "base/threads.h"
#include "cli/match/best_lines.h"
#include "cli/match/grep_files.h"
#include "cli/match/grep_output.h"
#include "cli/report.h"
#include "match/lines/line_blocks.h"
#include "match/lines/line_scorer.h"

namespace hoist::cli {
namespace {

enum GrepStatus { kSomeLines = 0, kNoLines = 1, kGrepError = 2 };

// So many blocks for each thread are read before they are scored and printed.
constexpr size_t kBlocksPerThread = 4;

bool wants_color(const std::string& when) {
  if (when != "auto") return when == "always";
  const char* const terminal = std::getenv("TERM");
  const char* const none = std::getenv("NO_COLOR");
  return ::isatty(STDOUT_FILENO) == 1 && terminal != nullptr &&
         std::string_view(terminal) != "dumb" && (none == nullptr || *none == '\0');
}

// Lines of a file, and what became of them.
struct ScoredBlock {
  std::string text;
  std::vector<uint32_t> ends;
  std::vector<match::LineHit> hits;
};

// The blocks of one file, some at a time.
class Batches {
 public:
  explicit Batches(match::LineBlocks blocks) : blocks_(std::move(blocks)) {}

  // Those that follow; none at the end, or where `status` says why. Of a pipe only what is there
  // already, so that lines are printed when they come.
  std::vector<ScoredBlock> next(size_t most) {
    std::vector<ScoredBlock> batch;
    while (status_ && !ended_ && batch.size() < most && (batch.empty() || blocks_.is_ready())) {
      ScoredBlock block;
      const auto more = blocks_.next(block.text);
      if (!more) {
        status_ = more.error();
      } else if (*more) {
        batch.push_back(std::move(block));
      } else {
        ended_ = true;
      }
    }
    return batch;
  }

  bool is_regular() const { return blocks_.is_regular(); }
  const Status& status() const { return status_; }

 private:
  match::LineBlocks blocks_;
  bool ended_ = false;
  Status status_;
};

class Grep {
 public:
  Grep(const MatchGrepOptions& options, const match::PairScorer& scorer, const GrepLook& look)
      : options_(options),
        before_(options.before.value_or(options.around)),
        after_(options.after.value_or(options.around)),
        scorer_(options.pattern, scorer, options.ignore_case),
        output_(look, scorer_),
        best_(options.top) {}

  int run(const std::vector<std::string>& paths) {
    for_each_grep_file(
        paths, options_.recursive, [this](GrepFile file) { return search(file); },
        [this](const Error& error) { return refuse(error); });
    for (const BestLine& line : best_.take()) {
      output_.line({names_[line.file], line.number, line.text, line.score});
    }
    output_.flush();
    if (!output_.status()) refuse(output_.status().error());
    return failed_ ? kGrepError : any_ ? kSomeLines : kNoLines;
  }

 private:
  bool refuse(const Error& error) {
    output_.flush();
    report(error);
    failed_ = true;
    return output_.is_open();
  }

  // The next blocks are read while these are scored.
  bool search(const GrepFile& file) {
    begin(file.name);
    Batches batches(match::LineBlocks(file.fd.get(), file.place));
    ThreadPool& pool = ThreadPool::process();
    const size_t most = kBlocksPerThread * static_cast<size_t>(pool.size());
    std::vector<ScoredBlock> batch = batches.next(most);
    while (!batch.empty() && output_.is_open()) {
      std::vector<ScoredBlock> following;
      const size_t reading = batches.is_regular() ? 1 : 0;
      const double threshold = best_.bound(options_.threshold);
      pool.parallel_for(batch.size() + reading, [&](size_t i) {
        if (i < reading) {
          following = batches.next(most);
        } else {
          score(batch[i - reading], threshold);
        }
      });
      for (const ScoredBlock& block : batch) take(block);
      if (reading == 0) {
        output_.flush();
        following = batches.next(most);
      }
      batch = std::move(following);
    }
    end();
    if (batches.status()) return output_.is_open();
    return refuse(batches.status().error());
  }

  void score(ScoredBlock& block, double threshold) const {
    match::find_line_ends(block.text, block.ends);
    scorer_.find(block.text, block.ends, threshold, block.hits);
  }

  void begin(const std::string& name) {
    name_ = name;
    if (options_.top != 0) names_.push_back(name);
    number_ = 0;
    count_ = 0;
    printed_ = 0;
    owed_ = 0;
    kept_.clear();
  }

  void end() {
    if (options_.count && output_.is_open()) output_.count(name_, count_);
  }

  // In the order of the input.
  void take(const ScoredBlock& block) {
    if (options_.top != 0) {
      take_best(block);
    } else if (!options_.invert) {
      for (const match::LineHit& hit : block.hits) select(block, hit.line, hit.score);
    } else {
      size_t hit = 0;
      for (uint32_t i = 0; i < block.ends.size(); ++i) {
        if (hit < block.hits.size() && block.hits[hit].line == i) {
          ++hit;
        } else {
          select(block, i, {});
        }
      }
    }
    print_after(block, static_cast<uint32_t>(block.ends.size()));
    keep_before(block);
    number_ += block.ends.size();
  }

  void take_best(const ScoredBlock& block) {
    for (const match::LineHit& hit : block.hits) {
      any_ = true;
      best_.add({hit.score, names_.size() - 1, number_ + hit.line + 1,
                 std::string(match::line_of(block.text, block.ends, hit.line))});
    }
  }

  void select(const ScoredBlock& block, uint32_t i, std::optional<double> score) {
    any_ = true;
    ++count_;
    if (options_.count) return;
    print_after(block, i);
    print_before(block, i);
    print(number_ + i + 1, match::line_of(block.text, block.ends, i), score, false);
    owed_ = after_;
  }

  // Context that is still owed to the last selected line, from before line `i` of the block.
  void print_after(const ScoredBlock& block, uint32_t i) {
    while (owed_ > 0 && printed_ < number_ + i) {
      --owed_;
      const auto at = static_cast<size_t>(printed_ - number_);
      print(printed_ + 1, match::line_of(block.text, block.ends, at), {}, true);
    }
  }

  void print_before(const ScoredBlock& block, uint32_t i) {
    const uint64_t number = number_ + i + 1;
    const uint64_t first = std::max(printed_ + 1, number - std::min(number - 1, before_));
    if ((before_ != 0 || after_ != 0) && any_printed_ && (printed_ == 0 || first > printed_ + 1)) {
      output_.gap();
    }
    for (uint64_t at = first; at < number; ++at) {
      const std::string_view text =
          at > number_
              ? match::line_of(block.text, block.ends, static_cast<size_t>(at - number_ - 1))
              : std::string_view(kept_[kept_.size() - static_cast<size_t>(number_ + 1 - at)]);
      print(at, text, {}, true);
    }
  }

  void print(uint64_t number, std::string_view text, std::optional<double> score, bool context) {
    output_.line({name_, number, text, score, context});
    printed_ = number;
    any_printed_ = true;
  }

  // The last lines of the file so far, which a later block may print as context.
  void keep_before(const ScoredBlock& block) {
    if (before_ == 0 || options_.count) return;
    const size_t lines = block.ends.size();
    for (size_t i = lines - static_cast<size_t>(std::min<uint64_t>(lines, before_)); i < lines;
         ++i) {
      kept_.emplace_back(match::line_of(block.text, block.ends, i));
    }
    while (kept_.size() > before_) kept_.pop_front();
  }

  const MatchGrepOptions& options_;
  const uint64_t before_;
  const uint64_t after_;
  const match::LineScorer scorer_;
  GrepOutput output_;
  BestLines best_;
  std::vector<std::string> names_;  // of files, where the best lines need them
  bool any_ = false;
  bool any_printed_ = false;
  bool failed_ = false;

  std::string name_;     // of the file
  uint64_t number_ = 0;  // of its lines before the block
  uint64_t count_ = 0;
  uint64_t printed_ = 0;  // the last
  uint64_t owed_ = 0;     // lines of context
  std::deque<std::string> kept_;
};

Status check(const MatchGrepOptions& options) {
  const auto clash = [](std::string_view one, std::string_view other) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} beside {} (hoist match grep): leave one out", one, other));
  };
  const bool context = options.before || options.after || options.around != 0;
  if (options.top == 0) return {};
  if (options.invert) return clash("-v", "-k");
  if (options.count) return clash("-c", "-k");
  if (context) return clash("lines of context", "-k");
  return {};
}

}  // namespace

int match_grep(const MatchGrepOptions& options) {
  const auto scorer = match::line_scorer_named(options.scorer);
  if (!scorer) {
    return report(fail(ErrorCode::invalid_argument,
                       fmt::format("no scorer {} for lines (--scorer): indel, levenshtein or lcs",
                                   options.scorer)));
  }
  if (Status fits = check(options); !fits) return report(fits.error());
  std::vector<std::string> paths = options.files;
  if (paths.empty()) paths.emplace_back(options.recursive ? "." : "-");
  const GrepLook look = {
      .with_names = options.names.value_or(options.recursive || paths.size() > 1),
      .with_numbers = options.numbers,
      .color = !options.json && wants_color(options.color),
      .json = options.json};
  return Grep(options, *scorer, look).run(paths);
}

}  // namespace hoist::cli
