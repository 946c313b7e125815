// How many CPUs may be assumed free: what placement decides by, so that a busy machine does not get
// more threads than it can run.
#pragma once

#include <string>

namespace hoist {

// What is left of `usable` CPUs on a machine with `online` CPUs beside the programs that run
// already: at least 1. Programs count that both run now and have run on average in the last minute
// (/proc/loadavg), so that neither a load that has just ended nor a moment's peak counts. `root`
// stands before the path (for tests); without the file nothing else runs.
int free_cpus(int usable, int online, const std::string& root = {});

// For this process.
int free_cpus();

}  // namespace hoist
