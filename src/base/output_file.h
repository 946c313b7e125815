// Files that a user names as outputs: what they may replace, and how they appear.
//
//   Result<OutputFile> file = OutputFile::create("curve.svg", {.inputs = {"model.holo"}});
//   if (!file) return file.error();
//   if (Status written = write_full(file->fd(), …); !written) …
//   Status done = file->publish();
//
// The rule, which every command, library call and binding follows through this header
// (docs/reference/files.md tells users):
//
// - Nothing that exists is replaced, unless the user said so (Replace::any) or it is a file of the
//   same kind that this program wrote itself (Replace::own_kind).
// - An input is never replaced, by whatever name it is reached, and whatever the user said.
// - Devices, pipes, sockets and descriptors (/dev/stdout) are written through and never replaced.
// - A file appears under its name when it is whole. Until then it has no name (O_TMPFILE), or,
// where
//   the file system has no such files, one of its own (".hoist-….tmp" beside it) that goes with the
//   object. So a failure, a kill or a full disk leaves what was there, or nothing.
// - That nothing was there is decided by the call that gives the name (linkat, RENAME_NOREPLACE):
//   a file that somebody else made meanwhile is refused, too.
// - What is replaced passes its permissions on; other hard links keep the old content; symbolic
//   links stay, and the file that they lead to is replaced.
// - A child after fork() neither has its parent's file open nor gives it its name (`unavailable`).
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/fork.h"
#include "base/output_place.h"
#include "base/private_fd.h"

namespace hoist {

enum class Replace : uint8_t { never, own_kind, any };

struct OutputRule {
  Replace replace = Replace::never;
  // Files that are read for this output.
  std::vector<std::string> inputs = {};
  // For own_kind: whether an open file is one, and what such a file is called ("a profile of
  // Hoist"). An empty file is of any kind.
  bool (*is_own_kind)(int fd) = nullptr;
  std::string_view kind = {};
  // What is replaced passes its permissions on.
  bool keep_permissions = true;
  // What the user can do about a refusal.
  std::string_view mend = "pass --force to replace it, or choose another name";
};

// Whether the rule lets what is there be replaced, or written through.
Status check_replaceable(const OutputPlace& there, const OutputRule& rule);

// Whether create() would refuse because of what stands there: for before long work.
Status check_output(const std::string& name, const OutputRule& rule);

class OutputFile {
 public:
  // `invalid_argument` where the rule forbids it. Files get `mode` less the umask.
  static Result<OutputFile> create(const std::string& name, OutputRule rule = {},
                                   mode_t mode = 0666);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  // Open for reading and writing; a special file for writing.
  int fd() const { return descriptor_ >= 0 ? descriptor_ : fd_.get(); }
  // As the user gave it.
  const std::string& name() const { return name_; }
  // It has no name yet.
  bool is_pending() const { return pending_; }

  // Gives the file its name. `durable` waits until file and name are on the disk. Does nothing for
  // special files, and the second time.
  Status publish(bool durable = true);
  // All of them or none: where one fails, those before it are taken back, and what they replaced
  // is there again.
  static Status publish_all(std::vector<OutputFile>& files, bool durable = true);

 private:
  OutputFile(std::string name, OutputRule rule) : name_(std::move(name)), rule_(std::move(rule)) {}

  Status open_temporary(mode_t mode);
  Status open_special();
  Status give_temporary_name();
  Status put_new();
  Status put_over(const OutputPlace& there, bool keep_replaced);
  // As publish(), but what is replaced stays as `replaced_` until settle() or withdraw().
  Status put(bool keep_replaced);
  void settle();
  void withdraw();

  std::string name_;
  OutputRule rule_;
  OutputPlace place_;
  OwnerProcess process_;
  PrivateFd fd_;           // whoever locks it does so for this process
  int descriptor_ = -1;    // the caller's
  std::string temporary_;  // a name until publication; empty where the file has none
  std::string replaced_;   // the name of what was replaced until that is settled
  bool is_new_ = false;    // it has replaced nothing
  bool pending_ = false;
};

// The whole file at once.
Status write_output(const std::string& name, std::string_view content, const OutputRule& rule = {},
                    mode_t mode = 0666);

}  // namespace hoist
