// How a store lies in RocksDB: keys, the bytes of a write, the database's options. For the files of
// this folder only.
#pragma once

#include <fmt/core.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "match/store/chain.h"
#include "match/store/store.h"

namespace hoist::match::layout {

// First byte of a key; what follows is a big-endian number.
inline constexpr char kSettings = 'i';
inline constexpr char kSymbol = 'v';
inline constexpr char kSymbolCopy = 'w';  // written with a later write, for repairs
inline constexpr char kPattern = 'p';     // as it was learned first
inline constexpr char kState = 'f';       // once it was learned again
inline constexpr char kMetadata = 'm';    // where there is some
inline constexpr char kChange = 'c';
inline constexpr char kForgotten = 'g';  // changes with lower numbers were
inline constexpr char kChain = 'a';      // the chain's last point
inline constexpr char kIngest = 'b';     // in each file that was ingested

inline constexpr uint64_t kFormat = 0;

template <typename T>
std::string key(char kind, T number) {
  std::string out(1, kind);
  for (int shift = 8 * (static_cast<int>(sizeof(T)) - 1); shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(number >> shift));
  }
  return out;
}

template <typename T>
bool parse_key(rocksdb::Slice bytes, T& number) {
  if (bytes.size() != 1 + sizeof(T)) return false;
  number = 0;
  for (size_t i = 1; i < bytes.size(); ++i) {
    number = static_cast<T>(number << 8 | static_cast<unsigned char>(bytes[i]));
  }
  return true;
}

inline std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
inline rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

std::string encode_settings(const IndexSettings& settings);
// `unsupported` where it is of another format.
Result<IndexSettings> decode_settings(std::string_view bytes);

// A write in the log: RocksDB's own header (12 bytes), operations, and last the chain's next point.
std::string_view operations_of(std::string_view write);
// Nothing where it has none, as what was written before there were chains.
std::optional<ChainPoint> point_of(std::string_view write);

rocksdb::Options database_options();

// The store as it is without its log, for reading; nothing in the folder is changed but RocksDB's
// own LOG. It is closed before its environment goes.
class FlushedDatabase {
 public:
  static Result<FlushedDatabase> open(const std::string& path);
  rocksdb::DB& operator*() const { return *database_; }
  rocksdb::DB* operator->() const { return database_.get(); }

 private:
  std::unique_ptr<rocksdb::Env> environment_;
  std::unique_ptr<rocksdb::DB> database_;
};

// With the files that a damaged or missing one may be mended from named in the message.
Error store_error(const rocksdb::Status& status, std::string_view doing, const std::string& path,
                  bool is_opening = false);
// ": `hoist match repair INDEX -o NEW` …" of the index whose store this is.
std::string repair_advice(const std::string& store_path);

}  // namespace hoist::match::layout
