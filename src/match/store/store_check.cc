#include "match/store/store_check.h"

#include <algorithm>

#include "match/store/log_files.h"
#include "match/store/store_layout.h"

namespace hoist::match {
namespace {

struct Tables {
  ChainPoint at;
  uint64_t ingests = 0;
};

Result<Tables> read_tables(const std::string& path) {
  const auto flushed = layout::FlushedDatabase::open(path);
  if (!flushed) return flushed.error();
  rocksdb::ReadOptions options;
  std::string value;
  const rocksdb::Status found = (*flushed)->Get(options, std::string(1, layout::kChain), &value);
  Tables tables;
  if (!found.ok() && !found.IsNotFound()) return layout::store_error(found, "read", path);
  if (found.ok()) {
    const auto point = decode_point(value);
    if (!point) {
      return layout::store_error(rocksdb::Status::Corruption("a damaged point"), "read", path);
    }
    tables.at = *point;
  }
  const std::string end(1, static_cast<char>(layout::kIngest + 1));
  const rocksdb::Slice bound(end);
  options.iterate_upper_bound = &bound;
  const std::unique_ptr<rocksdb::Iterator> at((*flushed)->NewIterator(options));
  for (at->Seek(std::string(1, layout::kIngest)); at->Valid(); at->Next()) ++tables.ingests;
  if (!at->status().ok()) return layout::store_error(at->status(), "read", path);
  return tables;
}

// Follows the chain through the logs.
class Walk {
 public:
  // Holes count up to `required` writes; behind that the first one is the end.
  Walk(const ChainPoint& at, uint64_t required) : at_(at), required_(required) {}

  void take(const LogWrite& write) {
    if (has_ended_) return;
    const auto point = layout::point_of(write.bytes);
    if (!point) has_unchained_ = true;
    if (!point || point->writes < at_.writes) return;
    if (point->writes == at_.writes) {
      if (point->digest != at_.digest) note(write, 1);
      return;
    }
    const uint64_t between = point->writes - at_.writes - 1;
    const bool is_next =
        between == 0 && next_point(at_, layout::operations_of(write.bytes)).digest == point->digest;
    has_ended_ = !is_next && at_.writes >= required_;
    if (has_ended_) return;
    if (!is_next) note(write, std::max<uint64_t>(between, 1));
    at_ = *point;
  }

  const ChainPoint& at() const { return at_; }
  uint64_t missing() const { return missing_; }
  const std::optional<LogWrite>& first_behind() const { return first_behind_; }
  // A write from before there were chains.
  bool has_unchained() const { return has_unchained_; }

 private:
  void note(const LogWrite& write, uint64_t missing) {
    missing_ += missing;
    if (!first_behind_) first_behind_ = write;
  }

  ChainPoint at_;
  const uint64_t required_;
  bool has_ended_ = false;
  bool has_unchained_ = false;
  uint64_t missing_ = 0;
  std::optional<LogWrite> first_behind_;  // the first hole
};

// Where in the logs the first missing write must have been.
std::string place_of(const std::vector<LogFile>& files, const Walk& walk,
                     const std::string& store_path) {
  if (files.empty()) return store_path + ": no log";
  if (!walk.first_behind()) {
    const LogFile& last = files.back();
    return fmt::format("{} {} byte {}", last.path, last.scan.tail < last.size ? "from" : "ends at",
                       last.scan.tail);
  }
  const LogWrite& behind = *walk.first_behind();
  const LogFile& file = files[behind.file];
  for (const LogDamage& damage : file.scan.damage) {
    if (damage.end == behind.offset) return fmt::format("{} at byte {}", file.path, damage.offset);
  }
  return fmt::format("{} before byte {}", file.path, behind.offset);
}

}  // namespace

Result<CheckedStore> check_store(const std::string& path, const LedgerState* ledger) {
  const auto tables = read_tables(path);
  if (!tables) return tables.error();
  const ChainPoint required = ledger == nullptr ? ChainPoint() : ledger->required();
  Walk walk(tables->at, required.writes);
  const auto files = read_logs(path, [&](const LogWrite& write) { walk.take(write); });
  if (!files) return files.error();
  if (ledger == nullptr && walk.at().writes != 0) {
    return fail(ErrorCode::corrupt,
                fmt::format("the ledger of what was acknowledged is missing (of {}){}", path,
                            layout::repair_advice(path)));
  }
  if (ledger == nullptr || walk.has_unchained()) {
    if (const auto place = damage_before_end(*files)) {
      return fail(ErrorCode::corrupt,
                  fmt::format("damaged log ({}){}", *place, layout::repair_advice(path)));
    }
  }
  uint64_t missing = walk.missing();
  if (walk.at().writes < required.writes) {
    missing += required.writes - walk.at().writes;
  } else if (walk.at().writes == required.writes && walk.at().digest != required.digest) {
    ++missing;
  }
  if (missing != 0) {
    return fail(
        ErrorCode::corrupt,
        fmt::format("{} of {} acknowledged writes {} missing from the store ({}){}", missing,
                    std::max(required.writes, walk.at().writes), missing == 1 ? "is" : "are",
                    place_of(*files, walk, path), layout::repair_advice(path)));
  }
  if (tables->ingests < walk.at().ingests) {
    return fail(ErrorCode::corrupt,
                fmt::format("{} of {} files of patterns are missing from the store ({}: an old "
                            "manifest){}",
                            walk.at().ingests - tables->ingests, walk.at().ingests, path,
                            layout::repair_advice(path)));
  }
  return CheckedStore{tables->at, walk.at()};
}

}  // namespace hoist::match
