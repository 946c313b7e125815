// The output file while it is being written: a failure or a signal removes it, as gzip does. Under
// -k gzip does so even after it has been finished, until the next one is created.
#pragma once

#include <sys/stat.h>

#include <ctime>
#include <string>

#include "base/file.h"

namespace hoist::gunzip {

// From here on the signals that end gzip remove the partial file first. Those that were ignored
// stay ignored.
void remove_partial_file_on_signals();

// At most one is open at a time.
class PartialFile {
 public:
  PartialFile() = default;
  ~PartialFile() {
    if (is_open()) discard();
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  // Creates it, for the owner alone until finish(); errno on failure, EEXIST if it is there.
  int create(const std::string& path);
  int fd() const { return fd_.get(); }
  bool is_open() const { return fd_.valid(); }
  // Removes it, if there is one, or else the one that was finished last and not let go.
  void discard();

  struct Attributes {
    int times_errno = 0;
    int mode_errno = 0;
  };
  // Gives it the owner, group, permissions and access time of `source`, and `modification_time`.
  // What fails is worth a warning at most.
  Attributes copy_attributes(const struct stat& source, const timespec& modification_time);
  // Closes it; errno on failure, and then it is removed.
  int finish();
  // Lets it go and removes `input` in its place; errno on failure. No signal finds both gone.
  int replace(const std::string& input);

 private:
  UniqueFd fd_;
  std::string path_;
};

}  // namespace hoist::gunzip
