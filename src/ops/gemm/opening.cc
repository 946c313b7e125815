#include "ops/gemm/opening.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/option_values.h"
#include "device/remote/message.h"

namespace hoist::gemm {
namespace {

// What a program that used all CPUs lost to it on a machine with an H200 and 16 of them: a context
// in its own process; a connection aside; a daemon that was started, and made ready, aside.
constexpr double kContext = 0.3;
constexpr double kConnection = 0.1;
constexpr double kDaemon = 0.4;

}  // namespace

bool Opening::is_worth(double won, double cost) {
  if (is_decided()) return true;
  if (!(won > 0)) won = 0;  // nor what is not a number
  const double forgone = forgone_.fetch_add(won, std::memory_order_relaxed) + won;
  if (!(forgone >= cost)) return false;
  is_decided_.store(true, std::memory_order_relaxed);
  return true;
}

double opening_seconds() {
  if (gpu_use() == HOIST_GPU_INPROCESS) return kContext;
  const std::vector<std::string> paths = device::remote::socket_paths();
  const bool has_socket = std::ranges::any_of(
      paths, [](const std::string& path) { return ::access(path.c_str(), F_OK) == 0; });
  return has_socket ? kConnection : kDaemon;
}

}  // namespace hoist::gemm
