// What the tests of placement share.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "placement/operation.h"
#include "placement/profile.h"

namespace hoist::placement {

// A cache directory of its own for the profile, named by the environment.
class CacheDirectory {
 public:
  CacheDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "hoist-placement-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
    ::setenv("XDG_CACHE_HOME", path_.c_str(), 1);
    ::unsetenv("HOIST_PROFILE");
  }
  ~CacheDirectory() {
    ::unsetenv("XDG_CACHE_HOME");
    std::filesystem::remove_all(path_);
  }
  CacheDirectory(const CacheDirectory&) = delete;
  CacheDirectory& operator=(const CacheDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/hoist/" + name; }

 private:
  std::string path_;
};

// Points of `seconds(bytes)` at every fourth power of two from 16 KiB to 64 MiB.
template <typename Cost>
std::vector<Point> points_of(Cost&& seconds) {
  std::vector<Point> points;
  for (uint64_t bytes = 16 << 10; bytes <= 64 << 20; bytes *= 4) {
    points.push_back({{bytes, 1}, seconds(static_cast<double>(bytes)), 0.01, 5, 1});
  }
  return points;
}

// Operation "sort" with variant "C" and the implementations of whole programs.
inline Operation sort_operation() {
  Operation operation;
  operation.name = "sort";
  operation.variants = {{"C", 1, {{0, "original"}, {512 << 10, "cpu-all"}}}};
  operation.implementations = {{"original"}, {"cpu-1"}, {"cpu-all", 0}};
  return operation;
}

}  // namespace hoist::placement
