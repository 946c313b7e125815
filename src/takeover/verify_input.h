// What both programs of a verified run read: named files, and standard input.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hoist {

// The named files as they were at first; "-" is passed over.
class NamedInputs {
 public:
  explicit NamedInputs(std::span<const std::string> names);

  // Whether each is a regular file that gives the same bytes to each reader. A pipe, also under a
  // name such as /dev/stdin or /dev/fd/63, gives them once.
  bool readable_twice() const { return readable_twice_; }
  // Whether one was written to or replaced since.
  bool changed() const;

 private:
  std::span<const std::string> names_;
  std::vector<struct stat> infos_;
  bool readable_twice_ = true;
};

enum class InputState {
  rewindable,  // also where nobody reads it
  once,        // all is there, to be read once
  lost         // what was read of it can be given to nobody
};

class StandardInput {
 public:
  // Makes standard input rewindable if it is `used`: what is no regular file is copied into a
  // temporary file that takes its place. Where that gets too large, a process of its own feeds what
  // was read and all that follows into a pipe.
  explicit StandardInput(bool used);

  InputState state() const { return state_; }
  off_t position() const;
  void seek(off_t position) const;
  void rewind() const { seek(start_); }

 private:
  InputState state_ = InputState::rewindable;
  off_t start_ = -1;  // -1: there is none to go back to
};

}  // namespace hoist
