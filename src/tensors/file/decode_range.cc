#include <fmt/core.h>

#include <cstring>
#include <new>

#include "tensors/embedded/embedded.h"
#include "tensors/file/packing.h"
#include "tensors/file/reader.h"

namespace hoist::tensors {
namespace {

// Some bytes of one tensor.
class RangeLoad {
 public:
  RangeLoad(const FragmentFetcher& fetcher, size_t tensor, ThreadPool* pool)
      : fetcher_(fetcher),
        number_(tensor),
        tensor_(fetcher.index().header.tensors[tensor]),
        pool_(pool) {}

  Status run(uint64_t offset, std::span<std::byte> into) {
    switch (tensor_.description.encoding) {
      case HolographicEncoding::lossless:
        return named(load_lossless(offset, into));
      case HolographicEncoding::embedded:
        return named(load_embedded(offset, into));
      default:
        return load_whole(offset, into);
    }
  }

 private:
  Status named(const Status& done) const {
    if (done) return {};
    return fail(done.error().code,
                fmt::format("tensor '{}': {}", tensor_.name, done.error().message));
  }
  Status read(size_t part, uint64_t offset, std::span<std::byte> into, ThreadPool* pool) const {
    return fetcher_.read_stream(fetcher_.index().layout.part_stream(number_, part), offset, into,
                                pool);
  }

  Status load_lossless(uint64_t offset, std::span<std::byte> into) const {
    const StoredStream& stored = tensor_.parts[0];
    if (stored.packing == Packing::plain) return read(0, offset, into, pool_);
    const auto read_packed = [&](uint64_t from, std::span<std::byte> packed) {
      return read(0, from, packed, pool_);
    };
    return unpack_range(stored.bytes, tensor_.bytes(), read_packed, offset, into, pool_);
  }

  // The elements that the bytes lie in.
  Status load_embedded(uint64_t offset, std::span<std::byte> into) const {
    const uint64_t width = properties(tensor_.description.dtype).bytes;
    const auto read_part = [&](size_t part, uint64_t from, std::span<std::byte> bytes) {
      return read(part, from, bytes, nullptr);  // the layers are read at once
    };
    const uint64_t first = offset / width;
    const uint64_t last = (offset + into.size() + width - 1) / width;
    if ((last - first) * width == into.size()) {
      return embedded_decode_range(tensor_.description, first, into, read_part, pool_);
    }
    std::vector<std::byte> elements((last - first) * width);
    Status done = embedded_decode_range(tensor_.description, first, elements, read_part, pool_);
    if (done) std::memcpy(into.data(), elements.data() + offset % width, into.size());
    return done;
  }

  Status load_whole(uint64_t offset, std::span<std::byte> into) const {
    const Result<LoadedTensor> whole = decode_tensor(fetcher_, number_, {}, {}, pool_);
    if (!whole) return whole.error();
    std::memcpy(into.data(), whole->bytes.data() + offset, into.size());
    return {};
  }

  const FragmentFetcher& fetcher_;
  size_t number_;
  const HoloTensor& tensor_;
  ThreadPool* pool_;
};

}  // namespace

Status decode_tensor_range(const FragmentFetcher& fetcher, size_t tensor, uint64_t offset,
                           std::span<std::byte> into, ThreadPool* pool, uint64_t limit) {
  const HoloTensor& header = fetcher.index().header.tensors[tensor];
  const uint64_t bytes = header.bytes();
  if (offset > bytes || into.size() > bytes - offset) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} bytes from {} on of the {} of tensor '{}'", into.size(), offset,
                            bytes, header.name));
  }
  if (into.empty()) return {};
  if (into.size() == bytes) {
    const auto loaded = decode_tensor_into(fetcher, tensor, into, {}, {}, pool, limit);
    return loaded ? Status() : loaded.error();
  }
  if (bytes > limit) {
    return fail(ErrorCode::exhausted, fmt::format("tensor '{}' has {} bytes, the limit is {}",
                                                  header.name, bytes, limit));
  }
  try {
    return RangeLoad(fetcher, tensor, pool).run(offset, into);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::exhausted, fmt::format("no memory to decode tensor '{}'", header.name));
  }
}

}  // namespace hoist::tensors
