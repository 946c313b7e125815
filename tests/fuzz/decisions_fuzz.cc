// Fuzzes the reader of the file `decisions`, in C and read by every preloaded program. What it
// accepts must answer every question, and writing it out again must be read the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "takeover/decisions.h"

namespace {

constexpr uint64_t kKey = 0x0123456789abcdef;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_row(const hoist_decisions& decisions, const char* name, int cpus) {
  hoist_interval row[HOIST_MOST_INTERVALS];
  const size_t count = hoist_find_row(&decisions, name, cpus, row);
  require(count <= HOIST_MOST_INTERVALS);
  if (count == 0) return;
  require(row[0].from == 0);
  for (size_t i = 0; i < count; ++i) {
    require(i == 0 || row[i].from > row[i - 1].from);
    require(hoist_decide(&decisions, name, cpus, row[i].from) == row[i].choice);
    require(cpus > 1 || row[i].choice != HOIST_CHOICE_CPU_ALL);
  }
  char text[4096];
  size_t size = hoist_format_decisions_head(text, sizeof text, kKey);
  size += hoist_format_decisions_row(text + size, sizeof text - size, name, cpus, row, count);
  static hoist_decisions again;
  require(hoist_parse_decisions(&again, text, size, kKey));
  require(hoist_break_even(&again, name, cpus) == hoist_break_even(&decisions, name, cpus));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static hoist_decisions decisions;
  const bool accepted =
      hoist_parse_decisions(&decisions, reinterpret_cast<const char*>(data), size, kKey);
  require(accepted == (decisions.size > 0));
  for (const char* name : {"sort/C", "hash/md5sum-many", "a/b"}) {
    for (const int cpus : {1, 2, 64}) check_row(decisions, name, cpus);
  }
  return 0;
}
