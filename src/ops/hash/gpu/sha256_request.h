// How a program asks hoistd for the SHA-256 of many messages (served_sha256.h). Of the client's
// side only: the kernels are the daemon's.
#pragma once

#include <cstdint>

#include "device/device.h"
#include "device/remote/ring_layout.h"

namespace hoist::hash {

// The request's ranges, by position: all the client's memory on the device, none of it in the pool.
enum Sha256Range : size_t { kSha256Data, kSha256Offsets, kSha256Digests, kSha256Ranges };
// Its arguments: how many messages, and how many bytes the longest has at most.
enum Sha256Argument : size_t { kSha256Messages, kSha256Longest, kSha256Arguments };

inline constexpr uint64_t kSha256DigestBytes = 32;
// Two offsets a message, where it begins in the data and where it ends.
inline constexpr uint64_t kSha256OffsetBytes = 16;
// What one request may ask for: an H100 has as many bytes hashed in 0.4 s.
inline constexpr uint64_t kSha256MostMessages = uint64_t{1} << 20;
inline constexpr uint64_t kSha256MostBytes = uint64_t{1} << 38;  // the messages times the longest

struct Sha256Request {
  const void* data;  // aligned to 16 bytes; its size is a multiple of 4
  uint64_t data_bytes;
  const void* offsets;  // aligned to 8
  void* digests;        // aligned to 16
  uint64_t messages;
  uint64_t longest;
};

inline Status request(device::Device& device, device::StreamHandle stream,
                      const Sha256Request& call) {
  return device.run_served(stream, HOIST_REQUEST_SHA256,
                           {{call.data, call.data_bytes},
                            {call.offsets, call.messages * kSha256OffsetBytes},
                            {call.digests, call.messages * kSha256DigestBytes}},
                           {call.messages, call.longest}, {});
}

}  // namespace hoist::hash
