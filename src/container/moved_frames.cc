#include "container/moved_frames.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/bytes.h"
#include "container/magic.h"
#include "container/reader.h"

namespace hoist::container {
namespace {

constexpr uint64_t kFarthest = uint64_t{16} << 20;
// Each takes up to a second: what only looks like a header must not take hours.
constexpr int kMostSearches = 8;
constexpr size_t kChunk = size_t{1} << 20;

using Header = std::array<std::byte, kFrameHeaderSize>;

class Finder {
 public:
  Finder(const Source& source, const Survey& survey, const Limits& limits)
      : source_(source), survey_(survey), limits_(limits) {}

  Result<std::vector<MovedFrame>> run() && {
    for (const SurveyedFrame& frame : survey_.frames) {
      if (frame.intact) last_in_place_ = &frame;
    }
    is_last_ = last_in_place_ == nullptr;
    uint64_t begin = 0;
    for (const SurveyedFrame& frame : survey_.frames) {
      if (frame.intact) {
        if (Status status = look(begin, frame.offset); !status) return status.error();
        begin = frame.end();
        is_last_ = &frame == last_in_place_;
        is_anything_in_place_ = true;
      }
    }
    if (Status status = look(begin, source_.size()); !status) return status.error();
    return std::move(found_);
  }

 private:
  // From `begin` to `end` no intact frame is in its place.
  Status look(uint64_t begin, uint64_t end) {
    std::vector<std::byte> chunk;
    while (begin < end && end - begin >= kFrameHeaderSize) {
      chunk.resize(static_cast<size_t>(std::min<uint64_t>(kChunk, end - begin)));
      if (Status read = source_.read(begin, MutableBytes(chunk)); !read) return read;
      uint64_t next = begin + chunk.size();
      if (next < end) next -= kFrameHeaderSize - 1;
      for (size_t from = 0; chunk.size() - from >= kFrameHeaderSize; ++from) {
        const void* hit = ::memmem(chunk.data() + from, chunk.size() - from, frame_magic().data(),
                                   frame_magic().size());
        if (hit == nullptr) break;
        from = static_cast<size_t>(static_cast<const std::byte*>(hit) - chunk.data());
        if (chunk.size() - from < kFrameHeaderSize) break;
        Header header;
        std::memcpy(header.data(), chunk.data() + from, header.size());
        const Result<std::optional<MovedFrame>> frame = frame_at(begin + from, header, end);
        if (!frame) return frame.error();
        if (!*frame) continue;
        next = (*frame)->payload_lies_at() + (*frame)->stored_size;
        found_.push_back(**frame);
        shift_ = static_cast<int64_t>((*frame)->lies_at - (*frame)->offset);
        break;
      }
      begin = next;
    }
    return {};
  }

  Result<std::optional<MovedFrame>> frame_at(uint64_t at, const Header& header, uint64_t end) {
    if (decode_frame_header(header, at)) return std::nullopt;  // in its place
    std::optional<MovedFrame> frame = by_known_places(at, header);
    if (!frame) {
      // In front of frames in their places only what came in and went again moved a frame.
      const Result<bool> likely = is_last_ ? is_likely(at, header, end) : false;
      if (!likely) return likely.error();
      if (*likely) frame = by_search(at, header);
    }
    if (!frame || !fits(*frame, end)) return std::nullopt;
    const Result<bool> intact = is_intact(*frame);
    if (!intact) return intact.error();
    if (!*intact) return std::nullopt;
    const Result<bool> is_inner = is_of_inner_file(*frame);
    if (!is_inner) return is_inner.error();
    if (*is_inner) return std::nullopt;
    return frame;
  }

  static std::optional<MovedFrame> decoded(uint64_t at, const Header& header, uint64_t written) {
    const Result<Frame> frame = decode_frame_header(header, written);
    if (!frame) return std::nullopt;
    MovedFrame moved;
    static_cast<Frame&>(moved) = *frame;
    moved.lies_at = at;
    return moved;
  }

  std::optional<MovedFrame> by_known_places(uint64_t at, const Header& header) const {
    for (const uint64_t written : {at - static_cast<uint64_t>(shift_), in_place_end(at)}) {
      if (std::optional<MovedFrame> frame = decoded(at, header, written)) return frame;
    }
    return std::nullopt;
  }

