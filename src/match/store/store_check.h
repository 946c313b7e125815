// Whether a store has all that it acknowledged, told from its files before RocksDB opens it for
// writing: opening removes logs and tables that it takes for obsolete, which may be all that is
// left of something.
//
// The tables are at one point of the chain (chain.h). The logs must lead from there, write by
// write, to what the ledger requires at least. What is behind that was never promised: it counts up
// to the first hole, as a power cut leaves one where pages reached the disk in another order.
#pragma once

#include <string>

#include "match/store/ledger.h"

namespace hoist::match {

struct CheckedStore {
  ChainPoint tables;
  ChainPoint end;  // of the logs, as far as they lead on from there
};

// `corrupt`, with what is missing and where, unless the store has all.
// `ledger` is null where there is none: `corrupt` for a store that has a chain, and for an older
// one whose log is damaged before its end.
// Beside a process that writes, `ledger` must have been read before; writes may move from the logs
// to the tables meanwhile, which `corrupt` may be, too: ask again.
Result<CheckedStore> check_store(const std::string& path, const LedgerState* ledger);

}  // namespace hoist::match
