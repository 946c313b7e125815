// RocksDB's table format, read without its index and footer, so that damage costs no more than the
// blocks that it hit.
//
// Data blocks lie one after the other from the beginning of a file. Behind each: the kind of its
// compression (1 byte) and the masked CRC-32C of it and the block (4). The size of a block stands
// in the index only; here it is found as the one at which the CRC agrees. Where none does the next
// block is searched for at every byte. (RocksDB, table/format.h; format version 5.)
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace hoist::match {

struct TableEntry {
  std::string_view key;
  uint64_t sequence;  // the higher one is the later write; 0 in files that were ingested
  bool is_removal;
  std::string_view value;
};

// Calls `take` with all entries of whole blocks, in the order of the file. Other blocks of a table
// (filter, index) may give entries, too: their keys are none of ours, or their values make no
// sense. Untrusted bytes; memory: the largest block, at most 64 MiB.
void scan_table(std::string_view bytes, const std::function<void(const TableEntry&)>& take);

}  // namespace hoist::match
