// What can still be read of a damaged store, whatever is damaged: tables block by block, logs
// record by record. Nothing in the store is changed.
//
// Tables are read through their manifest where that works; where anything is damaged or missing,
// each table that is there is read besides without index or manifest (table_scan.h).
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
  uint64_t ingests = 0;                  // files of patterns that the tables have
  bool is_whole = true;                  // nothing was damaged
};

// `required`: what must be there (LedgerState::required()).
Result<Salvage> salvage_store(const std::string& path, const ChainPoint& required);

}  // namespace hoist::match
