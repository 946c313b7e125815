#include "cli/tree.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <link.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string_view>

#include "base/counters.h"

namespace hoist::cli {
namespace {

namespace fs = std::filesystem;

// A link to `prefix` without characters that LD_PRELOAD gives a meaning.
Result<std::string> plain_prefix(const std::string& prefix) {
  if (prefix.find_first_of(" :$") == std::string::npos) return prefix;
  Result<std::string> directory = Counters::directory();
  if (!directory) return directory;
  const std::string link =
      fmt::format("{}/tree-{:016x}", *directory, std::hash<std::string>()(prefix));
  std::error_code error;
  if (fs::read_symlink(link, error) == prefix) return link;
  // Made beside and renamed over: a program that starts meanwhile sees the old link or the new one.
  const std::string fresh = fmt::format("{}.{}", link, ::getpid());
  fs::create_directory_symlink(prefix, fresh, error);
  if (!error) fs::rename(fresh, link, error);
  if (error) {
    return fail(ErrorCode::io,
                fmt::format("cannot link {} ({}): {}", prefix, link, error.message()));
  }
  return link;
}

// Whether `entry` leads to `library`; only the dynamic linker knows what it makes of $LIB. A copy
// of the tree whose links became files of their own does not count: the library finds the engines
// from where it really is.
bool leads_to(const std::string& entry, const std::string& library) {
  void* handle = ::dlopen(entry.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return false;
  struct link_map* loaded = nullptr;
  std::error_code error;
  const bool ours = ::dlinfo(handle, RTLD_DI_LINKMAP, &loaded) == 0 &&
                    fs::equivalent(loaded->l_name, library, error);
  ::dlclose(handle);
  return ours;
}

}  // namespace

std::string tree_prefix() {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) {  // without /proc
    self = fs::canonical(reinterpret_cast<const char*>(::getauxval(AT_EXECFN)), error);
  }
  return self.parent_path().parent_path().parent_path();
}

std::string engine_path(std::string_view operation) {
  return fmt::format("{}/libexec/hoist/hoist-{}", tree_prefix(), operation);
}

std::string preload_library() { return tree_prefix() + "/lib/libhoist_preload.so"; }

std::string preload_library(std::string_view name) {
  return fmt::format("{}/lib/libhoist_preload_{}.so", tree_prefix(), name);
}

std::string openssl_provider() { return tree_prefix() + "/lib/ossl-modules/hoist.so"; }

std::string call_engine(std::string_view operation) {
  return fmt::format("{}/lib/libhoist_{}.so", tree_prefix(), operation);
}

Result<std::string> preload_entry(const std::string& library) {
  if (::access(library.c_str(), R_OK) != 0) {
    return fail(ErrorCode::unavailable, fmt::format("the preload library is missing ({}): install "
                                                    "Hoist again",
                                                    library));
  }
  Result<std::string> prefix = plain_prefix(tree_prefix());
  if (!prefix) return prefix;
  const std::string name = fs::path(library).filename();
  std::string by_word_size = *prefix + "/lib/hoist/$LIB/" + name;
  if (leads_to(by_word_size, library)) return by_word_size;
  return *prefix + "/lib/" + name;
}

}  // namespace hoist::cli
