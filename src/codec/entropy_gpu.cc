#include "codec/entropy_gpu.h"

#include <fmt/format.h>

#include "device/kernel.h"

namespace hoist::codec {
namespace {

constexpr uint32_t kNoneBad = UINT32_MAX;

// Symbols of a code, the table, coded bytes, tiles and how many, symbols, the first bad tile.
constinit const device::Kernel<uint32_t, const void*, const void*, const void*, uint32_t, void*,
                               void*>
    decode_tiles("hoist_cuda_entropy_decode", "entropy decoder");

}  // namespace

Result<CudaEntropySection> CudaEntropySection::prepare(device::Stream& stream,
                                                       const EntropyView& view,
                                                       const EntropyTable& table) {
  if (view.tiles().size() >= kNoneBad) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("entropy decoder ({} tiles): decode the section in parts",
                            view.tiles().size()));
  }
  CudaEntropySection section(stream);
  section.symbols_per_code_ = table.symbols_per_code();
  section.tile_count_ = static_cast<uint32_t>(view.tiles().size());
  auto uploaded =
      device::Buffer::copy_of(stream.device(), std::as_bytes(std::span(&table.decode_table(), 1)));
  if (!uploaded) return uploaded.error();
  section.table_ = std::move(*uploaded);
  auto tiles = device::Buffer::copy_of(stream.device(), std::as_bytes(view.tiles()));
  if (!tiles) return tiles.error();
  section.tiles_ = std::move(*tiles);
  auto first_bad = device::Buffer::allocate(stream.device(), sizeof(uint32_t));
  if (!first_bad) return first_bad.error();
  section.first_bad_ = std::move(*first_bad);
  return section;
}

Status CudaEntropySection::decode(const void* coded, void* symbols) {
  Status cleared = stream_->fill(first_bad_.data(), std::byte{0xff}, first_bad_.size());
  if (!cleared) return cleared;
  if (tile_count_ == 0) return {};
  return decode_tiles.launch(*stream_, symbols_per_code_, table_.data(), coded, tiles_.data(),
                             tile_count_, symbols, first_bad_.data());
}

Status CudaEntropySection::finish() {
  if (Status done = stream_->synchronize(); !done) return done;
  uint32_t first_bad = 0;
  if (Status read = first_bad_.download(std::as_writable_bytes(std::span(&first_bad, 1))); !read) {
    return read;
  }
  if (first_bad == kNoneBad) return {};
  return fail(ErrorCode::corrupt,
              fmt::format("entropy-coded section: tile {} does not decode", first_bad));
}

}  // namespace hoist::codec
