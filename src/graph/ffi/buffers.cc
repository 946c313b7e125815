#include <algorithm>
#include <cstring>

#include "graph/ffi/json.h"
#include "graph/ffi/operands.h"
#include "graph/ffi/session.h"

namespace hoist::graph::ffi {
namespace {

constexpr auto kOdd = std::byte{0x01};

// Calls use(entry) with the buffer.
template <typename Use>
auto with_buffer(uint64_t executor, uint64_t buffer, bool is_written, Lifetime lifetime,
                 const Use& use) -> decltype(use(std::declval<BufferEntry&>())) {
  const Operands operands(executor, lifetime);
  if (!operands.has_executor()) return operands.no_executor();
  const FoundBuffer found = operands.find(buffer);
  if (!(is_written ? operands.may_write(found) : operands.owns(found))) {
    return operands.refused(found, buffer, "Buffer");
  }
  return use(*found);
}

void clear_odd_bits(std::span<std::byte> bytes) {
  for (std::byte& byte : bytes) byte &= ~kOdd;
}

std::span<std::byte> bytes_of(const BufferEntry& buffer) {
  return std::as_writable_bytes(std::span(buffer.data, buffer.length));
}

}  // namespace

Result<BufferFacts> buffer_facts(uint64_t buffer) {
  const FoundBuffer found = handles().find<BufferEntry>(buffer, Lifetime::pinned);
  if (!found) return buffer_not_found(buffer);
  const Buffer& it = *found->buffer;
  return BufferFacts{it.length(),       it.pool() == Buffer::Pool::boundary,
                     it.is_read_only(), it.class_index(),
                     it.data(),         it.memory()};
}

Result<uint32_t> buffer_length(uint64_t buffer) {
  const Result<BufferFacts> facts = buffer_facts(buffer);
  if (!facts) return facts.error();
  return facts->length;
}

void buffer_cleanup(uint64_t buffer) { handles().remove<BufferEntry>(buffer); }

Status copy_from(uint64_t executor, uint64_t buffer, std::span<const float> values) {
  return with_buffer(executor, buffer, true, Lifetime::pinned, [&](BufferEntry& to) -> Status {
    if (values.size() != to.length) {
      return fail(ErrorCode::invalid_argument,
                  "Buffer size mismatch: expected " + std::to_string(to.length) + ", got " +
                      std::to_string(values.size()) + ": give as many values as it has elements");
    }
    std::ranges::copy(values, to.data);
    return {};
  });
}

Status copy_from_json(uint64_t executor, uint64_t buffer, std::string_view json) {
  const Result<std::vector<float>> values = read_floats(json, "JSON data");
  if (!values) return values.error();
  return copy_from(executor, buffer, *values);
}

Status copy_from_canonical_json(uint64_t executor, uint64_t buffer, std::string_view json) {
  Result<std::vector<float>> values = read_floats(json, "JSON data");
  if (!values) return values.error();
  clear_odd_bits(std::as_writable_bytes(std::span(*values)));
  return copy_from(executor, buffer, *values);
}

Status copy_from_bytes(uint64_t executor, uint64_t buffer, std::span<const std::byte> bytes) {
  return with_buffer(executor, buffer, true, Lifetime::pinned, [&](BufferEntry& to) -> Status {
    const std::span<std::byte> own = bytes_of(to);
    if (bytes.size() != own.size()) {
      return fail(ErrorCode::invalid_argument, "Data size mismatch: expected " +
                                                   std::to_string(own.size()) + " bytes, got " +
                                                   std::to_string(bytes.size()));
    }
    if (!own.empty()) std::memmove(own.data(), bytes.data(), own.size());
    return {};
  });
}

Result<std::string> to_json(uint64_t executor, uint64_t buffer) {
  return with_buffer(executor, buffer, false, Lifetime::pinned,
                     [](BufferEntry& from) -> Result<std::string> {
                       return write_floats(std::span(from.data, from.length));
                     });
}

Result<std::vector<std::byte>> to_bytes(uint64_t executor, uint64_t buffer) {
  return with_buffer(executor, buffer, false, Lifetime::pinned,
                     [](BufferEntry& from) -> Result<std::vector<std::byte>> {
                       const std::span<std::byte> bytes = bytes_of(from);
                       return std::vector<std::byte>(bytes.begin(), bytes.end());
                     });
}

Result<uint64_t> address(uint64_t executor, uint64_t buffer, bool is_written) {
  return with_buffer(executor, buffer, false, Lifetime::pinned,
                     [&](BufferEntry& it) -> Result<uint64_t> {
                       if (is_written && it.is_read_only) return uint64_t{0};
                       return reinterpret_cast<uint64_t>(it.data);
                     });
}

Status fill(uint64_t executor, uint64_t buffer, float value, uint32_t length, Lifetime lifetime) {
  return with_buffer(executor, buffer, true, lifetime, [&](BufferEntry& to) -> Status {
    if (length > to.length) return too_small("Buffer", to.length, length);
    std::fill_n(to.data, length, value);
    return {};
  });
}

Status copy(uint64_t executor, uint64_t from, uint64_t to, uint32_t length, Lifetime lifetime) {
  const Operands operands(executor, lifetime);
  if (!operands.has_executor()) return operands.no_executor();
  const FoundBuffer source = operands.find(from);
  if (!operands.owns(source)) return operands.refused(source, from, "Source buffer");
  const FoundBuffer destination = operands.find(to);
  if (!operands.may_write(destination)) {
    return operands.refused(destination, to, "Destination buffer");
  }
  if (length > source->length) return too_small("Source buffer", source->length, length);
  if (length > destination->length) {
    return too_small("Destination buffer", destination->length, length);
  }
  std::memmove(destination->data, source->data, length * sizeof(float));
  return {};
}

Status canonicalize(uint64_t executor, uint64_t buffer) {
  return with_buffer(executor, buffer, true, Lifetime::pinned, [](BufferEntry& it) -> Status {
    clear_odd_bits(bytes_of(it));
    return {};
  });
}

Result<bool> is_canonical(uint64_t executor, uint64_t buffer) {
  return with_buffer(
      executor, buffer, false, Lifetime::pinned, [](BufferEntry& it) -> Result<bool> {
        return std::ranges::all_of(bytes_of(it),
                                   [](std::byte byte) { return (byte & kOdd) == std::byte{0}; });
      });
}

}  // namespace hoist::graph::ffi
