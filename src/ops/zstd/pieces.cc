#include "ops/zstd/pieces.h"

#include <limits>

namespace hoist::zstd {
namespace {

// ZSTD_CONTENTSIZE_ERROR and ZSTD_CONTENTSIZE_UNKNOWN are the two largest values.
constexpr unsigned long long kLargestSize = std::numeric_limits<unsigned long long>::max() - 2;

}  // namespace

Cut cut_frames(const hoist_zstd_library& library, const void* src, size_t size, size_t capacity,
               size_t piece_size) {
  const char* const begin = static_cast<const char*>(src);
  Cut cut;
  const auto objecting = [&](const char* objection) {
    cut.objection = objection;
    return cut;
  };
  Piece piece;
  for (size_t at = 0; at < size;) {
    const size_t frame = library.find_frame_compressed_size(begin + at, size - at);
    if (library.is_error(frame) || frame == 0) return objecting("damaged frame");
    if (frame == size) return objecting("single frame");
    const unsigned long long content = library.get_frame_content_size(begin + at, size - at);
    if (content > kLargestSize) return objecting("frame of unknown size");
    if (content > capacity - cut.output) return objecting("too little room for the output");
    // What holds nothing goes with the frame before it: skippable frames leave a context as it is.
    if (piece.src_size > 0 && content > 0 && piece.dst_size + content > piece_size) {
      cut.pieces.push_back(piece);
      piece = {.src = at, .dst = cut.output};
    }
    piece.src_size += frame;
    piece.dst_size += content;
    cut.output += content;
    at += frame;
  }
  cut.pieces.push_back(piece);
  return cut;
}

}  // namespace hoist::zstd
