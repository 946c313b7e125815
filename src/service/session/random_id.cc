#include "service/session/random_id.h"

#include <fmt/core.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace hoist::service {

namespace {

// Taken from the kernel for several ids at once, by each thread for itself.
struct Words {
  std::array<uint64_t, 32> words = {};
  size_t left = 0;

  uint64_t next() {
    if (left == 0) fill();
    return std::exchange(words[--left], 0);
  }
  void fill() {
    ssize_t got;
    do {
      got = ::getrandom(words.data(), sizeof words, 0);
    } while (got < 0 && errno == EINTR);
    // Up to 256 bytes come whole (getrandom(2)); an id that can be guessed must not be given.
    if (got != static_cast<ssize_t>(sizeof words)) std::abort();
    left = words.size();
  }
};
static_assert(sizeof(Words::words) <= 256);

}  // namespace

std::string random_id() {
  thread_local Words words;
  const uint64_t high = words.next();
  return fmt::format("{:016x}{:016x}", high, words.next());
}

}  // namespace hoist::service
