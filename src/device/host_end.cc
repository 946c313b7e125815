#include "device/host_end.h"

#include <emmintrin.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "device/host_file.h"
#include "device/host_stream.h"

namespace hoist::device {
namespace {

// A plain memcpy(): what it fills stays in the last-level cache, from which the device reads them.
class MemoryReader : public HostReader {
 public:
  explicit MemoryReader(std::span<const std::byte> from) : from_(from) {}
  Status read(uint64_t at, std::span<std::byte> into) override {
    std::memcpy(into.data(), from_.data() + at, into.size());
    return {};
  }

 private:
  std::span<const std::byte> from_;
};

// memcpy() whose stores go past the caches: what is written is not fetched first, and pinned
// memory stays where it is. SSE2, which every x86-64 has, is as fast as wider stores here.
void stream_copy(std::byte* to, const std::byte* from, size_t size) {
  constexpr size_t kLine = 64;
  const size_t head = std::min(size, -reinterpret_cast<uintptr_t>(to) % kLine);
  std::memcpy(to, from, head);
  size_t at = head;
  for (; at + kLine <= size; at += kLine) {
    for (size_t part = 0; part < kLine; part += sizeof(__m128i)) {
      const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at + part));
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at + part), value);
    }
  }
  _mm_sfence();
  std::memcpy(to + at, from + at, size - at);
}

class MemoryWriter : public HostWriter {
 public:
  explicit MemoryWriter(std::span<std::byte> to) : to_(to) {}
  Status write(uint64_t at, std::span<const std::byte> bytes) override {
    if (to_.size() >= kStreamFrom) {
      stream_copy(to_.data() + at, bytes.data(), bytes.size());
    } else {
      std::memcpy(to_.data() + at, bytes.data(), bytes.size());
    }
    return {};
  }

 private:
  // Less is likely to be read while it is still in a cache.
  static constexpr size_t kStreamFrom = size_t{8} << 20;

  std::span<std::byte> to_;
};

Status check_size(size_t host, uint64_t device) {
  if (host == device) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("{} bytes on the host, {} on the device (transfer)", host, device));
}

}  // namespace

Result<std::shared_ptr<HostReader>> open_source(const HostSource& source, uint64_t size,
                                                std::stop_token stop) {
  if (const auto* memory = std::get_if<std::span<const std::byte>>(&source)) {
    if (Status fits = check_size(memory->size(), size); !fits) {
      return tl::unexpected(fits.error());
    }
    return std::make_shared<MemoryReader>(*memory);
  }
  if (auto* const* reader = std::get_if<HostReader*>(&source)) {
    return std::shared_ptr<HostReader>(std::shared_ptr<void>(), *reader);  // not ours
  }
  if (const auto* file = std::get_if<HostFile>(&source)) return open_file_source(*file, size);
  return open_stream_source(std::get<HostStream>(source), size, std::move(stop));
}

Result<std::shared_ptr<HostWriter>> open_sink(const HostSink& sink, uint64_t size,
                                              std::stop_token stop) {
  if (const auto* memory = std::get_if<std::span<std::byte>>(&sink)) {
    if (Status fits = check_size(memory->size(), size); !fits) {
      return tl::unexpected(fits.error());
    }
    return std::make_shared<MemoryWriter>(*memory);
  }
  if (auto* const* writer = std::get_if<HostWriter*>(&sink)) {
    return std::shared_ptr<HostWriter>(std::shared_ptr<void>(), *writer);  // not ours
  }
  if (const auto* file = std::get_if<HostFile>(&sink)) return open_file_sink(*file);
  return open_stream_sink(std::get<HostStream>(sink), size, std::move(stop));
}

}  // namespace hoist::device
