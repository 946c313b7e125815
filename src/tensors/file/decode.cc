#include <fmt/core.h>

#include <algorithm>
#include <new>

#include "tensors/file/packing.h"
#include "tensors/file/reader.h"

namespace hoist::tensors {
namespace {

Result<container::BlockBytes> allocate(const HoloTensor& tensor, uint64_t bytes) {
  container::BlockBytes memory = container::BlockBytes::allocate(bytes);
  if (memory.size() == bytes) return memory;
  return fail(ErrorCode::exhausted,
              fmt::format("no memory for {} bytes of tensor '{}'", bytes, tensor.name));
}

// One tensor on its way from shards to elements.
class TensorLoad {
 public:
  TensorLoad(const FragmentFetcher& fetcher, size_t tensor, const FaultTolerance& tolerance,
             ThreadPool* pool)
      : fetcher_(fetcher),
        number_(tensor),
        tensor_(fetcher.index().header.tensors[tensor]),
        tolerance_(tolerance),
        pool_(pool) {}

  // `into` takes the elements.
  Result<LoadedTensor> run(std::span<const size_t> parts, std::span<std::byte> into);

 private:
  Status load_lossless(std::span<std::byte> into);
  Status load_parts(std::span<const size_t> parts, TensorDecoder& decoder, LoadedTensor& loaded);
  Result<container::BlockBytes> read_part(size_t part) const;
  Error explain(const Error& error) const {
    return fail(error.code, fmt::format("tensor '{}': {}", tensor_.name, error.message));
  }

  const FragmentFetcher& fetcher_;
  size_t number_;
  const HoloTensor& tensor_;
  const FaultTolerance& tolerance_;
  ThreadPool* pool_;
  std::vector<container::BlockBytes> held_;  // the decoder's views
};

Result<container::BlockBytes> TensorLoad::read_part(size_t part) const {
  Result<container::BlockBytes> bytes = allocate(tensor_, tensor_.parts[part].bytes);
  if (!bytes) return bytes;
  const size_t stream = fetcher_.index().layout.part_stream(number_, part);
  if (Status got = fetcher_.read_stream(stream, *bytes, pool_); !got) return explain(got.error());
  return bytes;
}

// Stored bytes are the elements: they go where they belong at once.
Status TensorLoad::load_lossless(std::span<std::byte> into) {
  if (tensor_.parts[0].packing == Packing::plain) {
    const size_t stream = fetcher_.index().layout.part_stream(number_, 0);
    Status got = fetcher_.read_stream(stream, into, pool_);
    return got ? got : Status(explain(got.error()));
  }
  const Result<container::BlockBytes> packed = read_part(0);
  if (!packed) return packed.error();
  Status unpacked = unpack(*packed, into, pool_);
  return unpacked ? unpacked : Status(explain(unpacked.error()));
}

Status TensorLoad::load_parts(std::span<const size_t> parts, TensorDecoder& decoder,
                              LoadedTensor& loaded) {
  const bool any_subset = is_any_subset(tensor_.description.encoding);
  for (size_t i = 0; i < parts.size(); ++i) {
    Result<container::BlockBytes> bytes = read_part(parts[i]);
    Status added = bytes ? decoder.add(parts[i], *bytes) : bytes.error();
    if (added) {
      held_.push_back(std::move(*bytes));
      ++loaded.parts;
      continue;
    }
    const ErrorCode code = added.error().code;
    const bool fatal = code == ErrorCode::cancelled || code == ErrorCode::exhausted;
    if (fatal || !tolerance_.skip_corrupted) return bytes ? Status(explain(added.error())) : added;
    // Layers build on one another: without this one the later ones are of no use.
    loaded.skipped += any_subset ? 1 : parts.size() - i;
    if (!any_subset) break;
  }
  return {};
}

Result<LoadedTensor> TensorLoad::run(std::span<const size_t> parts, std::span<std::byte> into) {
  LoadedTensor loaded;
  loaded.name = tensor_.name;
  loaded.dtype = tensor_.description.dtype;
  loaded.shape = tensor_.description.shape;
  if (tensor_.description.encoding == HolographicEncoding::lossless) {
    if (Status done = load_lossless(into); !done) return done.error();
    loaded.parts = 1;
    return loaded;
  }
  Result<std::unique_ptr<TensorDecoder>> decoder = make_decoder(tensor_.description);
  if (!decoder) return explain(decoder.error());
  if (Status added = load_parts(parts, **decoder, loaded); !added) {
    return added.error();
  }
  if (!(*decoder)->can_reconstruct()) {
    return fail(ErrorCode::corrupt,
                fmt::format("too little of tensor '{}' can be read to rebuild it", tensor_.name));
  }
  loaded.quality = (*decoder)->quality();
  if (tolerance_.min_quality > 0 && loaded.quality < tolerance_.min_quality) {
    return fail(ErrorCode::corrupt,
                fmt::format("tensor '{}' reaches a quality of {:.6f} with what can be read, {:.6f} "
                            "is wanted",
                            tensor_.name, loaded.quality, tolerance_.min_quality));
  }
  if (Status done = (*decoder)->reconstruct(into, pool_); !done) {
    return explain(done.error());
  }
  return loaded;
}

Status check_size(const HoloTensor& tensor, uint64_t limit) {
  if (tensor.bytes() <= limit) return {};
  return fail(ErrorCode::exhausted, fmt::format("tensor '{}' has {} bytes, the limit is {}",
                                                tensor.name, tensor.bytes(), limit));
}

}  // namespace

Result<std::vector<size_t>> selected_parts(const HoloTensor& tensor,
                                           const PartSelection& selection) {
  size_t count = tensor.parts.size();
  if (selection.target) {
    count = tensor.description.curve.parts_for(*selection.target);
  } else if (selection.layers) {
    count = std::min(*selection.layers, count);
  }
  std::vector<size_t> parts;
  if (!selection.target && !selection.layers && !selection.fragments.empty() &&
      is_any_subset(tensor.description.encoding)) {
    parts = selection.fragments;
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    std::erase_if(parts, [&](size_t part) { return part >= tensor.parts.size(); });
  } else {
    for (size_t i = 0; i < std::max<size_t>(count, 1) && i < tensor.parts.size(); ++i) {
      parts.push_back(i);
    }
  }
  if (parts.empty() && !tensor.parts.empty()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("none of the fragments that were named: tensor '{}' has 0 to {}",
                            tensor.name, tensor.parts.size() - 1));
  }
  return parts;
}

