// A look at every byte of a container, whatever state it is in: all frames that can be found, which
// of them are intact, and what lies between them. Verification and repair both start from it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "container/index.h"

namespace hoist::container {

enum class DamageKind {
  file_header,
  metadata,
  gap,         // bytes that are no frame
  padding,     // not zero
  payload,     // another checksum
  digest,      // another BLAKE3 digest, or root
  index,       // disagrees with the frames
  duplicate,   // an id with two contents
  unfinished,  // bytes behind the last commit, or no commit
};
// "file-header", "gap", …: as in `hoist container verify --json`.
std::string_view name(DamageKind kind);

struct Damage {
  DamageKind kind;
  uint64_t offset;
  uint64_t size;
  std::optional<uint64_t> block;  // id
  std::string what;
};

// Called with bytes done and in all, from any thread but never from two at once.
using Progress = std::function<void(uint64_t done, uint64_t total)>;

struct SurveyedFrame : Frame {
  bool intact = false;  // padding and checksum
};

struct Survey {
  std::optional<FileHeader> header;
  std::vector<SurveyedFrame> frames;  // in the order of the file
  std::vector<Blake3Digest> digests;  // of the frames; empty where none were asked for
  std::vector<Damage> damage;         // the first kMaxDamage
  uint64_t damage_count = 0;
  uint64_t gaps = 0;

  static constexpr size_t kMaxDamage = 1000;
  void add(Damage found);
};

// Walks the frames one by one and reads all payloads on all threads of the process's pool, each
// byte once (a frame of most of the file: reading, checksum and digest side by side); 256 KiB to 4
// MiB a thread, about 60 bytes a frame (92 with digests). Where the walk meets what is no frame it
// searches for the next. Fails only where the source cannot be read, on limits.index, and as
// `unsupported` on files of a newer version.
Result<Survey> survey(const Source& source, const Limits& limits, const Progress& progress = {});

// The file header, or where it is lost what a list of blocks remembers of it; nothing where neither
// is intact.
Result<std::optional<FileHeader>> find_file_header(const Source& source, const Survey& survey);

}  // namespace hoist::container
