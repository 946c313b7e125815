#include <fmt/core.h>

#include "base/own_work.h"
#include "codec/crc32.h"
#include "ops/crc32/crc32.h"
#include "takeover/library_calls.h"

namespace {

using hoist::CallClock;
using hoist::LibraryCalls;
using hoist::unseen;

using Checksum = uint32_t(uint32_t, const void*, size_t);

LibraryCalls* calls() {
  static LibraryCalls* const calls =
      unseen([] { return new LibraryCalls("crc32"); });  // static destructors may call
  return calls;
}

// Made while the engine is loaded, which a fork() waits for: a child that is made during the first
// call would wait for good for that thread's.
[[maybe_unused]] const LibraryCalls* const made_early = calls();

void verify(uLong before, const Bytef* data, size_t size, hoist_original_checksum* original,
            uLong& result) {
  const uLong expected = original(before, data, size);
  unseen([&] {
    calls()->verified(expected == result, fmt::format("{} bytes from {:08x}", size, before));
    return true;
  });
  result = expected;
}

bool run(Checksum* checksum, uLong before, const Bytef* data, size_t size,
         hoist_original_checksum* original, uLong* result) {
  if (calls() == nullptr) return false;
  if (calls()->is_switched_off()) {
    return unseen([] { return calls()->passed("switched off by --verify"); });
  }
  const CallClock clock;
  *result = checksum(static_cast<uint32_t>(before), data, size);
  const uint64_t nanoseconds = clock.nanoseconds();
  if (unseen([] { return calls()->is_drawn(); })) verify(before, data, size, original, *result);
  calls()->done("cpu-1", size, nanoseconds);
  return true;
}

bool crc32(uLong before, const Bytef* data, size_t size, hoist_original_checksum* original,
           uLong* result) {
  return run(hoist::codec::crc32, before, data, size, original, result);
}

bool adler32(uLong before, const Bytef* data, size_t size, hoist_original_checksum* original,
             uLong* result) {
  // What zlib makes of other values follows from its way of computing, not from the definition.
  constexpr uLong kBase = 65521;
  const bool proper = (before & 0xffff) < kBase && ((before >> 16) & 0xffff) < kBase;
  return proper && run(hoist::codec::adler32, before, data, size, original, result);
}

}  // namespace

const hoist_checksum_functions hoist_crc32 = {.crc32 = crc32, .adler32 = adler32};
