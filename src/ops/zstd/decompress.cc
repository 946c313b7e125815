#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/call_team.h"
#include "base/caller_memory.h"
#include "base/file.h"
#include "base/own_work.h"
#include "ops/zstd/calls.h"
#include "ops/zstd/pieces.h"
#include "ops/zstd/zstd.h"

namespace hoist::zstd {
namespace {

// Made while the engine is loaded, which a fork() waits for: a child that is made during the first
// call would wait for good for that thread's.
[[maybe_unused]] const bool made_early = unseen([] {
  calls();
  return true;
});

// Evens out what else the cores do, and is some hundred times what handing one out costs.
constexpr size_t kPieceSize = size_t{512} << 10;

// A context of ours for one thread.
class Context {
 public:
  explicit Context(const hoist_zstd_library& library)
      : library_(library), dctx_(library.create_dctx()) {}
  ~Context() { library_.free_dctx(dctx_); }  // takes null
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  void* get() const { return dctx_; }

 private:
  const hoist_zstd_library& library_;
  void* dctx_;
};

// Part of the call's input, with its dictionary. libzstd's result.
size_t decode_with(const hoist_zstd_library& library, const hoist_zstd_decompression& call,
                   void* dctx, std::span<char> dst, std::span<const char> src) {
  if (call.ddict != nullptr) {
    return library.decompress_using_ddict(dctx, dst.data(), dst.size(), src.data(), src.size(),
                                          call.ddict);
  }
  return library.decompress_using_dict(dctx, dst.data(), dst.size(), src.data(), src.size(),
                                       call.dict, call.dict_size);
}

struct Job {
  const hoist_zstd_library& library;
  const hoist_zstd_decompression& call;
  const std::vector<Piece>& pieces;
  const CallerMemory memory;
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;

  // The last piece is the caller's context's, which the original would leave as that leaves it.
  void* context_for(size_t index, const Context& own) const {
    return index + 1 == pieces.size() && call.dctx != nullptr ? call.dctx : own.get();
  }

  bool decode(const Piece& piece, void* dctx) const {
    char* const dst = static_cast<char*>(call.dst) + piece.dst;
    const char* const src = static_cast<const char*>(call.src) + piece.src;
    return memory.readable(src, piece.src_size) && memory.writable(dst, piece.dst_size) &&
           decode_with(library, call, dctx, {dst, piece.dst_size}, {src, piece.src_size}) ==
               piece.dst_size;
  }

  void run(const Context& own) {
    if (own.get() == nullptr) return;  // the others do the work, or `next` tells that none did
    for (size_t i = next++; i < pieces.size() && !failed; i = next++) {
      if (!decode(pieces[i], context_for(i, own))) failed = true;
    }
  }

  bool succeeded() const { return !failed && next >= pieces.size(); }
};

// Whether cutting helps: not where one frame holds nearly all.
bool is_worth_it(const Cut& cut) {
  size_t largest = 0;
  for (const Piece& piece : cut.pieces) largest = std::max(largest, piece.dst_size);
  return cut.output >= kWorthThreads && largest <= cut.output - cut.output / 8;
}

// Null, or why it was not done.
const char* decompress_pieces(const hoist_zstd_library& library,
                              const hoist_zstd_decompression& call, const Cut& cut) {
  const size_t threads = std::min<size_t>(most_call_threads(), cut.pieces.size());
  if (threads < 2) return "one CPU";
  CallTeam team(static_cast<int>(threads));
  if (team.pool() == nullptr) return "other threads are at it";
  Job job{library, call, cut.pieces, {}};
  // Made here, where the program allocates: a thread that is gone soon leaves no arena behind.
  std::vector<std::unique_ptr<Context>> contexts;
  for (size_t i = 0; i < threads; ++i) contexts.push_back(std::make_unique<Context>(library));
  team.pool()->parallel_for(threads, [&](size_t lane) { job.run(*contexts[lane]); });
  return job.succeeded() ? nullptr : "not decoded: the original judges";
}

// Decompresses again, by the original, and compares. The original's result stays.
bool verify(const hoist_zstd_library& library, const hoist_zstd_decompression& call,
            size_t output) {
  PageBuffer ours(output);
  Context fresh(library);
  if (ours.data() == nullptr || fresh.get() == nullptr) {
    calls().verification_left_out("no room");
    return true;
  }
  std::memcpy(ours.data(), call.dst, output);
  const size_t result =
      decode_with(library, call, fresh.get(), {static_cast<char*>(call.dst), call.capacity},
                  {static_cast<const char*>(call.src), call.size});
  const bool same = result == output && std::memcmp(ours.data(), call.dst, output) == 0;
  calls().verified(same, fmt::format("decompression of {} bytes to {}", call.size, output));
  return same;
}

bool decompress(const hoist_zstd_library& library, const hoist_zstd_decompression& call,
                size_t& result) {
  if (calls().is_switched_off()) return calls().passed("switched off by --verify");
  if (call.special) return calls().passed(kSpecialContext);
  if (overlap(call.dst, call.capacity, call.src, call.size)) {
    return calls().passed("input and output overlap");
  }
  // A fault in the program's memory is the calling thread's, and none of ours is under way then.
  const CallerMemory memory;
  if (!memory.readable(call.src, call.size) || !memory.readable(call.dict, call.dict_size)) {
    return calls().passed("memory that cannot be had");
  }
  const CallClock clock;
  const Cut cut = cut_frames(library, call.src, call.size, call.capacity, kPieceSize);
  if (cut.objection != nullptr) return calls().passed(cut.objection);
  if (!is_worth_it(cut)) return calls().passed("too little besides one frame");
  if (const char* why = decompress_pieces(library, call, cut)) return calls().passed(why);
  const uint64_t taken = clock.nanoseconds();
  if (calls().is_drawn() && !verify(library, call, cut.output)) return false;
  calls().done("cpu-all", cut.output, taken);
  result = cut.output;
  return true;
}

}  // namespace
}  // namespace hoist::zstd

bool hoist_zstd_decompress(const hoist_zstd_library* library, const hoist_zstd_decompression* call,
                           size_t* result) {
  return hoist::unseen([&] { return hoist::zstd::decompress(*library, *call, *result); });
}
