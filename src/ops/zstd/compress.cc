#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/call_team.h"
#include "base/caller_memory.h"
#include "base/file.h"
#include "base/own_work.h"
#include "ops/zstd/calls.h"
#include "ops/zstd/zstd.h"

namespace hoist::zstd {
namespace {

// Numbers of ZSTD_cParameter, which are part of libzstd's ABI.
constexpr int kFormat = 10;
constexpr int kCompressionLevel = 100;
constexpr int kChecksumFlag = 201;
constexpr int kWorkers = 400;
constexpr int kJobSize = 401;
constexpr int kOverlap = 402;
constexpr int kStableInput = 1006;
constexpr int kStableOutput = 1007;
// All parameters of libzstd 1.4 to 1.5 lie below, most numbers being none.
constexpr int kParameterNumbers = 1100;

// libzstd's smallest job is 512 KiB. Smaller ones than this cost compression ratio.
constexpr size_t kSmallestJob = size_t{1} << 20;

class Context {
 public:
  explicit Context(const hoist_zstd_library& library)
      : library_(library), cctx_(library.create_cctx()) {}
  // Ends its threads, too.
  ~Context() { library_.free_cctx(cctx_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  void* get() const { return cctx_; }
  bool set(int parameter, int value) const {
    return library_.is_error(library_.set_parameter(cctx_, parameter, value)) == 0;
  }
  // Gives it all parameters of `other`.
  bool copy_parameters(const void* other) const {
    for (int parameter = 0; parameter < kParameterNumbers; ++parameter) {
      int own = 0;
      int theirs = 0;
      if (!get_parameter(cctx_, parameter, own)) continue;
      if (!get_parameter(other, parameter, theirs)) return false;
      if (own != theirs && !set(parameter, theirs)) return false;
    }
    return true;
  }
  bool get_parameter(const void* cctx, int parameter, int& value) const {
    return library_.is_error(library_.get_parameter(cctx, parameter, &value)) == 0;
  }

 private:
  const hoist_zstd_library& library_;
  void* cctx_;
};

// Parameters may only be set between frames; the one set here keeps its value.
bool is_between_frames(const hoist_zstd_library& library, void* cctx) {
  int value = 0;
  return library.is_error(library.get_parameter(cctx, kChecksumFlag, &value)) == 0 &&
         library.is_error(library.set_parameter(cctx, kChecksumFlag, value)) == 0;
}

// Why a context of the program's cannot be stood in for, or null.
const char* objection_to(const hoist_zstd_library& library, const Context& context, void* cctx) {
  for (const auto& [parameter, why] : {std::pair{kWorkers, "uses libzstd's threads already"},
                                       std::pair{kFormat, "frames without magic number"},
                                       std::pair{kStableInput, "buffers promised to be stable"},
                                       std::pair{kStableOutput, "buffers promised to be stable"}}) {
    int value = 0;
    if (context.get_parameter(cctx, parameter, value) && value != 0) return why;
  }
  if (!is_between_frames(library, cctx)) return "in the middle of a frame";
  return context.copy_parameters(cctx) ? nullptr : "parameters that cannot be copied";
}

// Jobs of libzstd's own choice are four windows long, 32 MiB at level 19: input that makes fewer of
// these than there are threads gets smaller ones. Each then looks back an eighth of a window, as
// with libzstd's fast levels: at high ones a job would spend as long on a whole window before it as
// on its own bytes.
bool set_threads(const Context& context, size_t size, int threads) {
  constexpr size_t kUsualJob = size_t{32} << 20;
  constexpr int kEighthOfWindow = 6;
  if (!context.set(kWorkers, threads)) return false;
  const size_t share = size / static_cast<size_t>(threads) + 1;
  if (share >= kUsualJob) return true;
  int overlap = 0;
  context.get_parameter(context.get(), kOverlap, overlap);
  return context.set(kJobSize, static_cast<int>(std::max(share, kSmallestJob))) &&
         (overlap != 0 || context.set(kOverlap, kEighthOfWindow));
}

// Whether the frame at `dst` decompresses to the input.
void verify(const hoist_zstd_library& library, const hoist_zstd_compression& call, size_t result) {
  PageBuffer content(call.size);
  void* const dctx = library.create_dctx();
  if (content.data() == nullptr || dctx == nullptr) {
    library.free_dctx(dctx);
    calls().verification_left_out("no room");
    return;
  }
  const size_t size = library.decompress_using_dict(dctx, content.data(), content.size(), call.dst,
                                                    result, nullptr, 0);
  library.free_dctx(dctx);
  calls().verified(size == call.size && std::memcmp(content.data(), call.src, size) == 0,
                   fmt::format("compression of {} bytes to {}", call.size, result));
}

bool compress(const hoist_zstd_library& library, const hoist_zstd_compression& call,
              size_t& result) {
  if (calls().is_switched_off()) return calls().passed("switched off by --verify");
  if (call.special) return calls().passed(kSpecialContext);
  // Output that needs no more than this always fits, so that no attempt is in vain.
  if (call.capacity < library.compress_bound(call.size)) {
    return calls().passed("less room than ZSTD_compressBound()");
  }
  if (overlap(call.dst, call.capacity, call.src, call.size)) {
    return calls().passed("input and output overlap");
  }
  const int cpus = most_call_threads();
  if (cpus < 2) return calls().passed("one CPU");
  // More threads than jobs would wait, and cost their start.
  const size_t jobs = (call.size + kSmallestJob - 1) / kSmallestJob;
  const int threads = static_cast<int>(std::min(static_cast<size_t>(cpus), jobs));
  if (threads < 2) return calls().passed("too little for two threads");
  const CallerMemory memory;
  if (!memory.readable(call.src, call.size) ||
      !memory.writable(call.dst, library.compress_bound(call.size))) {
    return calls().passed("memory that cannot be had");
  }
  // Its threads are libzstd's, which start with the context; the team is the leave to have some.
  CallTeam team(threads);
  if (team.pool() == nullptr) return calls().passed("other threads are at it");
  const CallClock clock;
  const Context context(library);
  if (context.get() == nullptr) return calls().passed("not enough memory");
  if (call.cctx == nullptr) {
    if (!context.set(kCompressionLevel, call.level)) return calls().passed("unknown level");
  } else if (const char* why = objection_to(library, context, call.cctx)) {
    return calls().passed(why);
  }
  if (!set_threads(context, call.size, threads)) return calls().passed("libzstd without threads");
  const size_t size =
      library.compress2(context.get(), call.dst, call.capacity, call.src, call.size);
  if (library.is_error(size) != 0) return calls().passed("not compressed: the original judges");
  const uint64_t taken = clock.nanoseconds();
  result = size;
  if (calls().is_drawn()) {
    verify(library, call, result);
    if (calls().is_switched_off()) return false;
  }
  calls().done("cpu-all", call.size, taken);
  return true;
}

}  // namespace
}  // namespace hoist::zstd

bool hoist_zstd_compress(const hoist_zstd_library* library, const hoist_zstd_compression* call,
                         size_t* result) {
  return hoist::unseen([&] { return hoist::zstd::compress(*library, *call, *result); });
}
