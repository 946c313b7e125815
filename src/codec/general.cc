#include "codec/general.h"

#include <fmt/core.h>
#include <lz4.h>
#include <lz4hc.h>
#include <zstd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>

namespace hoist::codec {
namespace {

using Bytes = std::vector<std::byte>;

constexpr int kFirstHcLevel = 3;
// A thread keeps at most so much of zstd's working memory for compression: the highest levels need
// 650 MiB.
constexpr size_t kKeptBytes = size_t{64} << 20;

// LZ4 (1.9.4, levels above 9) reads far from a null pointer even where there is nothing to read.
const char* chars(std::span<const std::byte> bytes) {
  return bytes.empty() ? "" : reinterpret_cast<const char*>(bytes.data());
}
char* chars(std::span<std::byte> bytes) { return reinterpret_cast<char*>(bytes.data()); }

Status check_level(CodecId id, int level) {
  const Codec& codec = codec_of(id);
  if (level >= codec.min_level && level <= codec.max_level) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("{}: level {}: {} to {} are possible", codec.name, level, codec.min_level,
                          codec.max_level));
}

Error corrupt(CodecId id, size_t stored, size_t raw, std::string_view why) {
  return fail(ErrorCode::corrupt, fmt::format("{}: {} bytes do not decompress to {}: {}",
                                              codec_of(id).name, stored, raw, why));
}

Result<Bytes> store(std::span<const std::byte> raw, int level) {
  if (Status status = check_level(CodecId::stored, level); !status) {
    return status.error();
  }
  return Bytes(raw.begin(), raw.end());
}

Status unstore(std::span<const std::byte> stored, std::span<std::byte> out) {
  if (stored.size() != out.size()) {
    return corrupt(CodecId::stored, stored.size(), out.size(), "the sizes differ");
  }
  std::copy(stored.begin(), stored.end(), out.begin());
  return {};
}

Result<Bytes> compress_lz4(std::span<const std::byte> raw, int level) {
  if (Status status = check_level(CodecId::lz4, level); !status) {
    return status.error();
  }
  if (raw.size() > LZ4_MAX_INPUT_SIZE) {
    return fail(ErrorCode::invalid_argument, fmt::format("lz4: a block of {} bytes: at most {}",
                                                         raw.size(), LZ4_MAX_INPUT_SIZE));
  }
  const int raw_size = static_cast<int>(raw.size());
  Bytes stored(LZ4_compressBound(raw_size));
  const int bound = static_cast<int>(stored.size());
  const int size =
      level < kFirstHcLevel
          ? LZ4_compress_default(chars(raw), chars(std::span<std::byte>(stored)), raw_size, bound)
          : LZ4_compress_HC(chars(raw), chars(std::span<std::byte>(stored)), raw_size, bound,
                            level);
  if (size <= 0) return fail(ErrorCode::exhausted, "lz4: no memory to compress with");
  stored.resize(size);
  return stored;
}

Status decompress_lz4(std::span<const std::byte> stored, std::span<std::byte> out) {
  if (stored.size() > INT_MAX || out.size() > LZ4_MAX_INPUT_SIZE) {
    return corrupt(CodecId::lz4, stored.size(), out.size(), "too large for one block");
  }
  const int size = LZ4_decompress_safe(chars(stored), chars(out), static_cast<int>(stored.size()),
                                       static_cast<int>(out.size()));
  if (size < 0) return corrupt(CodecId::lz4, stored.size(), out.size(), "damaged block");
  if (static_cast<size_t>(size) != out.size()) {
    return corrupt(CodecId::lz4, stored.size(), out.size(), "the block ends early");
  }
  return {};
}

struct FreeZstd {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

Result<Bytes> compress_zstd(std::span<const std::byte> raw, int level) {
  if (Status status = check_level(CodecId::zstd, level); !status) {
    return status.error();
  }
  thread_local std::unique_ptr<ZSTD_CCtx, FreeZstd> context;
  if (context == nullptr) context.reset(ZSTD_createCCtx());
  if (context == nullptr) return fail(ErrorCode::exhausted, "zstd: no memory to compress with");
  Bytes stored(ZSTD_compressBound(raw.size()));
  const size_t size =
      ZSTD_compressCCtx(context.get(), stored.data(), stored.size(), raw.data(), raw.size(), level);
  if (ZSTD_sizeof_CCtx(context.get()) > kKeptBytes) context.reset();
  if (ZSTD_isError(size)) {
    return fail(ErrorCode::exhausted, fmt::format("zstd: {}", ZSTD_getErrorName(size)));
  }
  stored.resize(size);
  return stored;
}

Status decompress_zstd(std::span<const std::byte> stored, std::span<std::byte> out) {
  // The library also takes several frames, skippable ones, and its formats from before RFC 8878.
  uint32_t magic = 0;
  if (stored.size() >= sizeof magic) std::memcpy(&magic, stored.data(), sizeof magic);
  if (magic != ZSTD_MAGICNUMBER ||
      ZSTD_findFrameCompressedSize(stored.data(), stored.size()) != stored.size()) {
    return corrupt(CodecId::zstd, stored.size(), out.size(), "not one whole frame");
  }
  thread_local std::unique_ptr<ZSTD_DCtx, FreeZstd> context;
  if (context == nullptr) context.reset(ZSTD_createDCtx());
  if (context == nullptr) return fail(ErrorCode::exhausted, "zstd: no memory to decompress with");
  const size_t size =
      ZSTD_decompressDCtx(context.get(), out.data(), out.size(), stored.data(), stored.size());
  if (ZSTD_isError(size)) {
    return corrupt(CodecId::zstd, stored.size(), out.size(), ZSTD_getErrorName(size));
  }
  if (size != out.size()) {
    return corrupt(CodecId::zstd, stored.size(), out.size(), "the frame ends early");
  }
  return {};
}

}  // namespace

std::span<const Codec> codecs() {
  // In the order of CodecId.
  static const Codec kCodecs[] = {
      {CodecId::stored, "stored", 0, 0, 0, store, unstore},
      {CodecId::lz4, "lz4", 1, 1, LZ4HC_CLEVEL_MAX, compress_lz4, decompress_lz4},
      {CodecId::zstd, "zstd", ZSTD_minCLevel(), ZSTD_CLEVEL_DEFAULT, ZSTD_maxCLevel(),
       compress_zstd, decompress_zstd},
  };
  return kCodecs;
}

const Codec& codec_of(CodecId id) { return codecs()[static_cast<size_t>(id)]; }

const Codec* find_codec(uint8_t id) { return id < codecs().size() ? &codecs()[id] : nullptr; }

const Codec* find_codec(std::string_view name) {
  const auto found = std::ranges::find(codecs(), name, &Codec::name);
  return found != codecs().end() ? &*found : nullptr;
}

}  // namespace hoist::codec
