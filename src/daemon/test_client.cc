// A client for the black-box tests: does one thing with the hoistd of HOIST_SOCKET, and says on
// standard output how it went.
//
//   hoistd-client work [ROUNDS]   copies and compares, again and again; "cpu: WHY" when it must
//                                 do without the daemon
//   hoistd-client hold            gets memory, has requests in flight, says "holding", sleeps
//   hoistd-client leave           the same, then only a fork of it lives on
//   hoistd-client write|read      leaves a secret in device memory; looks for what others left
//   hoistd-client start [DEVICE]  starts a private daemon, works with it, must see no child
#include <fmt/core.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "device/buffer.h"
#include "device/remote/remote_device.h"
#include "device/remote/start.h"
#include "device/stream.h"

namespace {

using hoist::Result;
using hoist::Status;
using hoist::device::Buffer;
using hoist::device::Stream;
using hoist::device::remote::ConnectOptions;
using hoist::device::remote::RemoteDevice;

constexpr size_t kSize = 3'000'000;
constexpr int kWrong = 1;

void say(std::string_view line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

int without(const hoist::Error& error) {
  say("cpu: " + error.message);
  return error.code == hoist::ErrorCode::unavailable || error.code == hoist::ErrorCode::not_found
             ? 0
             : kWrong;
}

Result<bool> one_round(RemoteDevice& device, unsigned round) {
  std::vector<std::byte> bytes(kSize);
  for (size_t i = 0; i < kSize; ++i) bytes[i] = static_cast<std::byte>(i * 7 + round);
  std::vector<std::byte> back(kSize);
  Result<Buffer> buffer = Buffer::allocate(device, kSize);
  if (!buffer) return buffer.error();
  if (Status done = buffer->upload(bytes); !done) return done.error();
  if (Status done = buffer->download(back); !done) return done.error();
  return bytes == back;
}

int work(RemoteDevice& device, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) {
    const Result<bool> right = one_round(device, round);
    if (!right) return without(right.error());
    if (!*right) {
      say("wrong bytes");
      return kWrong;
    }
    if (round == 0) say("works");
  }
  say("done");
  return 0;
}

int hold(RemoteDevice& device, bool leave) {
  Result<Buffer> buffer = Buffer::allocate(device, kSize);
  Result<Stream> stream = Stream::create(device);
  Result<void*> memory = device.allocate_pinned(kSize);
  if (!buffer || !stream || !memory) return kWrong;
  for (int i = 0; i < 32; ++i) (void)stream->copy(buffer->data(), *memory, kSize);
  if (leave && ::fork() != 0) ::_exit(0);
  say("holding");
  while (true) ::pause();
}

// Many buffers, so that the allocator gives again what was freed.
int scan(RemoteDevice& device, bool leave_secret) {
  const std::vector<std::byte> secret(kSize, std::byte{0x5e});
  for (int i = 0; i < 20; ++i) {
    Result<Buffer> buffer = Buffer::allocate(device, kSize);
    if (!buffer) return without(buffer.error());
    std::vector<std::byte> seen(kSize, std::byte{1});
    if (Status done = buffer->download(seen); !done) return without(done.error());
    if (std::any_of(seen.begin(), seen.end(), [](std::byte b) { return b != std::byte{0}; })) {
      say("somebody's bytes");
      return kWrong;
    }
    if (leave_secret && !buffer->upload(secret)) return kWrong;
  }
  say("done");
  return 0;
}

volatile sig_atomic_t children_heard_of = 0;

int start(std::string_view device_name) {
  ::signal(SIGCHLD, [](int) { children_heard_of = children_heard_of + 1; });
  hoist::device::remote::StartOptions options;
  options.device = device_name;
  options.idle = std::chrono::seconds(60);  // the test ends it
  options.wait = std::chrono::seconds(20);
  if (Status started = start_private_daemon(options); !started) return without(started.error());
  if (::waitpid(-1, nullptr, WNOHANG) != -1 || children_heard_of != 0) {
    say("a child that the program did not make");
    return kWrong;
  }
  Result<std::shared_ptr<RemoteDevice>> device = RemoteDevice::shared();
  return device ? work(**device, 1) : without(device.error());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "start") return start(argc > 2 ? argv[2] : "cpu");
  ConnectOptions options;
  options.pool_size = uint64_t{8} << 20;
  options.handshake = std::chrono::seconds(20);
  if (const char* patience = std::getenv("PATIENCE_MS"); patience != nullptr) {
    options.patience = std::chrono::milliseconds(std::atol(patience));
  }
  Result<std::shared_ptr<RemoteDevice>> device = RemoteDevice::connect(options);
  if (!device) return without(device.error());
  if (command == "work") {
    return work(**device, argc > 2 ? static_cast<unsigned>(std::atol(argv[2])) : 1'000'000);
  }
  if (command == "hold" || command == "leave") return hold(**device, command == "leave");
  if (command == "write" || command == "read") return scan(**device, command == "write");
  return 2;
}
