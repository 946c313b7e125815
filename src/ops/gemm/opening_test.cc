#include "ops/gemm/opening.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "ops/gemm/estimate.h"
#include "ops/gemm/gemm_testing.h"
#include "ops/gemm/square_product.h"
#include "placement/profile_file.h"

namespace hoist::gemm {
namespace {

TEST(Opening, IsWorthItWhenAsMuchWasForgone) {
  Opening opening;
  EXPECT_FALSE(opening.is_worth(0.1, 0.35));
  EXPECT_FALSE(opening.is_worth(-5, 0.35));  // the CPU was ahead: nothing was forgone
  EXPECT_FALSE(opening.is_worth(std::numeric_limits<double>::quiet_NaN(), 0.35));
  EXPECT_FALSE(opening.is_worth(0.2, 0.35));
  EXPECT_TRUE(opening.is_worth(0.1, 0.35));
  EXPECT_TRUE(opening.is_worth(0, 100));  // and stays so
}

TEST(Opening, OneCallMayBeEnough) {
  Opening opening;
  EXPECT_TRUE(opening.is_worth(2, 0.4));
}

TEST(Opening, ThreadsAddUp) {
  Opening opening;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < 1000; ++call) (void)opening.is_worth(1.0 / 1024, 4.0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(opening.is_worth(0, 4.0));  // 3.90625
  EXPECT_TRUE(opening.is_worth(0.09375, 4.0));
}

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / "hoist-opening-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// A socket that is listened to.
int listen_at(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int listener = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const auto* const named = reinterpret_cast<const sockaddr*>(&address);
  const bool listens = ::bind(listener, named, sizeof address) == 0 && ::listen(listener, 5) == 0;
  return listens ? listener : -1;
}

bool is_connected_to(int listener, int milliseconds) {
  pollfd wanted = {.fd = listener, .events = POLLIN, .revents = 0};
  return ::poll(&wanted, 1, milliseconds) == 1;
}

// A GPU that wins 0.03 seconds at every size.
placement::Profile far_ahead() {
  const auto measured = [](const char* name, double seconds) {
    placement::MeasuredImplementation result = {.name = name, .points = {}};
    for (double extent = 32; extent <= 4096; extent *= 2) {
      result.points.push_back({.shape = {.bytes = square_bytes('d', extent), .items = 1},
                               .seconds = seconds,
                               .runs = 5});
    }
    return result;
  };
  placement::MeasuredVariant variant;
  variant.name = variant_name('d');
  variant.implementations = {measured("original", 0.031), measured("cuda", 0.001)};
  variant.rows = {{1, {{0, "original"}}}};
  placement::Profile profile;
  profile.machine = placement::this_machine();
  profile.measured = "2026-01-02T03:04:05Z";
  profile.variants = {variant};
  return profile;
}

// 0: it went as it should. Settings are read once in a process.
int first_calls() {
  const Folder folder;
  ::unsetenv("CUDA_VISIBLE_DEVICES");  // which may hide what this is about
  ::setenv("HOIST_GPU", "auto", 1);
  ::setenv("HOIST_PROFILE", folder.file("profile.json").c_str(), 1);
  ::setenv("HOIST_SOCKET", folder.file("socket").c_str(), 1);
  if (opening_seconds() < 0.35) return 2;  // one would be started
  const int listener = listen_at(folder.file("socket"));
  if (listener < 0) return 3;
  if (opening_seconds() > 0.15) return 4;
  if (!placement::write_profile(far_ahead())) return 5;
  const SquareProduct product('d', 64);
  const Estimate* const estimate = Estimate::of('d');
  if (estimate == nullptr || estimate->devices(product.call(), 1) != 1) return 6;
  for (int call = 0; call < 3; ++call) {  // 0.09 s of 0.1
    if (hoist_gemm(&product.call(), &kReferenceOriginal)) return 7;
  }
  if (is_connected_to(listener, 100)) return 8;
  if (hoist_gemm(&product.call(), &kReferenceOriginal)) return 9;  // goes on by the original
  return is_connected_to(listener, 10'000) ? 0 : 10;
}

TEST(OpeningDeathTest, CallsConnectWhenTheyHaveForgoneEnough) {
  EXPECT_EXIT(::_exit(first_calls()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace hoist::gemm
