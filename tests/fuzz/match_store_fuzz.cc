// Untrusted logs, tables and ledgers of a store: reading stays inside them, and what is taken for a
// record is one. Input: a byte that says which, then the file.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "match/store/ledger.h"
#include "match/store/log_scan.h"
#include "match/store/stored_pattern.h"
#include "match/store/table_scan.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void read_log(std::string_view bytes) {
  uint64_t last = 0;
  const auto scan = hoist::match::scan_log(bytes, [&](uint64_t offset, std::string_view record) {
    check(offset + record.size() <= bytes.size() && offset >= last);
    last = offset;
  });
  uint64_t end = 0;
  for (const auto& damage : scan.damage) {
    check(damage.offset >= end && damage.end > damage.offset);
    end = damage.end;
  }
  check(end <= scan.tail && scan.tail <= bytes.size());
}

void read_table(std::string_view bytes) {
  hoist::match::scan_table(bytes, [](const hoist::match::TableEntry& entry) {
    (void)hoist::match::decode_pattern(0, entry.value);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] % 3 == 0) read_log(bytes);
  if (data[0] % 3 == 1) read_table(bytes);
  if (data[0] % 3 == 2) (void)hoist::match::Ledger::decode(bytes);
  return 0;
}
