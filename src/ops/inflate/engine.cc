#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "base/caller_memory.h"
#include "base/own_work.h"
#include "ops/inflate/inflate.h"
#include "ops/inflate/inflater.h"
#include "takeover/library_calls.h"

using hoist::CallClock;
using hoist::LibraryCalls;
using hoist::unseen;
using hoist::inflate::Inflater;

namespace {

// A stream is counted when it ends, and a long one every so often, so that it can be watched.
constexpr uint64_t kCountEvery = uint64_t{8} << 20;

LibraryCalls& calls() {
  static LibraryCalls* const calls = new LibraryCalls("inflate");  // static destructors may call
  return *calls;
}

// Made while the engine is loaded, which a fork() waits for: a child that is made during the first
// call would wait for good for that thread's.
[[maybe_unused]] const bool made_early = unseen([] {
  calls();
  return true;
});

}  // namespace

struct hoist_inflater {
  explicit hoist_inflater(const hoist_inflate_boundary& boundary)
      : inflater(boundary), originals(*boundary.originals) {}

  Inflater inflater;
  hoist_inflate_originals originals;
  bool verified = false;  // zlib decodes the same
  uint64_t bytes = 0;     // not counted yet
  uint64_t nanoseconds = 0;
};

namespace {

void count(hoist_inflater& stream) {
  if (stream.bytes == 0) return;
  unseen([&] {
    calls().done("cpu-1", stream.bytes, stream.nanoseconds);
    return true;
  });
  stream.bytes = stream.nanoseconds = 0;
}

hoist_inflater* start(z_streamp strm, const hoist_inflate_boundary* boundary) {
  return unseen([&]() -> hoist_inflater* {
    if (calls().is_switched_off()) {
      calls().passed("switched off by --verify");
      return nullptr;
    }
    auto stream = std::make_unique<hoist_inflater>(*boundary);
    constexpr size_t kMostWindow = hoist::inflate::OutputBuffer::kMostWindow;
    const auto window = std::make_unique_for_overwrite<uint8_t[]>(kMostWindow);
    uInt size = 0;
    if (stream->originals.inflateGetDictionary(strm, window.get(), &size) != Z_OK) return nullptr;
    stream->inflater.put_before(window.get(), size);
    stream->verified = calls().is_drawn();
    return stream.release();
  });
}

void end(hoist_inflater* stream) {
  count(*stream);
  if (stream->verified) {
    unseen([] {
      calls().verified(true, "");
      return true;
    });
  }
  delete stream;
}

// All that a program can see of a stream after a call. Where zlib has been called in the middle of
// the program's call, its note that it stands before a block (128) may be missing.
bool same(const z_stream& a, const z_stream& b) {
  constexpr int kAtBlock = 128;
  const auto text = [](const z_stream& stream) { return stream.msg != nullptr ? stream.msg : ""; };
  return a.avail_in == b.avail_in && a.avail_out == b.avail_out && a.total_in == b.total_in &&
         a.total_out == b.total_out && (a.data_type | kAtBlock) == (b.data_type | kAtBlock) &&
         a.adler == b.adler && std::strcmp(text(a), text(b)) == 0;
}

// zlib's inflate() on the same input, into memory of our own; its result counts where it differs.
int run_verified(hoist_inflater*& stream, z_stream& strm, int flush) {
  const z_stream before = strm;
  std::unique_ptr<Bytef[]> theirs(new (std::nothrow) Bytef[std::max(1u, before.avail_out)]);
  // Ours would have written over the input that zlib is to read.
  const bool in_place =
      hoist::overlap(before.next_in, before.avail_in, before.next_out, before.avail_out);
  const CallClock clock;
  const int result = stream->inflater.run(strm, flush);
  stream->bytes += strm.total_out - before.total_out;
  stream->nanoseconds += clock.nanoseconds();
  if (theirs == nullptr || before.next_out == nullptr || in_place) {
    stream->verified = false;  // zlib's state does not keep up any more
    unseen([&] {
      calls().verification_left_out(in_place ? "input and output overlap" : "no room");
      return true;
    });
    return result;
  }
  const z_stream after = strm;
  strm = before;
  strm.next_out = theirs.get();
  const int their_result = stream->originals.inflate(&strm, flush);
  const size_t written = before.avail_out - strm.avail_out;
  const bool equal = their_result == result && same(strm, after) &&
                     std::memcmp(theirs.get(), before.next_out, written) == 0;
  strm.next_out = before.next_out + written;
  if (equal) return result;
  std::memcpy(before.next_out, theirs.get(), written);
  unseen([&] {
    calls().verified(false, fmt::format("byte {} of a stream's output", before.total_out));
    return true;
  });
  stream->verified = false;
  end(stream);
  stream = nullptr;
  return their_result;
}

int run(hoist_inflater** inflater, z_streamp strm, int flush) {
  hoist_inflater& stream = **inflater;
  const CallClock clock;
  const uLong before = strm->total_out;
  if (stream.verified) return run_verified(*inflater, *strm, flush);
  const int result = stream.inflater.run(*strm, flush);
  stream.bytes += strm->total_out - before;
  stream.nanoseconds += clock.nanoseconds();
  if (stream.bytes >= kCountEvery || result == Z_STREAM_END) count(stream);
  return result;
}

hoist_inflater* copy(const hoist_inflater* stream) {
  return unseen([&]() -> hoist_inflater* {
    auto twin = std::make_unique<hoist_inflater>(*stream);
    twin->bytes = twin->nanoseconds = 0;
    return twin.release();
  });
}

}  // namespace

const hoist_inflate_functions hoist_inflate = {
    .start = start,
    .inflate = run,
    .end = end,
    .copy = copy,
    .set_dictionary = [](hoist_inflater* stream, const Bytef* dictionary,
                         uInt size) { return stream->inflater.set_dictionary(dictionary, size); },
    .get_dictionary = [](hoist_inflater* stream, Bytef* dictionary,
                         uInt* size) { return stream->inflater.get_dictionary(dictionary, size); },
    .prime = [](hoist_inflater* stream, int bits,
                int value) { return stream->inflater.prime(bits, value); },
    .sync_point =
        [](const hoist_inflater* stream) {
          return static_cast<int>(stream->inflater.at_stored_lengths());
        },
    .mark = [](const hoist_inflater* stream) { return stream->inflater.mark(); },
    .validate = [](hoist_inflater* stream, int check) { stream->inflater.validate(check != 0); },
    .unused_bits = [](const hoist_inflater* stream,
                      unsigned* count) { return stream->inflater.unused_bits(*count); },
};
