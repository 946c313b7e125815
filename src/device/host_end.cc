#include "device/host_end.h"

#include <fmt/core.h>

#include <cstring>
#include <utility>

#include "base/file.h"
#include "device/host_file.h"
#include "device/host_stream.h"
#include "device/stream_copy.h"

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

class MemoryWriter : public HostWriter {
 public:
  explicit MemoryWriter(std::span<std::byte> to) : to_(to) {}
  Status write(uint64_t at, std::span<const std::byte> bytes) override {
    stream_copy_if_large(to_.size(), to_.data() + at, bytes.data(), bytes.size());
    return {};
  }

 private:
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
      return fits.error();
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
      return fits.error();
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
