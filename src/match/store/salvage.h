// What can still be read of a damaged store, whatever is damaged: tables block by block, logs
// record by record. Nothing in the store is changed.
//
// Tables are read through their manifest where that works, else through one that RocksDB makes from
// copies (links) of the tables in `scratch`, a folder that is made and removed; there a table with
// any damage is left out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "match/store/chain.h"
#include "match/store/store.h"

namespace hoist::match {

struct Salvage {
  std::optional<IndexSettings> settings;
  std::unordered_map<uint32_t, std::string> symbols;  // by id
  std::map<uint32_t, StoredPattern> patterns;         // by serial
  std::unordered_map<uint32_t, std::string> metadata;
  std::unordered_set<uint32_t> removed;  // serials that a change names
  ChainPoint last;                       // of the writes that were read
  bool is_whole = true;                  // nothing was damaged
};

Result<Salvage> salvage_store(const std::string& path, const std::string& scratch);

}  // namespace hoist::match
