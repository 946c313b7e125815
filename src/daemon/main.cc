// hoistd: lends a device to programs that must not open it themselves. See
// docs/reference/hoistd.md.
#include <fmt/core.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/option_values.h"
#include "daemon/options.h"
#include "daemon/report.h"
#include "daemon/server.h"
#include "device/cuda_environment.h"
#include "device/remote/ask.h"
#include "device/remote/message.h"
#include "device/stream.h"
#include "takeover/enabled_operations.h"

namespace hoist::daemon {
namespace {

int report_error(const Error& error) {
  fmt::print(stderr, "hoistd: error: {}\n", error.message);
  switch (error.code) {
    case ErrorCode::invalid_argument:
      return 2;
    case ErrorCode::unavailable:
    case ErrorCode::not_found:
      return 3;
    default:
      return 1;
  }
}

int print_status(const Options& options) {
  Result<std::string> text = device::remote::ask_status(options.socket);
  if (text && !options.json) text = to_text(*text);
  if (!text) return report_error(text.error());
  fmt::print("{}{}", *text, options.json ? "\n" : "");
  return 0;
}

// SIGTERM and SIGINT come through a descriptor, and to no thread.
UniqueFd block_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGTERM);
  ::sigaddset(&signals, SIGINT);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  return UniqueFd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Each client takes up to three descriptors.
void raise_descriptor_limit() {
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Outlives the server, so that no other hoistd begins before this one has given its device back.
class LockFile {
 public:
  LockFile(const std::string& path, UniqueFd lock) : path_(path), lock_(std::move(lock)) {}
  ~LockFile() { device::remote::remove_lock(path_, lock_); }
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

 private:
  std::string path_;
  UniqueFd lock_;
};

Status serve(const Options& options) {
  UniqueFd signals = block_signals();
  raise_descriptor_limit();
  const bool is_first =
      options.device == "auto" || options.device == "cuda" || options.device == "cuda:0";
  if (is_first) device::hide_other_gpus();
  const Result<device::Device*> device = device::find_device(options.device);
  if (!device) return device.error();
  if (options.device == "auto" && *device == &device::cpu_device()) {
    log(LogLevel::warn, "lends the CPU, which spares nobody anything: {}",
        device::cuda_device().error().message);
  }
  if (options.idle && (*device)->properties().exclusive) {
    return fail(
        ErrorCode::unavailable,
        fmt::format("{} is for one process at a time: a hoistd that a program started would "
                    "keep it from programs that use CUDA; start one without --idle-timeout",
                    (*device)->properties().id()));
  }
  // A context takes 0.3 s, which no client should wait for; and who cannot have one had better end.
  if (const Result<device::Stream> stream = device::Stream::create(**device); !stream) {
    return stream.error();
  }
  Result<Endpoint> endpoint = open_endpoint(options);
  if (!endpoint) return endpoint.error();
  UniqueFd metrics;
  if (options.metrics_port != 0) {
    Result<UniqueFd> listener = listen_on_loopback(options.metrics_port);
    if (!listener) return listener.error();
    metrics = std::move(*listener);
  }
  const std::string path = endpoint->path;
  const LockFile lock(path, std::move(endpoint->listener.lock));
  const bool is_gpu = (*device)->properties().kind != device::DeviceKind::cpu;
  Result<std::unique_ptr<Server>> server = Server::create(
      {options, **device, std::move(*endpoint), std::move(signals), std::move(metrics), is_gpu});
  if (!server) return server.error();
  const std::string& name = (*device)->properties().name;
  log(LogLevel::info, "serves {} at {}", name, path);
  // One that a program started keeps quiet on that program's terminal.
  if (!options.idle && ::isatty(STDERR_FILENO) == 1) {
    fmt::print(stderr, "hoistd: listening on {}, lends {}; Ctrl-C ends it\n", path, name);
  }
  return (*server)->run();
}

int run(int argc, char** argv) {
  const Parsed parsed = parse_options(argc, argv);
  if (parsed.exit_status) return *parsed.exit_status;
  log_unusable_values();
  if (parsed.options.status) return print_status(parsed.options);
  const Status served = serve(parsed.options);
  return served ? 0 : report_error(served.error());
}

}  // namespace
}  // namespace hoist::daemon

int main(int argc, char** argv) {
  using namespace hoist::daemon;
  hoist::log_to_stderr();
  hoist::device::forget_precision_variables();
  try {
    const int status = run(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    return report_error({hoist::ErrorCode::io, "cannot write (standard output): is it full?"});
  } catch (const std::exception& error) {
    return report_error({hoist::ErrorCode::exhausted, error.what()});
  }
}