Result<LoadedTensor> decode_tensor(const FragmentFetcher& fetcher, size_t tensor,
                                   const PartSelection& selection, const FaultTolerance& tolerance,
                                   ThreadPool* pool, uint64_t limit) {
  const HoloTensor& header = fetcher.index().header.tensors[tensor];
  if (Status fits = check_size(header, limit); !fits) return fits.error();
  Result<container::BlockBytes> memory = allocate(header, header.bytes());
  if (!memory) return memory.error();
  Result<LoadedTensor> loaded =
      decode_tensor_into(fetcher, tensor, *memory, selection, tolerance, pool, limit);
  if (loaded) loaded->bytes = std::move(*memory);
  return loaded;
}

Result<LoadedTensor> decode_tensor_into(const FragmentFetcher& fetcher, size_t tensor,
                                        std::span<std::byte> into, const PartSelection& selection,
                                        const FaultTolerance& tolerance, ThreadPool* pool,
                                        uint64_t limit) {
  const HoloTensor& header = fetcher.index().header.tensors[tensor];
  const Result<std::vector<size_t>> parts = selected_parts(header, selection);
  if (!parts) return parts.error();
  if (Status fits = check_size(header, limit); !fits) return fits.error();
  if (into.size() != header.bytes()) {
    return fail(ErrorCode::invalid_argument, fmt::format("room for {} bytes, tensor '{}' has {}",
                                                         into.size(), header.name, header.bytes()));
  }
  try {
    return TensorLoad(fetcher, tensor, tolerance, pool).run(*parts, into);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::exhausted, fmt::format("no memory to decode tensor '{}'", header.name));
  }
}

}  // namespace hoist::tensors
