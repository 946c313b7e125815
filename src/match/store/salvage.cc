#include "match/store/salvage.h"

#include <rocksdb/sst_file_reader.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/file.h"
#include "base/log.h"
#include "match/store/log_files.h"
#include "match/store/store_layout.h"
#include "match/store/table_scan.h"

namespace hoist::match {
namespace {

using namespace layout;  // NOLINT(google-build-using-namespace)

// Keys and values in the order in which they were written.
class Collector {
 public:
  explicit Collector(Salvage& salvage) : salvage_(salvage) {}

  // False where a value makes no sense.
  bool put(rocksdb::Slice key, std::string_view value) {
    if (key.empty()) return false;
    uint32_t number = 0;
    const bool is_numbered = parse_key(key, number);
    switch (key[0]) {
      case kSettings:
        return put_settings(value);
      case kChain:
        return put_point(value);
      case kSymbol:
      case kSymbolCopy:
        if (is_numbered) salvage_.symbols.try_emplace(number, value);
        return is_numbered;
      case kPattern:
        return is_numbered && put_pattern(number, value);
      case kState:
        return is_numbered && put_state(number, value);
      case kMetadata:
        if (is_numbered) salvage_.metadata[number] = value;
        return is_numbered;
      case kChange:
        return put_change(value);
      case kIngest:
        ++salvage_.ingests;
        return true;
      default:
        return true;
    }
  }

  void remove(rocksdb::Slice key) {
    uint32_t number = 0;
    if (!parse_key(key, number)) return;
    if (key[0] == kPattern) salvage_.patterns.erase(number);
    if (key[0] == kState) states_.erase(number);
    if (key[0] == kMetadata) salvage_.metadata.erase(number);
  }

  // Further points do not count.
  void keep_last() { keeps_last_ = true; }

  // What damage may have kept from put(), which had the later value where it had one.
  void add_missing(rocksdb::Slice key, std::string_view value) {
    uint32_t number = 0;
    if (key.empty()) return;
    const bool is_numbered = parse_key(key, number);
    switch (key[0]) {
      case kSettings:
        if (!salvage_.settings) put_settings(value);
        return;
      case kPattern:
        if (!is_numbered || salvage_.patterns.contains(number)) return;
        if (!salvage_.removed.contains(number)) put_pattern(number, value);
        return;
      case kState:
        if (is_numbered && !states_.contains(number)) put_state(number, value);
        return;
      case kMetadata:
        if (is_numbered) salvage_.metadata.try_emplace(number, value);
        return;
      default:
        put(key, value);
    }
  }

  void finish() {
    for (const uint32_t serial : salvage_.removed) salvage_.patterns.erase(serial);
    for (auto& [serial, state] : states_) {
      const auto pattern = salvage_.patterns.find(serial);
      if (pattern != salvage_.patterns.end()) pattern->second.state = std::move(state);
    }
  }

 private:
  bool put_settings(std::string_view value) {
    const auto settings = decode_settings(value);
    if (settings) salvage_.settings = *settings;
    return settings.has_value();
  }
  bool put_point(std::string_view value) {
    const auto point = decode_point(value);
    if (!keeps_last_ && point && point->writes >= salvage_.last.writes) salvage_.last = *point;
    return point.has_value();
  }
  bool put_pattern(uint32_t serial, std::string_view value) {
    auto pattern = decode_pattern(serial, value);
    if (pattern) salvage_.patterns[serial] = std::move(*pattern);
    return pattern.has_value();
  }
  bool put_state(uint32_t serial, std::string_view value) {
    auto state = decode_state(value);
    if (state) states_[serial] = std::move(*state);
    return state.has_value();
  }
  bool put_change(std::string_view value) {
    const auto change = decode_change(value);
    if (change && change->kind == Change::Kind::removal) salvage_.removed.insert(change->serial);
    return change.has_value();
  }

  Salvage& salvage_;
  std::unordered_map<uint32_t, PatternState> states_;
  bool keeps_last_ = false;
};

// A write of the log, operation by operation.
class BatchReader : public rocksdb::WriteBatch::Handler {
 public:
  explicit BatchReader(Collector& collector) : collector_(collector) {}