  std::optional<MovedFrame> by_search(uint64_t at, const Header& header) {
    if (searches_ == kMostSearches) return std::nullopt;
    for (uint64_t distance = 1; distance <= kFarthest; ++distance) {
      if (distance <= at) {
        if (std::optional<MovedFrame> frame = decoded(at, header, at - distance)) return frame;
      }
      if (std::optional<MovedFrame> frame = decoded(at, header, at + distance)) return frame;
    }
    ++searches_;
    return std::nullopt;
  }

  // Whether the payload has the checksum that the header tells, wherever it was written. Payloads
  // that are aligned begin at a place that is not known yet.
  Result<bool> is_likely(uint64_t at, const Header& header, uint64_t end) const {
    ByteReader in(header);
    in.take(frame_magic().size());
    const auto section = in.read<uint32_t>();
    in.read<uint64_t>();
    in.read<uint64_t>();
    const auto size = in.read<uint64_t>();
    in.read<uint32_t>();
    in.read<uint16_t>();
    const auto alignment = in.read<uint8_t>();
    const auto reserved = in.read<uint8_t>();
    const auto check = in.read<uint64_t>();
    const uint64_t room = end - at - kFrameHeaderSize;
    if (section > static_cast<uint32_t>(Section::commit) || reserved != 0 || size > room ||
        alignment > kMaxAlignmentLog2) {
      return false;
    }
    return alignment > 0 ? true : has_checksum(at + kFrameHeaderSize, size, check);
  }

  Result<bool> has_checksum(uint64_t at, uint64_t size, uint64_t check) const {
    if (size > limits_.block) return false;
    BlockBytes bytes = BlockBytes::allocate(size);
    if (bytes.size() != size) return fail(ErrorCode::exhausted, "no memory for a block");
    if (Status read = source_.read(at, MutableBytes(bytes)); !read) return read.error();
    return checksum(bytes) == check;
  }

  Result<bool> is_intact(const MovedFrame& frame) const {
    return has_checksum(frame.payload_lies_at(), frame.stored_size, frame.payload_checksum);
  }

  // It lies inside, and was written behind all frames in front of it.
  bool fits(const MovedFrame& frame, uint64_t end) const {
    const uint64_t payload = frame.payload_lies_at();
    return payload <= end && frame.stored_size <= end - payload &&
           (found_.empty() || frame.offset >= found_.back().end()) &&
           frame.offset >= in_place_end(frame.lies_at);
  }

  // The end of the last frame in its place in front of `at` whose header is intact.
  uint64_t in_place_end(uint64_t at) const {
    const auto behind =
        std::lower_bound(survey_.frames.begin(), survey_.frames.end(), at,
                         [](const Frame& frame, uint64_t place) { return frame.offset < place; });
    return behind == survey_.frames.begin() ? kFileHeaderSize : std::prev(behind)->end();
  }

  // A file of its own begins inside this one, and the frame is in its place there.
  Result<bool> is_of_inner_file(const MovedFrame& frame) const {
    if (!is_anything_in_place_ || frame.offset >= frame.lies_at) return false;
    std::array<std::byte, kFileMagic.size()> bytes;
    const uint64_t begin = frame.lies_at - frame.offset;
    if (Status read = source_.read(begin, MutableBytes(bytes)); !read) return read.error();
    return std::memcmp(bytes.data(), kFileMagic.data(), bytes.size()) == 0;
  }

  const Source& source_;
  const Survey& survey_;
  const Limits& limits_;
  std::vector<MovedFrame> found_;
  const SurveyedFrame* last_in_place_ = nullptr;
  bool is_last_ = false;  // nothing is in its place behind
  bool is_anything_in_place_ = false;
  int64_t shift_ = 0;  // of the moved frame before
  int searches_ = 0;
};

}  // namespace

Result<std::vector<MovedFrame>> find_moved_frames(const Source& source, const Survey& survey,
                                                  const Limits& limits) {
  return Finder(source, survey, limits).run();
}

}  // namespace hoist::container
