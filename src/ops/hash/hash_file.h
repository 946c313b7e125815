// Reads and hashes one file.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ops/hash/hasher.h"
#include "ops/hash/spent_descriptors.h"

namespace hoist::hash {

struct FileDigest {
  int open_error = 0;  // errno of the failed open
  int read_error = 0;  // errno of the failed read; the digest covers what came before it
  uint64_t bytes = 0;
  uint64_t reported = 0;  // of the bytes, to the counters, as progress
  Digest digest;
};

// What looking at a file without opening it tells.
struct FileGlance {
  // Reading it early, or beside others, cannot be noticed: it is a regular file (or cannot be read
  // at all) and not one that this process is writing to. FIFOs, devices and "-" are not.
  bool independent = false;
  uint64_t bytes = 0;
  // Whether just so many bytes can be read: file systems that make their content up, or get it from
  // elsewhere, may tell another size.
  bool exact = false;
};
FileGlance glance_at(const std::string& name);

// What the thread that hashes a file shares the work with.
enum class Company {
  none,    // nobody
  reader,  // a second thread, which reads large files ahead
  others   // threads that hash other files
};

// "-" is standard input, from its present position. `expected_bytes`: the size of a regular file
// that was looked at, 0 if unknown; its end is then not asked for once more. `spent`, if not null,
// takes the descriptor when the file has been read, instead of its being closed.
FileDigest hash_file(const std::string& name, DigestKind kind, uint64_t expected_bytes,
                     Company company, SpentDescriptors* spent = nullptr);

// Reads a regular file that has just `expected` bytes into `memory`, which has room for more, for
// somebody else to hash: true. Of any other the digest is in the result, as by hash_file().
bool read_file(const std::string& name, DigestKind kind, uint64_t expected,
               std::span<uint8_t> memory, SpentDescriptors* spent, FileDigest& result);

// From this size on reading ahead pays for its thread.
inline constexpr uint64_t kLargeFile = 4u << 20;

}  // namespace hoist::hash
