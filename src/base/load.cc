#include "base/load.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/file.h"
#include "base/threads.h"

namespace hoist {

int free_cpus(int usable, int online, const std::string& root) {
  // "0.20 0.66 1.48 2/92 1479": averages, then entities that may run now / all (proc(5)).
  const Result<std::string> text = read_file(root + "/proc/loadavg", 4096);
  double average = 0;
  double running = 0;
  if (!text || std::sscanf(text->c_str(), "%lf %*f %*f %lf/", &average, &running) != 2) {
    return std::max(usable, 1);
  }
  const double busy = std::max(0.0, std::min(average, running - 1));  // less the asker itself
  const double left = std::clamp(online - busy, 1.0, 1.0 * std::max(usable, 1));
  return static_cast<int>(std::lround(left));
}

int free_cpus() {
  return free_cpus(usable_cpus(), static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace hoist
