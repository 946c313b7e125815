#include "base/options.h"

#include <strings.h>

#include <array>
#include <cstdlib>

// The preload library's, where there is one.
extern "C" [[gnu::weak]] const char* hoist_environment(const char* name);

namespace hoist {
namespace {

constexpr std::array kOptions = {
    Option{OptionId::off, "off", "HOIST", "on", "`off` disables Hoist at once, everywhere below"},
    Option{OptionId::gpu, "gpu", "HOIST_GPU", "auto",
           "auto, off, require, or inprocess: a context of the program's own, not hoistd's"},
    Option{OptionId::ops, "ops", "HOIST_OPS", "",
           "operations: NAME,… only these; +NAME or -NAME adds or removes one"},
    Option{OptionId::log, "log", "HOIST_LOG", "warn", "error, warn, info or debug"},
    Option{OptionId::log_file, "log-file", "HOIST_LOG_FILE", "",
           "file that log lines are appended to; empty: none from inside programs"},
    Option{OptionId::stats, "stats", "HOIST_STATS", "",
           "file for the JSON summary that `hoist run` writes at exit"},
    Option{OptionId::verify, "verify", "HOIST_VERIFY", "0",
           "share (0 to 1) of the accelerated runs that the original repeats, results compared"},
    Option{OptionId::profile, "profile", "HOIST_PROFILE", "",
           "file of `hoist tune`'s measurements; empty: profile.json in the cache directory"},
    Option{OptionId::threads, "threads", "HOIST_THREADS", "",
           "most threads to use; empty: the CPUs that affinity and cgroup allow"},
    Option{OptionId::isa, "isa", "HOIST_ISA", "",
           "widest instructions to use: scalar, avx2 or avx512; empty: the CPU's"},
    Option{OptionId::socket, "socket", "HOIST_SOCKET", "",
           "socket of hoistd; empty: the user's in $XDG_RUNTIME_DIR/hoist, then /run/hoist"},
    Option{OptionId::blas, "blas", "HOIST_BLAS", "",
           "BLAS that gemm is measured beside; empty: the system's libopenblas or libblas"},
    Option{OptionId::gemm_devices, "gemm-devices", "HOIST_GEMM_DEVICES", "",
           "most GPUs that one product is spread over; empty: all"},
    Option{OptionId::gemm_precision, "gemm-precision", "HOIST_GEMM_PRECISION", "full",
           "full, or tf32: single precision with factors of 11 bits"},
    Option{OptionId::gemm_smallest, "gemm-smallest", "HOIST_GEMM_SMALLEST", "134217728",
           "multiplications from which on gemm looks at a call"},
    Option{OptionId::graph_native, "graph-native", "HOIST_GRAPH_NATIVE", "auto",
           "auto, now or off: when Python's tensor programs compile their kernels for this CPU"},
};

const Option& find(OptionId id) {
  for (const Option& option : kOptions) {
    if (option.id == id) return option;
  }
  std::abort();
}

}  // namespace

std::span<const Option> options() { return kOptions; }

const char* environment_value(const char* name) {
  return hoist_environment != nullptr ? hoist_environment(name) : std::getenv(name);
}

const char* option_text(OptionId id) {
  const Option& option = find(id);
  const char* value = environment_value(option.env);
  return value != nullptr ? value : option.default_value;
}

void set_option(OptionId id, const std::string& value) { ::setenv(find(id).env, value.c_str(), 1); }

bool hoist_is_off() {
  const char* value = option_text(OptionId::off);
  for (const char* word : {"off", "0", "false", "no"}) {
    if (::strcasecmp(value, word) == 0) return true;
  }
  return false;
}

}  // namespace hoist
