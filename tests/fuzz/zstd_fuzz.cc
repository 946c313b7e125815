// Fuzzes the decompression of several frames: the first byte says how much room there is and
// whether a good frame of a mebibyte stands before or behind the rest, which is taken as frames.
// Where the engine does the call, libzstd must do the same; nothing may be written beyond the room.
#include <cstdint>
#include <cstdlib>

#include "ops/zstd/zstd_testing.h"

namespace {

constexpr size_t kLarge = size_t{1} << 20;
constexpr size_t kMostRoom = 4 * kLarge;

void require(bool condition) {
  if (!condition) std::abort();
}

// Compresses so well that fuzzing stays fast.
const std::string& large_frame() {
  static const std::string frame =
      hoist::zstd::testing::make_frame(std::string(kLarge, 'z'), {.checksum = true});
  return frame;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t choice = data[0];
  std::string input(reinterpret_cast<const char*>(data) + 1, size - 1);
  if ((choice & 1) != 0) input = large_frame() + input;
  if ((choice & 2) != 0) input += large_frame();
  const size_t room = kMostRoom * (choice >> 2) / 63;
  static std::string ours;
  static std::string theirs;
  ours.assign(room + 1, 'o');
  theirs.assign(room + 1, 't');
  const hoist_zstd_decompression call = {.dctx = nullptr,
                                         .special = false,
                                         .dst = ours.data(),
                                         .capacity = room,
                                         .src = input.data(),
                                         .size = input.size(),
                                         .dict = nullptr,
                                         .dict_size = 0,
                                         .ddict = nullptr};
  size_t result = 0;
  const bool done = hoist_zstd_decompress(&hoist::zstd::testing::library(), &call, &result);
  require(ours[room] == 'o');
  if (!done) return 0;
  require(ZSTD_decompress(theirs.data(), room, input.data(), input.size()) == result);
  require(ours.compare(0, result, theirs, 0, result) == 0);
  return 0;
}
