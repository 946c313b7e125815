// The checksum algorithms and the names by which programs, options and checksum files call them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hoist::hash {

enum class Algorithm : uint8_t {
  bsd,   // 16-bit rotating sum of BSD sum
  sysv,  // 16-bit sum of System V sum
  crc,   // the CRC of POSIX cksum
  md5,
  sha1,
  sha224,
  sha256,
  sha384,
  sha512,
  blake2b,
  sm3,
};

struct AlgorithmInfo {
  Algorithm algorithm;
  const char* option;   // argument of cksum --algorithm
  const char* tag;      // in "TAG (FILE) = DIGEST" and in messages
  const char* program;  // the program of its own, or ""
  size_t digest_bytes;  // the longest (BLAKE2b), or the only length
};

inline constexpr size_t kMaxDigestBytes = 64;

const AlgorithmInfo& info(Algorithm algorithm);

// Null where no algorithm has that name.
const AlgorithmInfo* find_by_option(std::string_view option);
const AlgorithmInfo* find_by_tag(std::string_view tag);
const AlgorithmInfo* find_by_program(std::string_view program);

// bsd, sysv and crc: a number and a byte count in place of a digest; --check does not take them.
inline bool is_plain_sum(Algorithm algorithm) { return algorithm <= Algorithm::crc; }

}  // namespace hoist::hash
