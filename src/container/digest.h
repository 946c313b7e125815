// The BLAKE3 digests of a container that may come from a source that nobody trusts.
//
//   digest of a frame = BLAKE3(bytes 0..39 of its header, payload)
//   root              = BLAKE3(kRootContext, file header*, digest of the metadata frame,
//                              digests of all blocks in the order of the file)
//
// * as it reads with kDigests as its only flag. Neither that nor offsets nor the order of lists
// make a difference, so that a copy of all blocks has the same root however it was written. Whoever
// has the root from elsewhere can believe every block that agrees with it, whichever source it came
// from.
#pragma once

#include "container/format.h"

namespace hoist::container {

inline constexpr std::string_view kRootContext = "hoist container root, version 0\n";

class FrameDigest {
 public:
  explicit FrameDigest(const Frame& frame) {
    constexpr size_t kCovered = 40;  // magic, section, id, sizes, kind, codec, alignment
    blake3_.update(encode_frame_header(frame).data(), kCovered);
  }
  void update(Bytes bytes) { blake3_.update(bytes.data(), bytes.size()); }
  Blake3Digest finish() const { return blake3_.finish(); }

 private:
  Blake3 blake3_;
};

class RootDigest {
 public:
  RootDigest(const FileHeader& header, const Blake3Digest& metadata) {
    blake3_.update(kRootContext.data(), kRootContext.size());
    blake3_.update(encode_file_header({header.kind, kDigests}).data(), kFileHeaderSize);
    blake3_.update(metadata.data(), metadata.size());
  }
  void add(std::span<const Blake3Digest> blocks) {
    blake3_.update(blocks.data(), blocks.size_bytes());
  }
  // The digest of the blocks so far; more may follow.
  Blake3Digest finish() const { return blake3_.finish(); }

 private:
  Blake3 blake3_;
};

inline Blake3Digest digest_of(const Frame& frame, Bytes payload) {
  FrameDigest digest(frame);
  digest.update(payload);
  return digest.finish();
}

}  // namespace hoist::container
