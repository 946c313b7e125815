#include <fmt/core.h>
#include <libdeflate.h>

#include <cstring>
#include <optional>
#include <span>

#include "base/call_team.h"
#include "base/caller_memory.h"
#include "base/file.h"
#include "base/own_work.h"
#include "codec/crc32.h"
#include "ops/deflate/chunks.h"
#include "ops/deflate/data_type.h"
#include "ops/deflate/deflate.h"
#include "takeover/library_calls.h"

namespace hoist::deflate {
namespace {

constexpr size_t kWorthThreads = 2 * kSmallestChunk;

LibraryCalls& calls() {
  static LibraryCalls* const calls = new LibraryCalls("deflate");  // static destructors may call
  return *calls;
}

// Made while the engine is loaded, which a fork() waits for: a child that is made during the first
// call would wait for good for that thread's.
[[maybe_unused]] const bool made_early = unseen([] {
  calls();
  return true;
});

// What stands before and behind the compressed data.
struct Wrapping {
  uint8_t header[10];
  size_t header_size;
  size_t trailer_size;
};

// As zlib writes it for default streams (RFC 1950, 2.2; RFC 1952, 2.3).
Wrapping wrapping_of(const hoist_deflate_call& call) {
  const int level = call.level;
  if (call.format == HOIST_DEFLATE_ZLIB) {
    constexpr unsigned kMethod = 0x78;  // DEFLATE with a window of 32 KiB
    const unsigned effort = level == 1 ? 0 : level < 6 ? 1 : level == 6 ? 2 : 3;
    unsigned header = kMethod << 8 | effort << 6;
    header += 31 - header % 31;
    return {{static_cast<uint8_t>(header >> 8), static_cast<uint8_t>(header)}, 2, 4};
  }
  if (call.format == HOIST_DEFLATE_GZIP) {
    const uint8_t effort = level == 9 ? 2 : level == 1 ? 4 : 0;
    constexpr uint8_t kUnix = 3;
    return {{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, effort, kUnix}, 10, 8};
  }
  return {{}, 0, 0};
}

void write_trailer(const hoist_deflate_call& call, uint32_t checksum, uint8_t* out) {
  if (call.format == HOIST_DEFLATE_ZLIB) {
    for (int shift = 24; shift >= 0; shift -= 8) *out++ = static_cast<uint8_t>(checksum >> shift);
  } else if (call.format == HOIST_DEFLATE_GZIP) {
    for (int shift = 0; shift < 32; shift += 8) *out++ = static_cast<uint8_t>(checksum >> shift);
    for (int shift = 0; shift < 32; shift += 8) {
      *out++ = static_cast<uint8_t>(static_cast<uint32_t>(call.in_size) >> shift);
    }
  }
}

uint32_t checksum_of(const hoist_deflate_call& call) {
  if (call.format == HOIST_DEFLATE_ZLIB) return codec::adler32(1, call.in, call.in_size);
  if (call.format == HOIST_DEFLATE_GZIP) return codec::crc32(0, call.in, call.in_size);
  return 0;
}

struct Body {
  size_t size = 0;
  uint32_t checksum = 0;
  const char* implementation = "cpu-1";
};

Body compress_body(const hoist_deflate_call& call, std::span<uint8_t> out) {
  const std::span in(static_cast<const uint8_t*>(call.in), call.in_size);
  Body body;
  if (call.in_size >= kWorthThreads) {
    CallTeam team(most_call_threads());
    if (team.pool() != nullptr) {
      body.implementation = "cpu-all";
      body.size = compress_in_chunks(in, out, call.level, CallerMemory(), *team.pool(),
                                     [&] { body.checksum = checksum_of(call); });
      return body;
    }
  }
  body.checksum = checksum_of(call);
  body.size = compress_whole(in, out, call.level);
  return body;
}

// Whether the data decompress to the input.
bool decompresses(const hoist_deflate_call& call, std::span<const uint8_t> data) {
  PageBuffer content(call.in_size);
  libdeflate_decompressor* const decompressor = libdeflate_alloc_decompressor();
  if (content.data() == nullptr || decompressor == nullptr) {
    libdeflate_free_decompressor(decompressor);
    calls().verification_left_out("no room");
    return true;
  }
  const libdeflate_result result = libdeflate_deflate_decompress(
      decompressor, data.data(), data.size(), content.data(), content.size(), nullptr);
  libdeflate_free_decompressor(decompressor);
  const bool same =
      result == LIBDEFLATE_SUCCESS && std::memcmp(content.data(), call.in, call.in_size) == 0;
  calls().verified(same, fmt::format("{} bytes at level {}", call.in_size, call.level));
  return same;
}

bool compress(const hoist_deflate_call& call, hoist_deflate_result& result) {
  if (calls().is_switched_off()) return calls().passed("switched off by --verify");
  const uint64_t bound = hoist_deflate_bound(call.in_size, call.format);
  if (call.room < bound) return calls().passed("less room than compressBound()");
  if (overlap(call.in, call.in_size, call.out, call.room)) {
    return calls().passed("input and output overlap");
  }
  const CallClock clock;
  if (call.wants_data_type) {
    const std::optional<int> type =
        data_type_of({static_cast<const std::byte*>(call.in), call.in_size});
    if (!type) return calls().passed("text or binary: zlib judges");
    result.data_type = *type;
  }
  const Wrapping wrapping = wrapping_of(call);
  uint8_t* const out = static_cast<uint8_t*>(call.out);
  const std::span room(out + wrapping.header_size,
                       bound - wrapping.header_size - wrapping.trailer_size);
  const Body body = compress_body(call, room);
  if (body.size == 0) return calls().passed("not compressed: zlib goes on");
  std::memcpy(out, wrapping.header, wrapping.header_size);
  write_trailer(call, body.checksum, room.data() + body.size);
  result.size = wrapping.header_size + body.size + wrapping.trailer_size;
  result.checksum = body.checksum;
  const uint64_t taken = clock.nanoseconds();
  if (calls().is_drawn() && !decompresses(call, room.first(body.size))) return false;
  calls().done(body.implementation, call.in_size, taken);
  return true;
}

}  // namespace
}  // namespace hoist::deflate

bool hoist_deflate(const hoist_deflate_call* call, hoist_deflate_result* result) {
  return hoist::unseen([&] { return hoist::deflate::compress(*call, *result); });
}
