// Counters that say what ran where and why, in memory shared by all processes of one `hoist run`
// (layout: base/counters_layout.h) and readable while they run.
//
// Writers never fail: where the segment cannot be had, counting is a no-op. No page of it is
// touched that is not there for certain, and it takes a small part only of the room that it finds,
// which the program may want as well. All members may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/counters_layout.h"
#include "base/file.h"
#include "base/result.h"

namespace hoist {

class Counters {
 public:
  // A no-op.
  Counters() = default;
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;
  ~Counters();

  // The segment named by HOIST_COUNTERS; where that is unset, memory of this process, which
  // open_private() finds; a no-op where neither can be had.
  static Counters& process();

  // Creates a segment for `hoist run`; its path goes into HOIST_COUNTERS of the program. create_in
  // finds a name ROOT_PID-RANDOM: processes of other pid namespaces may share the folder.
  static Result<std::unique_ptr<Counters>> create(const std::string& path, int root_pid);
  static Result<std::unique_ptr<Counters>> create_in(const std::string& folder, int root_pid);
  // `in_use` as for those who count: a shared flock() marks the segment for as long as the process
  // lives, and only a segment without such marks may be swept. Readers leave no mark.
  static Result<std::unique_ptr<Counters>> open(const std::string& path, bool in_use = false);
  // Those that the engines of this user's processes keep for themselves, as far as /proc shows
  // them.
  static std::vector<std::unique_ptr<Counters>> open_private();

  // Directory for segments, created 0700 and checked to be ours: /dev/shm/hoist-UID, or where that
  // cannot be had $XDG_RUNTIME_DIR/hoist.
  static Result<std::string> directory();

  void add_program(int pid, const std::vector<std::string>& argv, bool taken_over,
                   std::string_view reason);
  // Bytes of a call of `operation` that is still running, as they are done, so that a call that
  // takes minutes can be watched. Reported once: add_call() then gets what is left. Cheap (a search
  // of a few names, two atomic additions), yet meant for megabytes at a time.
  void add_progress(std::string_view operation, std::string_view implementation, uint64_t bytes);
  // One finished call of `operation` on `implementation` ("cpu-1", "cpu-all", …). `bytes`: those
  // that add_progress() has not reported.
  void add_call(std::string_view operation, std::string_view implementation, uint64_t bytes,
                uint64_t nanoseconds);
  // One call that stayed with the original, and why.
  void add_passed(std::string_view operation, std::string_view reason);

  // Null: a no-op.
  const hoist_counters* layout() const { return layout_; }
  const std::string& path() const { return path_; }
  // How many programs there is room for.
  uint32_t program_slots() const { return program_slots_; }
  // Programs that found no slot free.
  uint64_t not_recorded() const;

  // {"programs":[…],"operations":{…}} as documented for `hoist run --stats=FILE`, with
  // "not_recorded" where that is not 0.
  std::string to_json() const;

 private:
  static Result<std::unique_ptr<Counters>> create_private(int root_pid);
  static Result<std::unique_ptr<Counters>> open(const UniqueFd& fd, const std::string& path,
                                                bool in_use);
  Status start(const UniqueFd& fd, uint32_t program_slots, int root_pid);
  Status map(int fd, uint64_t size);

  hoist_counters* layout_ = nullptr;
  uint32_t program_slots_ = 0;
  std::string path_;
  UniqueFd held_;
};

// Whether it is a folder of this user's that nobody else may enter, and makes it one. Where
// somebody has removed it meanwhile the error's number is ENOENT.
bool is_own_folder(const std::string& path);
Result<std::string> make_own_folder(const std::string& path);

// A slot's arguments, within its bounds whatever it holds.
std::vector<std::string_view> arguments_of(const hoist_program_slot& slot);

}  // namespace hoist
