// Walking over the frames of a container, and checking what they hold. Used by the reader, the
// verifier, repair and the appending writer.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "container/source.h"

namespace hoist::container {

// Reads frame headers. For one thread; holds 4 KiB, up to 256 KiB while it searches.
class FrameWalker {
 public:
  explicit FrameWalker(const Source& source) : source_(source) {}

  // The frame whose header lies at `offset`; `corrupt` where there is none, or where it reaches
  // beyond the end of the source.
  Result<Frame> at(uint64_t offset);

  // The first such frame from `offset` on; nothing where there is none. Looks at every byte.
  Result<std::optional<Frame>> find(uint64_t offset);

 private:
  // From `offset` on, a header's bytes at least, of which the caller has checked that they exist.
  // Where none are held, `wanted` are read.
  Result<Bytes> window(uint64_t offset, size_t wanted);

  const Source& source_;
  std::vector<std::byte> window_;
  uint64_t window_offset_ = 0;
};

// What a frame's bytes are against what its header says.
struct PayloadCheck {
  bool padding_is_zero = true;
  bool checksum_holds = true;
  Blake3Digest digest{};  // where it was asked for
};

// Reads padding and payload once, `buffer` at a time (memory: where they lie).
Result<PayloadCheck> check_payload(const Source& source, const Frame& frame, bool with_digest,
                                   MutableBytes buffer);

// The same on all threads of the process's pool: XXH3 takes its bytes in order, but beside it runs
// the digest, and the next bytes are read meanwhile. `checked` is called with the count of payload
// bytes so far. Memory: 4 MiB a thread.
Result<PayloadCheck> check_payload_on_all_threads(const Source& source, const Frame& frame,
                                                  bool with_digest,
                                                  const std::function<void(uint64_t)>& checked);

// Whether the bytes between a frame's header and its payload are zero.
bool is_zero(Bytes bytes);

}  // namespace hoist::container
