// Whether a store has all that it acknowledged, told from its files before RocksDB opens it for
// writing: opening removes logs and tables that it takes for obsolete, which may be all that is
// left of something.
//
// The tables are at one point of the chain (chain.h). The logs must lead from there, write by
// write, to what the ledger requires at least. What is behind that, torn or whole, was never
// acknowledged.
#pragma once

#include <string>

#include "match/store/ledger.h"

namespace hoist::match {

// The point that the store is at. `corrupt`, with what is missing and where, unless it has all.
// `ledger` is null where there is none, which `corrupt` is for a store that has a chain.
// Beside a process that writes, `ledger` must have been read before.
Result<ChainPoint> check_store(const std::string& path, const LedgerState* ledger);

}  // namespace hoist::match
