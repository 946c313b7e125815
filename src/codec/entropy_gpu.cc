#include "codec/entropy_gpu.h"

#include <fmt/format.h>

#include "device/cuda_plugin.h"

namespace hoist::codec {
namespace {

constexpr uint32_t kNoneBad = UINT32_MAX;

using DecodeFunction = int(uint32_t symbols_per_code, const void* table, const void* bytes,
                           const void* tiles, uint32_t tile_count, void* symbols, void* first_bad);

}  // namespace

Result<CudaEntropySection> CudaEntropySection::prepare(const EntropyView& view,
                                                       const EntropyTable& table) {
  if (view.tiles().size() >= kNoneBad) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("entropy decoder ({} tiles): decode the section in parts",
                            view.tiles().size()));
  }
  CudaEntropySection section;
  section.symbols_per_code_ = table.symbols_per_code();
  section.tile_count_ = static_cast<uint32_t>(view.tiles().size());
  auto uploaded = device::copy_to_cuda(std::as_bytes(std::span(&table.decode_table(), 1)));
  if (!uploaded) return uploaded.error();
  section.table_ = std::move(*uploaded);
  auto tiles = device::copy_to_cuda(std::as_bytes(view.tiles()));
  if (!tiles) return tiles.error();
  section.tiles_ = std::move(*tiles);
  auto first_bad = device::allocate_on_cuda(sizeof(uint32_t));
  if (!first_bad) return first_bad.error();
  section.first_bad_ = std::move(*first_bad);
  return section;
}

Status CudaEntropySection::decode(const void* coded, void* symbols) {
  const auto run = device::cuda_function<DecodeFunction>("hoist_cuda_entropy_decode");
  if (!run) return run.error();
  if (Status cleared = first_bad_.fill(std::byte{0xff}); !cleared) return cleared;
  if (tile_count_ == 0) return {};
  return device::cuda_status((*run)(symbols_per_code_, table_.data(), coded, tiles_.data(),
                                    tile_count_, symbols, first_bad_.data()),
                             "entropy decoder");
}

Status CudaEntropySection::finish() {
  if (Status done = device::cuda_synchronize(); !done) return done;
  uint32_t first_bad = 0;
  if (Status read = first_bad_.download(std::as_writable_bytes(std::span(&first_bad, 1))); !read) {
    return read;
  }
  if (first_bad == kNoneBad) return {};
  return fail(ErrorCode::corrupt,
              fmt::format("entropy-coded section: tile {} does not decode", first_bad));
}

}  // namespace hoist::codec
