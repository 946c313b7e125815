// SHA-256 of many messages on a device, from px (sha256.px): a thread a message.
//
//   Status done = hash::sha256_messages(stream, data, offsets, digests);
//
// Message m is the bytes [offsets[m], offsets[m + 1]) of `data`; all three lie in the device's
// memory, `offsets` has one more than there are messages, and `digests` 32 bytes for each. Offsets
// that do not ascend, or lie behind the data, give digests of less, and reach no other memory.
//
// A GPU wants tens of thousands of messages at a time, those that follow one another of like
// lengths, since 32 of them take as long as the longest. Those that begin at multiples of 16 bytes
// are read fastest.
//
// Enqueued on the stream; memory must stay until it has come past. Thread-safe.
//
// Errors: `invalid_argument` where `data` or `digests` do not begin at a multiple of 16 bytes, as
// every device::Buffer does, where the size of `data` is no multiple of 4 (what is behind the last
// message does not matter), and for lengths that do not fit each other; those of
// px/built_in/kernel.h.
#pragma once

#include <cstdint>

#include "device/buffer.h"
#include "device/stream_view.h"

namespace hoist::hash {

Status sha256_messages(const device::StreamView& stream, device::Span<const std::byte> data,
                       device::Span<const uint64_t> offsets, device::Span<std::byte> digests);

// The same for messages that lie apart: message m is the bytes [offsets[2 m], offsets[2 m + 1]), of
// which no more than `longest` count.
Status sha256_messages_apart(const device::StreamView& stream, device::Span<const std::byte> data,
                             device::Span<const uint64_t> offsets, device::Span<std::byte> digests,
                             uint64_t longest);

}  // namespace hoist::hash
