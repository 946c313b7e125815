// Whole tiles of an Embedded tensor are an Embedded tensor of fewer elements: its description with
// another shape, a section of these tiles, and pieces of the planes. So a range is decoded as any
// tensor is.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "codec/entropy.h"
#include "tensors/embedded/embedded.h"
#include "tensors/embedded/layout.h"

namespace hoist::tensors {
namespace {

auto corrupt(std::string_view what) {
  return fail(ErrorCode::corrupt, fmt::format("embedded tensor: {}", what));
}

struct Buffer {
  explicit Buffer(uint64_t bytes)
      : memory(std::make_unique_for_overwrite<std::byte[]>(bytes)), size(bytes) {}
  std::span<std::byte> all() const { return {memory.get(), size}; }

  std::unique_ptr<std::byte[]> memory;
  uint64_t size;
};

// Tiles [first, last) and the elements in them.
struct Tiles {
  uint64_t first;
  uint64_t last;
  uint64_t begin;
  uint64_t end;

  uint64_t elements() const { return end - begin; }
};

Tiles tiles_of(const EmbeddedLayout& layout, uint64_t first, uint64_t count) {
  const uint64_t tile = layout.tile_elements;
  const Tiles tiles{first / tile, (first + count - 1) / tile + 1, first / tile * tile, 0};
  return {tiles.first, tiles.last, tiles.begin, std::min(tiles.last * tile, layout.elements)};
}

Result<std::vector<codec::EntropyTile>> section_tiles(const EmbeddedLayout& layout,
                                                      const ReadPart& read) {
  const uint64_t bytes = codec::entropy_head_bytes(layout.elements, layout.tile_elements);
  if (bytes > layout.section_bytes) return corrupt("layer 0 is too small for its tiles");
  const Buffer head(bytes);
  if (Status got = read(0, 0, head.all()); !got) return got.error();
  auto tiles = codec::entropy_tiles(head.all(), layout.section_bytes);
  if (!tiles) return tiles;
  const uint64_t first = std::min<uint64_t>(layout.elements, layout.tile_elements);
  const bool fits = tiles->size() == layout.tiles() && tiles->front().symbols == first &&
                    tiles->back().first_symbol + tiles->back().symbols == layout.elements;
  if (!fits) return corrupt("layer 0 has other tiles than its description says");
  return tiles;
}

// Layer 0 of the smaller tensor.
Result<Buffer> first_layer(const EmbeddedLayout& layout, const Tiles& range, const ReadPart& read) {
  const auto tiles = section_tiles(layout, read);
  if (!tiles) return tiles.error();
  const std::vector<std::byte> head = codec::entropy_head(
      std::span(*tiles).subspan(range.first, range.last - range.first), layout.tile_elements);
  const uint64_t begin = (*tiles)[range.first].offset;
  const uint64_t end =
      range.last < tiles->size() ? (*tiles)[range.last].offset : layout.section_bytes;
  const uint64_t signs = layout.has_signs ? embedded_plane_bytes(range.elements()) : 0;
  Buffer part(head.size() + (end - begin) + signs);
  std::memcpy(part.memory.get(), head.data(), head.size());
  if (Status got = read(0, begin, part.all().subspan(head.size(), end - begin)); !got) {
    return got.error();
  }
  if (signs != 0) {
    const auto into = part.all().last(signs);
    if (Status got = read(0, layout.section_bytes + range.begin / 8, into); !got) {
      return got.error();
    }
  }
  return part;
}

Result<std::vector<Buffer>> read_layers(const EmbeddedLayout& layout, const Tiles& range,
                                        const ReadPart& read, ThreadPool* pool) {
  Result<Buffer> first = first_layer(layout, range, read);
  if (!first) return first.error();
  std::vector<Buffer> layers;
  layers.push_back(*std::move(first));
  for (uint32_t i = 0; i < layout.planes; ++i) {
    layers.emplace_back(embedded_plane_bytes(range.elements()));
  }
  std::vector<Status> results(layout.planes);
  const auto read_plane = [&](size_t i) {
    results[i] = read(i + 1, range.begin / 8, layers[i + 1].all());
  };
  if (pool != nullptr) {
    pool->parallel_for(layout.planes, read_plane);
  } else {
    for (size_t i = 0; i < layout.planes; ++i) read_plane(i);
  }
  for (const Status& result : results) {
    if (!result) return result.error();
  }
  return layers;
}

}  // namespace

Status embedded_decode_range(const TensorDescription& description, uint64_t first,
                             std::span<std::byte> out, const ReadPart& read, ThreadPool* pool) {
  const Result<EmbeddedLayout> layout = EmbeddedLayout::parse(description);
  if (!layout) return layout.error();
  const size_t width = layout->element_bytes();
  const uint64_t count = out.size() / width;
  if (out.size() % width != 0 || first > layout->elements || count > layout->elements - first) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("embedded tensor: {} bytes from element {} on of {} elements of {}",
                            out.size(), first, layout->elements, width));
  }
  if (count == 0) return {};
  const Tiles range = tiles_of(*layout, first, count);
  const Result<std::vector<Buffer>> layers = read_layers(*layout, range, read, pool);
  if (!layers) return layers.error();

  TensorDescription smaller = description;
  smaller.shape = {range.elements()};
  for (size_t part = 0; part < layers->size(); ++part) {
    smaller.part_bytes[part] = (*layers)[part].size;
  }
  Result<std::unique_ptr<TensorDecoder>> decoder = embedded_decoder(smaller);
  if (!decoder) return decoder.error();
  for (size_t part = 0; part < layers->size(); ++part) {
    if (Status added = (*decoder)->add(part, (*layers)[part].all()); !added) return added;
  }
  if (count == range.elements()) return (*decoder)->reconstruct(out, pool);
  const Buffer whole(range.elements() * width);
  if (Status done = (*decoder)->reconstruct(whole.all(), pool); !done) return done;
  std::memcpy(out.data(), whole.memory.get() + (first - range.begin) * width, out.size());
  return {};
}

}  // namespace hoist::tensors
