// Code of device/module.h on the disk, so that what took seconds to compile is compiled once.
//
//   const Result<ModuleCache> cache = ModuleCache::open();
//   const ModuleCache::Key key = ModuleCache::key({source, "sm_90", options});
//   Result<std::vector<std::byte>> code = cache->find(key);
//   if (!code) code = compile(source);                 // and (void)cache->put(key, *code);
//
// Nothing depends on it: what is not there, or cannot be written, is compiled again. An entry is
// used only where it belongs to the effective user, nobody else may write it or its folder, and its
// checksum is right; any other is passed over until put() replaces it. Several processes may use a
// folder at once: an entry appears whole or not at all. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/blake3.h"
#include "base/result.h"

namespace hoist::device {

// Everything that the code depends on, besides Hoist's version.
struct ModuleSource {
  std::string_view text;
  std::string_view target;  // "sm_90", or the CPU's instructions
  // The compiler's options, in their order, with its name and version.
  std::span<const std::string> options = {};
};

class ModuleCache {
 public:
  using Key = Blake3Digest;
  static constexpr uint64_t kDefaultLimit = uint64_t{256} << 20;

  static Key key(const ModuleSource& source);

  // The user's, $XDG_CACHE_HOME/hoist/kernels; made where it is missing. `unavailable` without such
  // a place, `io` where the folder is not the user's alone.
  static Result<ModuleCache> open();
  // A cache of at most `limit` bytes.
  static Result<ModuleCache> open(std::string folder, uint64_t limit);

  // `not_found`; `io` where the entry is not to be trusted, `corrupt` where it is damaged.
  Result<std::vector<std::byte>> find(const Key& key) const;

  // Adds or replaces an entry, then removes those that have not been used for longest, as far as
  // all are larger than the limit. `exhausted` where the code alone is; `io` where the disk is
  // full.
  Status put(const Key& key, std::span<const std::byte> code) const;

 private:
  ModuleCache(std::string folder, uint64_t limit) : folder_(std::move(folder)), limit_(limit) {}
  std::string path_of(const Key& key) const;
  void remove_oldest() const;

  std::string folder_;
  uint64_t limit_;
};

}  // namespace hoist::device
