#include "match/index/repair.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>

#include <filesystem>
#include <map>
#include <optional>

#include "base/log.h"
#include "match/index/index.h"
#include "match/index/snapshot.h"
#include "match/store/salvage.h"

namespace hoist::match {
namespace {

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

class Repair {
 public:
  Repair(std::string path, std::string target)
      : path_(std::move(path)), target_(std::move(target)) {}

  Result<RepairReport> run() {
    if (Status found = open(); !found) return found.error();
    if (has_store_) {
      auto salvage = salvage_store(path_ + "/store", known_ ? known_->required() : ChainPoint());
      if (!salvage) return salvage.error();
      salvage_ = std::move(*salvage);
      report_.is_damaged = !salvage_.is_whole;
    }
    read_snapshot();
    if (!salvage_.settings && !snapshot_ && !salvage_.patterns.empty()) {
      log(LogLevel::warn, "the settings of {} are lost: taken for those that `build` gives", path_);
      salvage_.settings.emplace();
    }
    if (!salvage_.settings && !snapshot_) {
      return fail(ErrorCode::corrupt,
                  fmt::format("nothing can be read of the index ({}): build it again", path_));
    }
    if (Status written = write(); !written) return written.error();
    count_lost();
    return report_;
  }

 private:
  Status open() {
    has_store_ = exists(path_ + "/store");
    if (!has_store_ && !exists(path_ + "/snapshot.hoist")) {
      return fail(ErrorCode::not_found, fmt::format("no index ({}): is that its folder?", path_));
    }
    auto folder = open_file(path_, O_RDONLY | O_DIRECTORY);
    if (!folder) return folder.error();
    folder_ = std::move(*folder);
    if (::flock(folder_.get(), LOCK_EX | LOCK_NB) != 0) {
      return fail(ErrorCode::unavailable,
                  fmt::format("another process writes to the index ({}): wait for it", path_));
    }
    if (const auto ledger = Ledger::open(path_ + "/ledger", true)) known_ = (*ledger)->state();
    return {};
  }

  void read_snapshot() {
    const std::string file = path_ + "/snapshot.hoist";
    if (!exists(file)) return;
    auto loaded = load_snapshot(file, vocabulary_, {.skip_damaged = true});
    if (!loaded) {
      report_.is_damaged = true;
      return;
    }
    snapshot_ = std::move(*loaded);
    if (snapshot_->is_damaged || snapshot_->lost_patterns != 0) report_.is_damaged = true;
    if (known_ && snapshot_->contents.generation < known_->snapshot_generation) {
      report_.is_damaged = true;
    }
    // A whole store has all, and what is not in it was removed.
    if (has_store_ && salvage_.is_whole) return;
    for (const auto& segment : snapshot_->segments) add_patterns_of(*segment);
  }

  // Those that are damaged in the store.
  void add_patterns_of(const StableSegment& segment) {
    std::vector<uint32_t> symbols;
    for (uint32_t i = 0; i < segment.size(); ++i) {
      const uint32_t serial = segment.serial(i);
      if (segment.frequency(i) == 0 || salvage_.removed.contains(serial)) continue;
      const auto list = segment.emotives().get(i);
      PatternState state{segment.frequency(i), list ? *list : EmotiveList()};
      const auto [at, is_new] = salvage_.patterns.try_emplace(serial);
      StoredPattern& pattern = at->second;
      if (!is_new) {
        if (state.frequency > pattern.state.frequency) pattern.state = std::move(state);
        continue;
      }
      pattern.serial = serial;
      const NameKey name = segment.name(i);
      pattern.name = name.is_digest ? digest_text(name.digest) : std::string(name.text);
      segment.read_symbols(i, symbols);
      pattern.symbols = symbols;
      const auto sizes = segment.event_sizes(i);
      pattern.event_sizes.assign(sizes.begin(), sizes.end());
      pattern.state = std::move(state);
    }
  }

  std::optional<std::string_view> symbol(uint32_t id) const {
    const auto known = salvage_.symbols.find(id);
    if (known != salvage_.symbols.end()) return known->second;
    if (id < vocabulary_.size()) return vocabulary_.symbol(id);
    return std::nullopt;
  }

  // Nothing where a symbol is lost.
  std::optional<PatternText> text_of(const StoredPattern& pattern) const {
    PatternText text;
    size_t at = 0;
    for (const uint16_t size : pattern.event_sizes) {
      for (uint16_t i = 0; i < size; ++i) {
        const auto found = symbol(pattern.symbols[at++]);
        if (!found) return std::nullopt;
        text.tokens.push_back(*found);
      }
      text.end_event();
    }
    return text;
  }

  Status write() {
    IndexOptions options;
    options.create = true;
    options.search_only = !has_store_ && !(known_ && known_->has_store);
    options.settings = salvage_.settings ? *salvage_.settings : snapshot_->settings;
    auto index = Index::open(target_, options);
    if (!index) return index.error();
    if (Status begun = (*index)->begin_bulk(); !begun) return begun;
    for (const auto& [serial, pattern] : salvage_.patterns) {
      auto text = text_of(pattern);
      if (!text) {
        ++report_.without_symbols;
        continue;
      }
      if (Status learned = learn(**index, pattern, *text); !learned) return learned;
      ++report_.saved;
    }
    return (*index)->end_bulk();
  }

  // Once for each learning whose emotives are kept, so that the list is the same.
  Status learn(Index& index, const StoredPattern& pattern, PatternText& text) const {
    const EmotiveList& list = pattern.state.emotives;
    const auto metadata = salvage_.metadata.find(pattern.serial);
    const size_t times =
        std::max<size_t>(1, std::min<size_t>(list.size(), pattern.state.frequency));
    for (size_t i = 0; i < times; ++i) {
      LearnOptions options;
      options.name = pattern.name;
      options.single_symbols = true;  // it was learned
      if (i == 0) options.frequency = pattern.state.frequency - static_cast<uint32_t>(times) + 1;
      if (i < list.size()) options.emotives = list[list.size() - times + i];
      if (i == 0 && metadata != salvage_.metadata.end()) options.metadata = metadata->second;
      if (const auto learned = index.learn(text, options); !learned) {
        return learned.error();
      }
    }
    return {};
  }

  void count_lost() {
    uint64_t acknowledged = salvage_.last.patterns;
    if (known_ && known_->has_store && known_->required().writes >= salvage_.last.writes) {
      acknowledged = known_->required().patterns;
    }
    if (!has_store_ && snapshot_) acknowledged = report_.saved + snapshot_->lost_patterns;
    report_.is_lost_known = known_.has_value() || salvage_.last.writes != 0;
    report_.lost = acknowledged > report_.saved ? acknowledged - report_.saved : 0;
    if (report_.lost != 0) report_.is_damaged = true;
  }

  const std::string path_;
  const std::string target_;
  UniqueFd folder_;
  bool has_store_ = false;
  std::optional<LedgerState> known_;
  Salvage salvage_;
  Vocabulary vocabulary_;
  std::optional<LoadedSnapshot> snapshot_;
  RepairReport report_;
};

}  // namespace

Result<RepairReport> repair_index(const std::string& path, const std::string& target) {
  return Repair(path, target).run();
}

}  // namespace hoist::match