  rocksdb::Status PutCF(uint32_t /*family*/, const rocksdb::Slice& key,
                        const rocksdb::Slice& value) override {
    is_good_ = collector_.put(key, view(value)) && is_good_;
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteCF(uint32_t /*family*/, const rocksdb::Slice& key) override {
    collector_.remove(key);
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteRangeCF(uint32_t /*family*/, const rocksdb::Slice& /*begin*/,
                                const rocksdb::Slice& /*end*/) override {
    return rocksdb::Status::OK();  // of changes that a snapshot has
  }
  bool is_good() const { return is_good_; }

 private:
  Collector& collector_;
  bool is_good_ = true;
};

// All keys that can be read. Where a block cannot, seeking to later keys fails until they lie in
// the next one: the first of those is found by steps that grow, then by halving.
class TableReader {
 public:
  TableReader(rocksdb::DB& database, Collector& collector)
      : database_(database), collector_(collector) {}

  // Whether all was.
  bool read() {
    for (const char kind :
         {kSettings, kChain, kIngest, kSymbol, kSymbolCopy, kPattern, kMetadata, kChange, kState}) {
      if (kind == kSettings || kind == kChain) {
        read_one(std::string(1, kind));
      } else if (kind == kChange || kind == kIngest) {
        read_kind<uint64_t>(kind);
      } else {
        read_kind<uint32_t>(kind);
      }
    }
    return is_whole_;
  }

 private:
  void read_one(const std::string& key) {
    std::string value;
    const rocksdb::Status found = database_.Get(rocksdb::ReadOptions(), key, &value);
    if (found.IsNotFound()) return;
    is_whole_ = found.ok() && collector_.put(key, value) && is_whole_;
  }

  template <typename T>
  void read_kind(char kind) {
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    const std::string end(1, static_cast<char>(kind + 1));
    const rocksdb::Slice bound(end);
    options.iterate_upper_bound = &bound;
    // A new one each time: what an iterator that met damage does next is not defined.
    const auto seek = [&](T number) {
      std::unique_ptr<rocksdb::Iterator> at(database_.NewIterator(options));
      at->Seek(key(kind, number));
      return at;
    };
    T next = 0;
    for (auto at = seek(next);; at = seek(next)) {
      for (; at->Valid(); at->Next()) {
        T found = 0;
        is_whole_ = parse_key(at->key(), found) && is_whole_;
        is_whole_ = collector_.put(at->key(), view(at->value())) && is_whole_;
        if (found == std::numeric_limits<T>::max()) return;
        next = found + 1;
      }
      if (at->status().ok()) return;
      is_whole_ = false;
      const auto beyond = behind_damage<T>(next, [&](T number) {
        const auto there = seek(number);
        return there->status().ok();
      });
      if (!beyond) return;
      next = *beyond;
    }
  }

  // The least number from which on `can_read`, or nothing.
  template <typename T, typename CanRead>
  static std::optional<T> behind_damage(T bad, const CanRead& can_read) {
    constexpr T kMost = std::numeric_limits<T>::max();
    T good = bad;
    for (T step = 1;; step = step > kMost / 2 ? kMost : static_cast<T>(step * 2)) {
      if (bad == kMost) return std::nullopt;
      good = step > kMost - bad ? kMost : static_cast<T>(bad + step);
      if (can_read(good)) break;
      bad = good;
    }
    while (good - bad > 1) {
      const T middle = static_cast<T>(bad + (good - bad) / 2);
      (can_read(middle) ? good : bad) = middle;
    }
    return good;
  }

  rocksdb::DB& database_;
  Collector& collector_;
  bool is_whole_ = true;
};

// The last write of each key among all tables of the folder.
class LooseTables {
 public:
  Status read(const std::string& path) {
    std::error_code error;
    std::vector<std::string> files;
    for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
         at.increment(error)) {
      if (at->path().extension() == ".sst") files.push_back(at->path().string());
    }
    if (error) {
      return fail(ErrorCode::io, fmt::format("cannot read ({}: {})", path, error.message()),
                  error.value());
    }
    std::sort(files.rbegin(), files.rend());  // later ones first
    for (const std::string& file : files) {
      const auto bytes = read_file(file, std::numeric_limits<size_t>::max());
      if (!bytes) {  // a bad sector, say: the others are read all the same
        log(LogLevel::warn, "{}", bytes.error().message);
        continue;
      }
      bool is_scanned = false;
      scan_table(*bytes, [&](const TableEntry& entry) {
        is_scanned = true;
        take(entry);
      });
      if (!is_scanned) read_by_index(file);
    }
    return {};
  }

  // What the collector does not have. Values that make no sense are left out.
  void give(Collector& collector) const {
    for (const auto& [key, write] : writes_) {
      if (write.value) collector.add_missing(key, *write.value);
    }
  }

 private:
  struct Write {
    uint64_t sequence;
    std::optional<std::string> value;  // none: a removal
  };

  // A table with other checksums, as those from before there were chains. What it removed is not
  // told of, nor when: other tables come first.
  void read_by_index(const std::string& file) {
    rocksdb::SstFileReader reader(database_options());
    if (!reader.Open(file).ok()) return;
    const std::unique_ptr<rocksdb::Iterator> at(reader.NewIterator(rocksdb::ReadOptions()));
    for (at->SeekToFirst(); at->Valid(); at->Next()) {
      take({view(at->key()), 0, false, view(at->value())});
    }
  }

  void take(const TableEntry& entry) {
    const auto [at, is_new] = writes_.try_emplace(std::string(entry.key), Write{});
    if (!is_new && at->second.sequence >= entry.sequence) return;
    at->second.sequence = entry.sequence;
    at->second.value.reset();
    if (!entry.is_removal) at->second.value = entry.value;
  }

  std::unordered_map<std::string, Write> writes_;
};

// True where all was read.
bool read_tables(const std::string& path, Collector& collector) {
  const auto flushed = FlushedDatabase::open(path);
  return flushed && TableReader(**flushed, collector).read();
}

// True where no write is missing between the tables and the last one that is required.
Result<bool> read_writes(const std::string& path, const ChainPoint& begin,
                         const ChainPoint& required, Collector& collector) {
  ChainPoint at = begin;
  bool is_whole = true;
  bool has_unchained = false;
  bool has_ended = false;
  const auto files = read_logs(path, [&](const LogWrite& write) {
    const auto point = point_of(write.bytes);
    has_unchained = has_unchained || !point;
    // The tables have it, in a later state.
    if (point && point->writes <= at.writes) return;
    // Behind a hole that a power cut may leave nothing was promised. What is there is kept, and
    // says nothing of how far the store had come.
    const bool is_gap = point && point->writes != at.writes + 1;
    has_ended = has_ended || (is_gap && at.writes >= required.writes);
    if (has_ended) collector.keep_last();
    BatchReader reader(collector);
    const rocksdb::WriteBatch batch{std::string(write.bytes)};
    const bool is_read = batch.Iterate(&reader).ok() && reader.is_good();
    if (has_ended) return;
    is_whole = is_read && is_whole;
    if (!point) return;
    is_whole = is_whole && !is_gap;
    at = *point;
  });
  if (!files) return files.error();
  // What is missing from a log without a chain is told by its own damage only.
  if ((has_unchained || at.writes == 0) && damage_before_end(*files)) is_whole = false;
  return is_whole && at.writes >= required.writes;
}

}  // namespace

Result<Salvage> salvage_store(const std::string& path, const ChainPoint& required) {
  Salvage salvage;
  Collector collector(salvage);
  salvage.is_whole = read_tables(path, collector);
  const ChainPoint begin = salvage.last;
  const auto has_all = read_writes(path, begin, required, collector);
  if (!has_all) return has_all.error();
  const uint64_t patterns = std::max(
      salvage.last.patterns, required.writes >= salvage.last.writes ? required.patterns : 0);
  salvage.is_whole = salvage.is_whole && *has_all && salvage.ingests >= salvage.last.ingests &&
                     salvage.patterns.size() >= patterns;
  if (!salvage.is_whole) {
    LooseTables tables;
    if (Status read = tables.read(path); !read) return read.error();
    tables.give(collector);
  }
  collector.finish();
  return salvage;
}

}  // namespace hoist::match
