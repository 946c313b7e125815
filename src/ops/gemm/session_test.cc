#include "ops/gemm/session.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "device/remote/start.h"

namespace hoist::gemm {
namespace {

using std::chrono::seconds;

// A process has one session, so each case has a process; 0: it went as it should.
template <typename Body>
int in_process(const std::string& socket, const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("HOIST_SOCKET", socket.c_str(), 1);
    ::_exit(body());
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "hoist-session-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string socket() const { return folder_ / "socket"; }
  // `index`: of the device.
  Status start_daemon(int index = 0) const {
    device::remote::StartOptions options;
    options.device = "cpu";
    options.socket = index == 0 ? socket() : socket() + "." + std::to_string(index);
    options.idle = seconds(10);
    options.wait = seconds(10);
    return device::remote::start_private_daemon(options);
  }

 private:
  std::filesystem::path folder_;
};

// To start a daemon clones the process in a way that ThreadSanitizer does not know: afterwards what
// locks order looks like races to it.
#ifdef __SANITIZE_THREAD__
constexpr bool kIsThreadSanitizer = true;
#else
constexpr bool kIsThreadSanitizer = false;
#endif

TEST_F(SessionTest, IsOpenedAsideOnceForAllThreads) {
  if (kIsThreadSanitizer) GTEST_SKIP();
  const int failed = in_process(socket(), [&] {
    if (!start_daemon()) return 1;
    (void)Session::get_when_ready({});
    std::vector<std::shared_ptr<Session>> sessions(4);
    std::vector<std::thread> threads;
    for (auto& session : sessions) {
      threads.emplace_back([&] {
        if (auto got = Session::get_when_ready(seconds(10))) session = *got;
      });
    }
    for (std::thread& thread : threads) thread.join();
    const std::set<std::shared_ptr<Session>> different(sessions.begin(), sessions.end());
    if (different.size() != 1 || *different.begin() == nullptr) return 3;
    const auto again = Session::get_when_ready({});
    if (!again || *again != sessions[0] || (*again)->has_gpu()) return 4;
    // A child has none of its parent's.
    return in_process(socket(), [&] {
      const auto own = Session::get_when_ready(seconds(10));
      return own && *own != sessions[0] ? 0 : 6;
    });
  });
  EXPECT_EQ(failed, 0);
}

TEST_F(SessionTest, OtherDevicesAreOpenedAsideToo) {
  if (kIsThreadSanitizer) GTEST_SKIP();
  const int failed = in_process(socket(), [&] {
    if (!start_daemon() || !start_daemon(1)) return 1;
    const auto session = Session::get(seconds(10));
    if (!session) return 2;
    if ((*session)->devices(1) != 1) return 3;
    if ((*session)->devices(2) > 2) return 4;  // it may go on without
    if ((*session)->devices(2, seconds(10)) != 2) return 5;
    if ((*session)->devices(2) != 2) return 6;
    if ((*session)->devices(3, seconds(10)) != 2) return 7;  // there is no third
    return (*session)->implementation(2) == "hoistd-2" ? 0 : 8;
  });
  EXPECT_EQ(failed, 0);
}

// While another device is being opened, the session and the process may end.
TEST_F(SessionTest, MayEndWhileAnotherDeviceIsOpened) {
  if (kIsThreadSanitizer) GTEST_SKIP();
  ASSERT_TRUE(start_daemon());
  ASSERT_TRUE(start_daemon(1));
  for (int round = 0; round < 20; ++round) {
    const int status = in_process(socket(), [&] {
      const auto session = Session::get(seconds(10));
      if (!session || (*session)->devices(2) > 2) return 1;
      std::this_thread::sleep_for(std::chrono::microseconds(round * 200));
      std::exit(0);
      return 2;
    });
    ASSERT_EQ(status, 0) << round;
  }
}

TEST_F(SessionTest, MayStillBeOpenedWhenTheProcessEnds) {
  if (kIsThreadSanitizer) GTEST_SKIP();
  ASSERT_TRUE(start_daemon());
  for (int round = 0; round < 40; ++round) {
    const int status = in_process(socket(), [&] {
      (void)Session::get_when_ready({});
      std::this_thread::sleep_for(std::chrono::microseconds(round * 100));
      std::exit(0);  // with destructors and handlers
      return 1;
    });
    ASSERT_EQ(status, 0) << round;
  }
}

TEST_F(SessionTest, SaysWhyThereIsNone) {
  const int failed = in_process(socket(), [] {
    ::setenv("HOIST_GPU", "off", 1);
    const auto none = Session::get_when_ready(seconds(10));
    if (none || none.error().code != ErrorCode::unavailable) return 1;
    if (none.error().message.find("HOIST_GPU=off") == std::string::npos) return 2;
    // For a second nothing is tried, so nothing is said to be under way.
    const auto again = Session::get_when_ready({});
    return !again && again.error().message == none.error().message ? 0 : 3;
  });
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace hoist::gemm
