// The counter segments of this user's programs: reading them, and sweeping what nobody uses.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/counters.h"

namespace hoist::cli {

struct Segment {
  std::string path;
  std::unique_ptr<Counters> counters;
};

// A program slot, copied out of shared memory that others may write: bounded, printable.
struct ProgramRecord {
  int pid = 0;
  bool taken_over = false;
  std::string reason;
  std::string command;  // arguments, separated by blanks
};

bool is_alive(int pid);

// The segment of one `hoist run`: in Counters::directory(), else in hoist-UID under $TMPDIR. Where
// neither has room its counters are a no-op.
class OwnSegment {
 public:
  OwnSegment();
  ~OwnSegment() { remove(); }
  OwnSegment(const OwnSegment&) = delete;
  OwnSegment& operator=(const OwnSegment&) = delete;

  Counters& counters() { return *counters_; }
  const Counters& counters() const { return *counters_; }
  const std::string& why_not() const { return why_not_; }
  // Removes the files; the counters can still be read.
  void remove() const;

 private:
  std::unique_ptr<Counters> counters_;
  std::string folder_;  // under $TMPDIR; mostly none
  std::string why_not_;
};

// All segments of this user that can be read: of every `hoist run` that counts, and of engines that
// count for themselves.
std::vector<Segment> open_segments();

// Removes segments that nobody holds and whose programs have all ended, whatever version left them
// where a killed `hoist run` may have, and links to trees (cli/tree.h) that are gone. Pids alone
// would not do: /dev/shm may be shared with other pid namespaces.
void sweep_segments();

std::vector<ProgramRecord> programs_of(const Counters& counters);

}  // namespace hoist::cli
