#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "codec/entropy.h"
#include "tensors/embedded/element_planes.h"
#include "tensors/embedded/embedded.h"
#include "tensors/embedded/layout.h"

namespace hoist::tensors {
namespace {

auto corrupt(std::string_view what) {
  return fail(ErrorCode::corrupt, fmt::format("embedded tensor: {}", what));
}

// A tile goes through the first-level cache once: its symbols there, its elements to where they
// belong.
class EmbeddedDecoder final : public TensorDecoder {
 public:
  EmbeddedDecoder(EmbeddedLayout layout, QualityCurve curve)
      : layout_(std::move(layout)), curve_(std::move(curve)), planes_(layout_.planes) {}

  Status add(size_t part, std::span<const std::byte> bytes) override {
    if (part > layout_.planes) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("embedded tensor: layer {} of {}", part, layout_.planes + 1));
    }
    if (part == 0) return add_first(bytes);
    if (bytes.size() != layout_.plane_bytes) return wrong_size(part, bytes.size());
    if (planes_[part - 1].empty()) planes_[part - 1] = bytes;
    return {};
  }

  bool can_reconstruct() const override { return section_.has_value(); }

  double quality() const override {
    if (!can_reconstruct()) return 0;
    const size_t last = known_planes();
    return last < curve_.prefixes.size() ? curve_.prefixes[last].quality : 0;
  }

  Status reconstruct(std::span<std::byte> out, ThreadPool* pool) const override {
    const size_t width = layout_.element_bytes();
    if (out.size() / width != layout_.elements || out.size() % width != 0) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("embedded tensor: room for {} bytes: it has {} elements of {}",
                              out.size(), layout_.elements, width));
    }
    if (!can_reconstruct()) {
      return fail(ErrorCode::invalid_argument, "embedded tensor: layer 0 is not there yet");
    }
    const std::span<const codec::EntropyTile> tiles = section_->tiles();
    const uint32_t known = known_planes();
    const MergeTables tables(layout_.bases(known), static_cast<uint32_t>(layout_.patterns.size()));
    std::atomic<size_t> first_bad{tiles.size()};
    const auto decode = [&](size_t i) {
      if (decode_tile(tiles[i], tables, known, out)) return;
      size_t bad = first_bad;
      while (i < bad && !first_bad.compare_exchange_weak(bad, i)) {
      }
    };
    if (pool != nullptr) {
      pool->parallel_for(tiles.size(), decode);
    } else {
      for (size_t i = 0; i < tiles.size(); ++i) decode(i);
    }
    if (first_bad == tiles.size()) return {};
    return corrupt(fmt::format("tile {} of {} does not decode", first_bad.load(), tiles.size()));
  }

 private:
  Status add_first(std::span<const std::byte> bytes) {
    if (section_) return {};
    const uint64_t sign_bytes = layout_.has_signs ? layout_.plane_bytes : 0;
    if (bytes.size() != layout_.section_bytes + sign_bytes) return wrong_size(0, bytes.size());
    Result<codec::EntropyView> section =
        codec::EntropyView::parse(bytes.first(layout_.section_bytes));
    if (!section) return section.error();
    const std::span<const codec::EntropyTile> tiles = section->tiles();
    const uint64_t first = std::min<uint64_t>(layout_.elements, layout_.tile_elements);
    // All tiles but the last are of one size.
    if (section->symbols() != layout_.elements || tiles.front().symbols != first ||
        tiles.size() != layout_.tiles()) {
      return corrupt("layer 0 has other tiles than its description says");
    }
    section_ = *std::move(section);
    signs_ = bytes.subspan(layout_.section_bytes);
    return {};
  }

  static Status wrong_size(size_t part, size_t bytes) {
    return corrupt(
        fmt::format("layer {} has {} bytes, not what its description says", part, bytes));
  }

  // Those without a gap from the first one on.
  uint32_t known_planes() const {
    const auto gap = std::find_if(planes_.begin(), planes_.end(),
                                  [](std::span<const std::byte> plane) { return plane.empty(); });
    return static_cast<uint32_t>(gap - planes_.begin());
  }

  bool decode_tile(const codec::EntropyTile& tile, const MergeTables& tables, uint32_t known,
                   std::span<std::byte> out) const {
    alignas(64) uint8_t symbols[codec::kMaxTileSymbols];
    if (!codec::entropy_decode_tile(*section_, tile, layout_.table, {symbols, tile.symbols})) {
      return false;
    }
    std::array<BitPlane<const std::byte>, kMostPlanes> planes;
    for (uint32_t i = 0; i < known; ++i) {
      planes[i] = {planes_[i].data() + tile.first_symbol / 8, layout_.top_bit - i};
    }
    size_t count = known;
    if (layout_.has_signs) {
      planes[count++] = {signs_.data() + tile.first_symbol / 8, layout_.format.bits - 1};
    }
    const size_t width = layout_.element_bytes();
    return merge_elements(tables, symbols, width, tile.symbols, {planes.data(), count},
                          out.data() + tile.first_symbol * width);
  }

  EmbeddedLayout layout_;
  QualityCurve curve_;
  std::optional<codec::EntropyView> section_;
  std::span<const std::byte> signs_;
  std::vector<std::span<const std::byte>> planes_;  // empty: not there yet
};

}  // namespace

Result<std::unique_ptr<TensorDecoder>> embedded_decoder(const TensorDescription& description) {
  Result<EmbeddedLayout> layout = EmbeddedLayout::parse(description);
  if (!layout) return layout.error();
  return std::make_unique<EmbeddedDecoder>(*std::move(layout), description.curve);
}

}  // namespace hoist::tensors
