#include "match/pairs/byte_symbols.h"

namespace hoist::match {

uint64_t* ThreadMasks::thread_table() {
  thread_local constinit uint64_t table[256 * kMostWords] = {};
  return table;
}

}  // namespace hoist::match
