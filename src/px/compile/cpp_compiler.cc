#include "px/compile/cpp_compiler.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/file.h"
#include "base/stopwatch.h"

namespace hoist::px {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestMessage = 4000;
constexpr size_t kLargestObject = size_t{256} << 20;

constexpr std::string_view kFolder = "hoist-px-";
constexpr std::string_view kPattern = "XXXXXX";
constexpr time_t kAbandoned = 3600;  // seconds: no compiler is that slow

// Folders of this user's processes that ended without cleaning up: by a signal, by _exit(), as
// workers of Python's multiprocessing do.
void remove_abandoned(const std::string& parent) {
  std::error_code error;
  for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(kFolder) || name.size() != kFolder.size() + kPattern.size()) continue;
    struct stat found;
    if (::lstat(at->path().c_str(), &found) != 0 || !S_ISDIR(found.st_mode) ||
        found.st_uid != ::geteuid() || ::time(nullptr) - found.st_mtime < kAbandoned) {
      continue;
    }
    std::error_code ignored;
    fs::remove_all(at->path(), ignored);
  }
}

// A folder of this user's alone, for as long as the object lives.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make() {
    std::error_code error;
    const std::string parent = fs::temp_directory_path(error).string();
    if (!error) remove_abandoned(parent);
    std::string path = fmt::format("{}/{}{}", parent, kFolder, kPattern);
    if (error || ::mkdtemp(path.data()) == nullptr) {
      return fail(ErrorCode::io, fmt::format("cannot make a folder like {}", path), errno);
    }
    return TemporaryFolder(std::move(path));
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return fmt::format("{}/{}", path_, name); }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Our environment, in which Hoist takes nothing over. A compiler that is ended leaves its own files
// in `folder`.
std::vector<std::string> child_environment(const std::string& folder) {
  std::vector<std::string> list = {"HOIST=off", "LC_ALL=C", "TMPDIR=" + folder};
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry = *at;
    const bool is_replaced = entry.starts_with("HOIST=") || entry.starts_with("LC_ALL=") ||
                             entry.starts_with("LD_PRELOAD=") || entry.starts_with("TMPDIR=");
    if (!is_replaced) list.emplace_back(entry);
  }
  return list;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

// Waits for a child to end, or ends it and its group. `cancelled` in that case.
Result<int> wait(pid_t child, const CompileLimits& limits, const std::string& name) {
  const bool has_limits = limits.longest.count() != 0 || limits.stop.stop_possible();
  const Stopwatch watch;
  std::chrono::milliseconds pause(1);
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, has_limits ? WNOHANG : 0);
    if (ended == child) return status;
    // Where the program reaps all children itself, what the compiler has written tells.
    if (ended < 0 && errno != EINTR) return 0;
    if (ended < 0) continue;
    const bool is_late = limits.longest.count() != 0 &&
                         watch.milliseconds() > static_cast<double>(limits.longest.count());
    if (is_late || limits.stop.stop_requested()) {
      ::kill(-child, SIGKILL);
      while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
      }
      return fail(ErrorCode::cancelled,
                  is_late ? fmt::format("{} was ended after {} s", name,
                                        static_cast<double>(limits.longest.count()) / 1e3)
                          : fmt::format("{} was ended", name));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::milliseconds(20));
  }
}

// Runs it to its end, with what it says in the folder's file `messages`; gives its status.
Result<int> run(std::vector<std::string> words, const TemporaryFolder& folder,
                const CompileLimits& limits) {
  const std::string messages = folder.file("messages");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  // Threads of ours block signals, which compilers must not; what they start is in their group.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  short flags = POSIX_SPAWN_SETSIGMASK;
  if (limits.longest.count() != 0 || limits.stop.stop_possible()) {
    ::posix_spawnattr_setpgroup(&attributes, 0);
    flags |= POSIX_SPAWN_SETPGROUP;
  }
  ::posix_spawnattr_setflags(&attributes, flags);
  std::vector<std::string> environment = child_environment(folder.path());
  pid_t child = 0;
  const int error = ::posix_spawn(&child, words.front().c_str(), &actions, &attributes,
                                  pointers(words).data(), pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    return fail(ErrorCode::io, fmt::format("cannot start {}", words.front()), error);
  }
  return wait(child, limits, words.front());
}

}  // namespace

Result<CppCompiler> find_cpp_compiler() {
  const char* path = std::getenv("PATH");
  const std::string folders = path ? path : "/usr/local/bin:/usr/bin:/bin";
  for (const std::string_view name : {"c++", "g++", "clang++"}) {
    for (size_t begin = 0; begin <= folders.size();) {
      const size_t end = std::min(folders.find(':', begin), folders.size());
      const std::string file = fmt::format("{}/{}", folders.substr(begin, end - begin), name);
      begin = end + 1;
      // A relative folder is whatever the current one has.
      if (file.front() != '/' || ::access(file.c_str(), X_OK) != 0) continue;
      struct stat info;
      std::error_code error;
      const std::string real = fs::canonical(file, error).string();
      if (error || ::stat(real.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
      return CppCompiler{file, fmt::format("{} {} {}", real, info.st_size, info.st_mtim.tv_sec),
                         real.find("clang") != std::string::npos};
    }
  }
  return fail(ErrorCode::unavailable,
              "there is no C++ compiler (c++, g++, clang++) in PATH: install g++");
}

std::vector<std::string> portable_options() {
  return {
      "-std=c++17",        "-O3", "-fPIC", "-shared", "-w", "-ffp-contract=off", "-fno-math-errno",
      "-fno-trapping-math"};
}

std::vector<std::string> kernel_options() {
  std::vector<std::string> options = portable_options();
#if defined(__x86_64__) || defined(__i386__)
  options.emplace_back("-march=native");
#else
  options.emplace_back("-mcpu=native");
#endif
  return options;
}

Result<std::vector<std::byte>> compile_shared(const CppCompiler& compiler, const std::string& text,
                                              const std::vector<std::string>& options,
                                              const CompileLimits& limits) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder) return folder.error();
  const std::string source = folder->file("kernels.cc");
  const std::string object = folder->file("kernels.so");
  const std::string messages = folder->file("messages");
  if (Status written = write_file_atomically(source, text); !written) return written.error();
  std::vector<std::string> words = {compiler.path};
  words.insert(words.end(), options.begin(), options.end());
  // g++ 12.2 may exchange two stores of one turn of a loop to one place.
  if (!compiler.is_clang) words.emplace_back("-fno-tree-loop-distribution");
  words.insert(words.end(), {"-o", object, source});
  const Result<int> status = run(std::move(words), *folder, limits);
  if (!status) return status.error();
  const Result<std::string> code = read_file(object, kLargestObject);
  if (*status != 0 || !code) {
    const Result<std::string> said = read_file(messages, kLargestObject);
    return fail(ErrorCode::internal,
                fmt::format("{} does not compile the kernels: {}", compiler.path,
                            said ? said->substr(0, kLongestMessage) : std::string()));
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(code->data());
  return std::vector<std::byte>(bytes, bytes + code->size());
}

}  // namespace hoist::px
